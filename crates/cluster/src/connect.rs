//! Making a connection.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kube::config::{ExecInteractiveMode, KubeConfigOptions, Kubeconfig};

use crate::transport::Transport;
use crate::{Cluster, ClusterError};

/// Which cluster to talk to, and how.
#[derive(Debug, Clone)]
pub struct Target {
    /// The kubeconfig file.
    pub kubeconfig: PathBuf,
    /// The context inside it. The file's current context is never used.
    pub context: String,
    /// A proxy for connections to the API server, instead of the one that the kubeconfig names. The
    /// environment's proxy is not used: `NO_PROXY` is matched against the wrong address by the client library
    /// (kube 5.0).
    pub proxy: Option<String>,
    /// What the audit log shows as user agent.
    pub user_agent: String,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How many requests may be in flight at most. The connection finds out how many the server copes with.
    pub concurrency: usize,
}

impl Cluster {
    /// Connects to a cluster; sends no request yet.
    ///
    /// # Errors
    /// The kubeconfig cannot be read, lacks the context, or its credentials cannot be used.
    pub async fn connect(target: &Target) -> Result<Self, ClusterError> {
        let config = configuration(target).await?;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let problem = |reason: String| kubeconfig_error(target, reason);
        let client = tokio::task::spawn_blocking(move || kube::Client::try_from(config))
            .await
            .map_err(|error| problem(error.to_string()))?
            .map_err(|error| problem(innermost(&error)))?;
        let transport = Transport::new(client, server, target.request_timeout, target.concurrency);
        Ok(Self { transport, discovery: Arc::default() })
    }
}

async fn configuration(target: &Target) -> Result<kube::Config, ClusterError> {
    let problem = |reason: String| kubeconfig_error(target, reason);
    let mut kubeconfig =
        Kubeconfig::read_from(&target.kubeconfig).map_err(|error| problem(innermost(&error)))?;
    if !kubeconfig.contexts.iter().any(|context| context.name == target.context) {
        let known: Vec<&str> = kubeconfig.contexts.iter().map(|context| context.name.as_str()).collect();
        return Err(problem(format!("it has no context `{}`; it has: {}", target.context, known.join(", "))));
    }
    for auth in &mut kubeconfig.auth_infos {
        // A credential plugin that asks a question would hang a pipeline.
        if let Some(exec) = auth.auth_info.as_mut().and_then(|info| info.exec.as_mut()) {
            exec.interactive_mode = Some(ExecInteractiveMode::Never);
        }
    }
    let named_proxy = proxy_of(&kubeconfig, &target.context);
    let options = KubeConfigOptions { context: Some(target.context.clone()), ..Default::default() };
    let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| problem(innermost(&error)))?;
    config.proxy_url = target
        .proxy
        .clone()
        .or(named_proxy)
        .as_deref()
        .map(|proxy| proxy.parse().map_err(|_| problem(not_a_proxy(proxy))))
        .transpose()?;
    // The library would repeat every verb, creations and evictions included, up to 15 times.
    config.default_retry = false;
    let agent = http::HeaderValue::from_str(&target.user_agent)
        .map_err(|_| problem(format!("`{}` cannot be a user agent", target.user_agent)))?;
    config.headers.push((http::header::USER_AGENT, agent));
    Ok(config)
}

/// A password with a character that had to be escaped is how such an address usually comes about, so that only what follows
/// it is told.
fn not_a_proxy(address: &str) -> String {
    let shown = address.rsplit_once('@').map_or(address, |(_, host)| host);
    let hidden = if shown.len() < address.len() { " (what stands before `@` is not shown)" } else { "" };
    format!("`{shown}`{hidden} is not the address of a proxy, such as http://proxy.example:3128")
}

/// Returns the proxy that the kubeconfig names for a context's cluster.
fn proxy_of(kubeconfig: &Kubeconfig, context: &str) -> Option<String> {
    let context = kubeconfig.contexts.iter().find(|one| one.name == context)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|one| one.name == context.cluster)?.cluster.as_ref()?;
    cluster.proxy_url.clone().filter(|proxy| !proxy.is_empty())
}

fn kubeconfig_error(target: &Target, reason: String) -> ClusterError {
    ClusterError::Kubeconfig { path: target.kubeconfig.display().to_string(), reason }
}

/// Returns the words of the cause at the bottom of an error's chain, where the real reason is.
pub(crate) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_a_malformed_proxy_address_is_not_shown() {
        let told = not_a_proxy("http://svc:p^ss @word@proxy:3128");
        assert!(told.contains("`proxy:3128`") && !told.contains("p^ss") && !told.contains("word"), "{told}");
        assert!(not_a_proxy("::").starts_with("`::` is not"));
    }
}

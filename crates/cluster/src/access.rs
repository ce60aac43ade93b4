//! Asking what the own identity may do.

use http::Method;
use serde_json::json;
use windlass_model::GroupKind;

use crate::effect::Effect;
use crate::transport::Call;
use crate::{Cluster, ClusterError};

impl Cluster {
    /// Says whether the own identity may do something, by a SelfSubjectAccessReview; stores nothing.
    pub async fn may(
        &self,
        verb: &str,
        kind: &GroupKind,
        namespace: Option<&str>,
    ) -> Result<bool, ClusterError> {
        let resource = self.preferred(kind).await?;
        let body = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": verb, "group": kind.group, "resource": resource.plural, "namespace": namespace.unwrap_or_default(),
            }},
        });
        let url = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned();
        let call = Call::send(Method::POST, url, "application/json", &body, Effect::Read);
        let answer = self.transport.call(&call).await?.json(&call.what())?;
        Ok(answer["status"]["allowed"] == true)
    }

    /// Returns the own identity's user name and groups, as the server sees them.
    pub async fn whoami(&self) -> Result<(String, Vec<String>), ClusterError> {
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let url = "/apis/authentication.k8s.io/v1/selfsubjectreviews".to_owned();
        let call = Call::send(Method::POST, url, "application/json", &body, Effect::Read);
        let answer = self.transport.call(&call).await?.json(&call.what())?;
        let user = &answer["status"]["userInfo"];
        let groups = user["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        Ok((text(&user["username"]), groups.iter().map(text).collect()))
    }
}

//! HTTP and HTTPS probes.

use regex::Regex;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response, Url};
use windlass_model::SourceTree;
use windlass_settings::HttpProbe;

use super::address::Address;
use super::attempt::{Miss, innermost};

/// How much of a body is looked at.
const BODY_LIMIT: usize = 1 << 20;
/// How many redirects within one host are followed.
const REDIRECTS: usize = 5;

/// Sends the request and checks the answer.
pub(super) async fn attempt(address: &Address, probe: &HttpProbe, tree: &SourceTree) -> Result<(), Miss> {
    let url = url(address, probe)?;
    let client = client(address, probe, &url, tree).await?;
    let answer = client.get(url).send().await.map_err(|error| no_answer(&error))?;
    let status = answer.status().as_u16();
    let want = probe.status.unwrap_or(200);
    if status != want {
        return Err(Miss::wrong(format!("the status is {status}, not {want}")));
    }
    if probe.body.is_none() && probe.body_matches.is_none() {
        return Ok(());
    }
    check_body(probe, &read(answer).await?)
}

fn url(address: &Address, probe: &HttpProbe) -> Result<Url, Miss> {
    let scheme = match (&address.scheme, &probe.tls_name) {
        (Some(scheme), _) => scheme.as_str(),
        (None, Some(_)) => "https",
        (None, None) => "http",
    };
    let host = probe.tls_name.clone().unwrap_or_else(|| address.url_host());
    let port = address.port.map(|port| format!(":{port}")).unwrap_or_default();
    let path = if probe.path.starts_with('/') { probe.path.clone() } else { format!("/{}", probe.path) };
    let text = format!("{scheme}://{host}{port}{path}");
    Url::parse(&text).map_err(|error| Miss::unusable(format!("`{text}` is not an address: {error}")))
}

/// Makes a client that goes to the address, whatever name it presents, and nowhere else: no proxy from the
/// environment, no redirect to another host.
async fn client(address: &Address, probe: &HttpProbe, url: &Url, tree: &SourceTree) -> Result<Client, Miss> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        return Err(Miss::unusable("no TLS provider is installed"));
    }
    let port = url.port_or_known_default().unwrap_or(443);
    let mut builder = Client::builder().no_proxy().user_agent("windlass-smoke").redirect(policy(probe));
    if let Some(name) = &probe.tls_name {
        builder = builder.resolve_to_addrs(name, &address.resolve(port).await?);
    }
    if let Some(file) = &probe.tls_ca {
        let pem =
            tree.read(file).ok_or_else(|| Miss::unusable(format!("the file `{file}` does not exist")))?;
        let certificates = Certificate::from_pem_bundle(pem)
            .map_err(|error| Miss::unusable(format!("`{file}`: {}", innermost(&error))))?;
        if certificates.is_empty() {
            return Err(Miss::unusable(format!("`{file}` holds no certificate")));
        }
        builder = builder.tls_certs_only(certificates);
    }
    builder.build().map_err(|error| Miss::unusable(innermost(&error)))
}

/// A probe that expects a redirect gets to see it.
fn policy(probe: &HttpProbe) -> Policy {
    if probe.status.is_some_and(|status| (300..400).contains(&status)) {
        return Policy::none();
    }
    Policy::custom(|attempt| {
        let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if same && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
    })
}

fn no_answer(error: &reqwest::Error) -> Miss {
    Miss::none(innermost(error))
}

async fn read(mut answer: Response) -> Result<String, Miss> {
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(|error| no_answer(&error))? {
        let room = BODY_LIMIT.saturating_sub(body.len());
        body.extend_from_slice(&part[..part.len().min(room)]);
        if body.len() >= BODY_LIMIT {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn check_body(probe: &HttpProbe, body: &str) -> Result<(), Miss> {
    if let Some(part) = probe.body.as_ref().filter(|part| !body.contains(part.as_str())) {
        return Err(Miss::wrong(format!(
            "the body does not contain {part:?}; it begins with {:?}",
            start(body)
        )));
    }
    if let Some(pattern) = &probe.body_matches {
        let regex = Regex::new(pattern).map_err(|error| Miss::unusable(error.to_string()))?;
        if !regex.is_match(body) {
            return Err(Miss::wrong(format!(
                "the body does not match {pattern:?}; it begins with {:?}",
                start(body)
            )));
        }
    }
    Ok(())
}

fn start(body: &str) -> String {
    body.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let check = |scheme: Option<&str>, host: &str, port, tls_name: Option<&str>, want: &str| {
            let address = Address { scheme: scheme.map(str::to_owned), host: host.to_owned(), port };
            let probe = HttpProbe {
                path: "/healthz?a=b".into(),
                tls_name: tls_name.map(str::to_owned),
                ..HttpProbe::default()
            };
            assert_eq!(url(&address, &probe).unwrap().as_str(), want);
        };
        check(None, "10.0.0.1", Some(8080), None, "http://10.0.0.1:8080/healthz?a=b");
        check(None, "10.0.0.1", Some(443), Some("shop.example"), "https://shop.example/healthz?a=b");
        check(None, "fd00::1", Some(80), None, "http://[fd00::1]/healthz?a=b");
        check(Some("https"), "lb", None, Some("shop.example"), "https://shop.example/healthz?a=b");
        check(Some("https"), "shop.example", None, None, "https://shop.example/healthz?a=b");
    }

    #[test]
    fn bodies() {
        let check = |body: Option<&str>, matches: Option<&str>, want: bool| {
            let probe = HttpProbe {
                body: body.map(str::to_owned),
                body_matches: matches.map(str::to_owned),
                ..HttpProbe::default()
            };
            assert_eq!(check_body(&probe, "status: ok\n").is_ok(), want);
        };
        check(Some("ok"), None, true);
        check(Some("OK"), None, false);
        check(None, Some("(?m)^status: (ok|fine)$"), true);
        check(Some("ok"), Some("^ok"), false);
    }
}

//! Asking what the own identity may do.

use http::Method;
use serde_json::{Value, json};
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
        self.may_on(verb, &kind.group, &resource.plural, namespace).await
    }

    /// Says whether the own identity may do something to a resource, given as it is in rules, such as
    /// `serviceaccounts/token`, which need not be a kind, such as `users`; stores nothing.
    pub async fn may_on(
        &self,
        verb: &str,
        group: &str,
        resource: &str,
        namespace: Option<&str>,
    ) -> Result<bool, ClusterError> {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let body = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {
                "verb": verb, "group": group, "resource": resource, "subresource": subresource,
                "namespace": namespace.unwrap_or_default(),
            }},
        });
        let url = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned();
        let call = Call::send(Method::POST, url, "application/json", &body, Effect::Read);
        let answer = self.transport.call(&call).await?.json(&call.what())?;
        Ok(answer["status"]["allowed"] == true)
    }

    /// Returns the own identity's user name and groups, as the server sees them.
    pub async fn whoami(&self) -> Result<(String, Vec<String>), ClusterError> {
        let user = self.review().await?.user;
        let groups = user["groups"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok((text(&user["username"]), groups.iter().map(text).collect()))
    }

    /// Returns the own identity as admission sees it, with the server's time; stores nothing.
    pub async fn review(&self) -> Result<Review, ClusterError> {
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let url = "/apis/authentication.k8s.io/v1/selfsubjectreviews".to_owned();
        let call = Call::send(Method::POST, url, "application/json", &body, Effect::Read);
        let mut answer = self.transport.call(&call).await?.json(&call.what())?;
        let time = answer["metadata"]["creationTimestamp"].as_str().map(str::to_owned);
        Ok(Review { user: answer["status"]["userInfo"].take(), time })
    }

    /// Returns the own identity's rights in a namespace, those in all namespaces included, in no certain order;
    /// stores nothing. A server that asks somebody else about rights may leave some out.
    pub async fn rights(&self, namespace: &str) -> Result<Vec<Value>, ClusterError> {
        let body = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": {"namespace": namespace},
        });
        let url = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews".to_owned();
        let call = Call::send(Method::POST, url, "application/json", &body, Effect::Read);
        let mut answer = self.transport.call(&call).await?.json(&call.what())?;
        match answer["status"]["resourceRules"].take() {
            Value::Array(rules) => Ok(rules),
            _ => Ok(Vec::new()),
        }
    }
}

/// Who the server takes Windlass for, and when that was.
#[derive(Debug, Clone)]
pub struct Review {
    /// The `userInfo` that admission gets: `username`, `uid`, `groups`, `extra`.
    pub user: Value,
    /// The server's time (RFC 3339), to the second; missing on servers that leave it out.
    pub time: Option<String>,
}

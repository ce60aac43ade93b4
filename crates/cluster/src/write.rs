//! Writing objects, for real or as a dry-run.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use windlass_model::Object;

use crate::effect::Effect;
use crate::expecting::Expecting;
use crate::transport::Call;
use crate::{Cluster, ClusterError, FIELD_MANAGER, FailureKind, Resource, path};

/// One server-side apply.
#[derive(Debug, Clone, Copy)]
pub struct ApplyRequest<'a> {
    /// The object to apply.
    pub object: &'a Object,
    /// What must be there already.
    pub expect: Expect<'a>,
    /// Take fields over that other managers own.
    pub force: bool,
    /// Change nothing; answer what would be.
    pub dry_run: bool,
}

/// What must be there for a write to be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect<'a> {
    /// Nothing: the object is created, or the request fails.
    Absent,
    /// The object with this uid, in whatever version.
    Uid(&'a str),
    /// The object with this uid in exactly this version.
    Version(&'a str, &'a str),
    /// Either.
    Anything,
}

/// The answer to a write.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The object as it is, or would be.
    pub object: Object,
    /// Whether the object was, or would be, created.
    pub created: bool,
    /// What the server warned of.
    pub warnings: Vec<String>,
}

/// How a deletion ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// The object is going or gone.
    Accepted,
    /// It was gone already.
    Absent,
    /// Another object has its name now; that one was left alone.
    Replaced,
}

/// What happens to objects that the deleted one owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted afterwards.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

const APPLY_PATCH: &str = "application/apply-patch+yaml";
const JSON_PATCH: &str = "application/json-patch+json";
const JSON: &str = "application/json";

impl Cluster {
    /// Applies an object as the field manager `windlass`, with strict field validation.
    ///
    /// A creation is a server-side apply with `resourceVersion: "1"`, a version that etcd gives to no object: it
    /// creates, or fails with 409, atomically. A POST would leave an `Update` entry that is never given up.
    pub async fn apply(&self, request: ApplyRequest<'_>) -> Result<Answer, ClusterError> {
        self.apply_as(FIELD_MANAGER, request).await
    }

    /// Applies an ApplySet's parent, under a manager of its own as KEP-3659 asks for.
    pub async fn apply_parent(&self, request: ApplyRequest<'_>) -> Result<Answer, ClusterError> {
        self.apply_as("windlass-applyset", request).await
    }

    async fn apply_as(&self, manager: &str, request: ApplyRequest<'_>) -> Result<Answer, ClusterError> {
        let resource = self.resource_of(request.object.reference()).await?;
        self.write(&applying(manager, &resource, request)).await
    }

    /// Deletes an object, if it still has this uid and version.
    ///
    /// # Errors
    /// A 409 with [`FailureKind::Modified`] if it has the uid but was changed since.
    pub async fn delete(
        &self,
        resource: &Resource,
        object: &Object,
        propagation: Propagation,
        dry_run: bool,
    ) -> Result<Deleted, ClusterError> {
        let reference = object.reference();
        let url = path::object(resource, reference.namespace.as_deref(), &reference.name);
        let url = if dry_run { path::with_query(&url, &[("dryRun", "All")]) } else { url };
        let propagation = match propagation {
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
            Propagation::Orphan => "Orphan",
        };
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": {"uid": object.uid(), "resourceVersion": object.resource_version()},
        });
        if dry_run {
            // The server reads options from the query only where there is no body: without this line, what is
            // meant as a preview deletes.
            body["dryRun"] = json!(["All"]);
        }
        let effect = Effect::of_write(dry_run);
        match self.transport.call(&Call::send(Method::DELETE, url, JSON, &body, effect)).await {
            Ok(_) => Ok(Deleted::Accepted),
            Err(error) => {
                match error.failure().map(|failure| (failure.kind(), is_other_uid(&failure.message))) {
                    Some((FailureKind::NotFound | FailureKind::NamespaceMissing, _)) => Ok(Deleted::Absent),
                    Some((FailureKind::Modified | FailureKind::Gone, true)) => Ok(Deleted::Replaced),
                    _ => Err(error),
                }
            }
        }
    }

    /// Creates an object by POST. For what server-side apply must not own: the Lease and run records.
    pub async fn create(&self, object: &Object) -> Result<Answer, ClusterError> {
        let resource = self.resource_of(object.reference()).await?;
        let url = path::collection(&resource, object.reference().namespace.as_deref());
        let url = path::with_query(&url, &[("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")]);
        self.write(&Call::send(Method::POST, url, JSON, object.body(), Effect::Write)).await
    }

    /// Sends an object as a dry-run creation: what would the server say? Changes nothing.
    pub async fn try_create(&self, object: &Object) -> Result<Answer, ClusterError> {
        let resource = self.resource_of(object.reference()).await?;
        let url = path::collection(&resource, object.reference().namespace.as_deref());
        let url = path::with_query(&url, &[("fieldManager", FIELD_MANAGER), ("dryRun", "All")]);
        self.write(&Call::send(Method::POST, url, JSON, object.body(), Effect::DryRun)).await
    }

    /// Replaces an object by PUT: compare-and-swap on the uid and resource version in its body.
    ///
    /// Both must be there: without the uid, a PUT creates a deleted object anew, and without the version it
    /// overwrites whatever another writer stored.
    pub async fn replace(&self, object: &Object) -> Result<Answer, ClusterError> {
        let reference = object.reference();
        let resource = self.resource_of(reference).await?;
        let url = path::object(&resource, reference.namespace.as_deref(), &reference.name);
        if object.uid().is_none() || object.resource_version().is_none() {
            let reason = "a replacement needs uid and resourceVersion".to_owned();
            return Err(ClusterError::NotSent { what: format!("PUT {url}"), reason });
        }
        let url = path::with_query(&url, &[("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")]);
        self.write(&Call::send(Method::PUT, url, JSON, object.body(), Effect::Write)).await
    }

    /// Changes an object by a JSON patch (RFC 6902), for ownership migration and the like.
    pub async fn patch(
        &self,
        object: &Object,
        operations: &Value,
        dry_run: bool,
    ) -> Result<Answer, ClusterError> {
        let reference = object.reference();
        let resource = self.resource_of(reference).await?;
        let mut parameters = vec![("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")];
        if dry_run {
            parameters.push(("dryRun", "All"));
        }
        let url = path::with_query(
            &path::object(&resource, reference.namespace.as_deref(), &reference.name),
            &parameters,
        );
        let effect = Effect::of_write(dry_run);
        self.write(&Call::send(Method::PATCH, url, JSON_PATCH, operations, effect)).await
    }

    async fn write(&self, call: &Call) -> Result<Answer, ClusterError> {
        let reply = self.transport.call(call).await?;
        let object = reply.object(&call.what())?;
        Ok(Answer { object, created: reply.status == StatusCode::CREATED, warnings: reply.warnings })
    }
}

/// Returns everything that [`Cluster::apply`] would send, verb, URL with options and body, to tell whether two
/// requests are the same. Holds what the object holds.
pub fn spelled(resource: &Resource, request: ApplyRequest<'_>) -> Vec<u8> {
    let call = applying(FIELD_MANAGER, resource, request);
    let mut spelled = format!("{} {}\n{}\n", call.method, call.url, call.content_type).into_bytes();
    spelled.extend(call.body);
    spelled
}

fn applying(manager: &str, resource: &Resource, request: ApplyRequest<'_>) -> Call {
    let reference = request.object.reference();
    let mut parameters = vec![
        ("fieldManager", manager),
        ("force", if request.force { "true" } else { "false" }),
        ("fieldValidation", "Strict"),
    ];
    if request.dry_run {
        parameters.push(("dryRun", "All"));
    }
    let path = path::object(resource, reference.namespace.as_deref(), &reference.name);
    let body = Expecting { body: request.object.body(), expect: request.expect };
    let effect = Effect::of_write(request.dry_run);
    Call::send(Method::PATCH, path::with_query(&path, &parameters), APPLY_PATCH, &body, effect)
}

/// Says whether a deletion was refused because another object has the name now. The server has two wordings:
/// one of its cache, one of its store.
fn is_other_uid(message: &str) -> bool {
    message.contains("UID in precondition") || message.contains("the UID in the precondition")
}

//! Who calls the Services that may go: the API server itself, for webhooks, conversions and other APIs.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object, ObjectRef, needed_services};

use super::{Reader, tolerate};
use crate::ObjectKey;

const CALLERS: [(&str, &str); 4] = [
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
];

/// By Service that may go: what cannot do without it, whoever made that; or why that cannot be told. Costs four LISTs where
/// a Service may go.
pub(super) async fn find(
    reader: &Reader<'_>,
    going: &[Object],
) -> Result<BTreeMap<ObjectKey, Result<BTreeSet<ObjectRef>, String>>, ClusterError> {
    let services = going.iter().filter(|object| object.reference().kind.is("", "Service"));
    let mut callers: BTreeMap<ObjectKey, Result<BTreeSet<ObjectRef>, String>> =
        services.map(|service| (ObjectKey::from(service.reference()), Ok(BTreeSet::new()))).collect();
    if callers.is_empty() {
        return Ok(callers);
    }
    for (group, kind) in CALLERS {
        let resource = reader.cluster.resource(&GroupKind::new(group, kind), "v1").await?;
        match tolerate(reader.cluster.list(&resource, Selector::default()).await)? {
            Ok(listing) => {
                for object in listing.objects.into_iter().filter(|object| !object.is_terminating()) {
                    for service in needed_services(&object) {
                        if let Some(Ok(found)) = callers.get_mut(&ObjectKey::from(&service)) {
                            found.insert(object.reference().clone());
                        }
                    }
                }
            }
            Err(error) => {
                for found in callers.values_mut() {
                    *found = Err(error.to_string());
                }
            }
        }
    }
    Ok(callers)
}

//! What the operators of well-known databases and brokers do to data when their resource is deleted, by default.

use windlass_model::GroupKind;

/// Group, kinds, what the operator does, and what holds it back. From each operator's documentation and sources.
const RULES: [(&str, &[&str], &str, &str); 6] = [
    (
        "postgresql.cnpg.io",
        &["Cluster"],
        "CloudNativePG deletes all claims with it: they carry it as their owner",
        "set the volumes' reclaim policy to Retain first",
    ),
    (
        "kafka.strimzi.io",
        &["Kafka", "KafkaNodePool"],
        "Strimzi keeps the claims unless `deleteClaim` is set, but its certificate authorities go",
        "keep `deleteClaim: false`, and save the Secrets of the authorities",
    ),
    (
        "rabbitmq.com",
        &["RabbitmqCluster"],
        "the RabbitMQ operator's StatefulSet deletes its claims (whenDeleted Delete)",
        "override `persistentVolumeClaimRetentionPolicy` in its `spec.override.statefulSet`",
    ),
    (
        "elasticsearch.k8s.elastic.co",
        &["Elasticsearch"],
        "ECK deletes the claims (DeleteOnScaledownAndClusterDeletion)",
        "set its `spec.volumeClaimDeletePolicy` to DeleteOnScaledownOnly first",
    ),
    (
        "acid.zalan.do",
        &["postgresql"],
        "the Zalando operator deletes the claims, even where the StatefulSet would keep them, and no owner reference tells which",
        "turn `enable_persistent_volume_claim_deletion` off in the operator first",
    ),
    (
        "redis.redis.opstreelabs.in",
        &["Redis", "RedisCluster", "RedisReplication", "RedisSentinel"],
        "the Redis operator deletes the claims by a finalizer",
        "set `keepAfterDelete` in its storage first",
    ),
];

/// Returns what is known about deleting a custom resource, with the brake.
pub(super) fn on_deletion(kind: &GroupKind) -> Option<String> {
    let is_it = |kinds: &[&str]| kinds.iter().any(|known| known.eq_ignore_ascii_case(&kind.kind));
    let (.., habit, brake) = RULES.iter().find(|(group, kinds, ..)| *group == kind.group && is_it(kinds))?;
    Some(format!("{habit}; to keep the data: {brake}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_operators() {
        for (kind, want) in [
            ("Cluster.postgresql.cnpg.io", Some("CloudNativePG deletes all claims")),
            ("postgresql.acid.zalan.do", Some("Zalando")),
            ("RedisCluster.redis.redis.opstreelabs.in", Some("keepAfterDelete")),
            ("Pooler.postgresql.cnpg.io", None),
            ("Cluster.example.com", None),
        ] {
            let got = on_deletion(&GroupKind::from(kind.to_owned()));
            assert!(
                match (&got, want) {
                    (Some(got), Some(want)) => got.contains(want),
                    (None, None) => true,
                    _ => false,
                },
                "{kind}: {got:?}"
            );
        }
    }
}

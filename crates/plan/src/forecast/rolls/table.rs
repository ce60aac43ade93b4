//! Which fields of the resources of well-known operators replace pods.
//!
//! From the operators' documentation and sources: CloudNativePG 1.28, Zalando 1.14, Strimzi 0.45, RabbitMQ 2.16, ECK 3.5,
//! Spotahome 1.2, OpsTree, MongoDB Community. A field that no row covers may replace pods or not.

use super::{Effect, Operator, Rule};
use Effect::{Maybe, Quiet, Rolls};

const fn rolls(field: &'static str) -> Rule {
    Rule { field, effect: Rolls, why: "" }
}

const fn maybe(field: &'static str, why: &'static str) -> Rule {
    Rule { field, effect: Maybe, why }
}

const fn quiet(field: &'static str, why: &'static str) -> Rule {
    Rule { field, effect: Quiet, why }
}

pub(super) const OPERATORS: [Operator; 9] = [
    Operator {
        name: "CloudNativePG",
        group: "postgresql.cnpg.io",
        kinds: &["Cluster"],
        pods: &["/spec/instances"],
        order: "one at a time from the highest serial down, the primary last",
        rules: &[
            rolls("spec.imageName"),
            rolls("spec.imageCatalogRef"),
            rolls("spec.resources"),
            rolls("spec.affinity"),
            rolls("spec.topologySpreadConstraints"),
            rolls("spec.env"),
            rolls("spec.envFrom"),
            rolls("spec.postgresql.shared_preload_libraries"),
            rolls("spec.postgresql.extensions"),
            maybe("spec.postgresql.parameters", "only for parameters that PostgreSQL reads at its start"),
            quiet("spec.postgresql.pg_hba", "it is reloaded"),
            quiet("spec.instances", "pods come or go, none is replaced"),
            quiet("spec.storage.size", "volumes only grow; a smaller size is refused"),
            quiet("spec.managed", "roles are changed in the database"),
            quiet("spec.backup", "backups read it when they start"),
            quiet("spec.bootstrap", "it is read only when a cluster is made"),
        ],
    },
    Operator {
        name: "the Zalando operator",
        group: "acid.zalan.do",
        kinds: &["postgresql"],
        pods: &["/spec/numberOfInstances"],
        order: "one at a time, the master last after a switchover",
        rules: &[
            Rule {
                field: "spec.dockerImage",
                effect: Rolls,
                why: "unless its `enable_lazy_spilo_upgrade` is on",
            },
            rolls("spec.resources"),
            rolls("spec.sidecars"),
            rolls("spec.initContainers"),
            rolls("spec.env"),
            rolls("spec.additionalVolumes"),
            maybe("spec.tolerations", "only where there are more or fewer than before"),
            rolls("spec.nodeAffinity"),
            rolls("spec.podPriorityClassName"),
            maybe("spec.postgresql.version", "its `major_version_upgrade_mode` decides"),
            maybe("spec.postgresql.parameters", "Patroni reloads, or restarts PostgreSQL inside the pods"),
            quiet("spec.numberOfInstances", "pods come or go, none is replaced"),
            quiet("spec.volume", "volumes only grow, and the StatefulSet is made again around its pods"),
            quiet("spec.users", "roles are changed in the database"),
            quiet("spec.databases", "databases are made in the server"),
            quiet("spec.allowedSourceRanges", "only the Services change"),
        ],
    },
    Operator {
        name: "Strimzi",
        group: "kafka.strimzi.io",
        kinds: &["Kafka"],
        pods: &["/spec/kafka/replicas"],
        order: "one broker at a time, while enough replicas are in sync",
        rules: &[
            rolls("spec.kafka.version"),
            rolls("spec.kafka.image"),
            rolls("spec.kafka.resources"),
            rolls("spec.kafka.jvmOptions"),
            rolls("spec.kafka.listeners"),
            rolls("spec.kafka.authorization"),
            rolls("spec.kafka.rack"),
            maybe("spec.kafka.config", "options that brokers take at run time are set without a restart"),
            maybe(
                "spec.kafka.storage",
                "sizes only grow and the type never changes; a file system may need a restart to grow",
            ),
            quiet("spec.kafka.replicas", "brokers come or go, none is replaced"),
            quiet("spec.entityOperator", "only the Deployment beside the brokers is rolled"),
            maybe(
                "spec.cruiseControl",
                "brokers roll where it is added or removed, else only the Deployment beside them",
            ),
            quiet("spec.kafkaExporter", "only the Deployment beside the brokers is rolled"),
        ],
    },
    Operator {
        name: "Strimzi",
        group: "kafka.strimzi.io",
        kinds: &["KafkaNodePool"],
        pods: &["/spec/replicas"],
        order: "one node at a time, while enough replicas are in sync",
        rules: &[
            rolls("spec.resources"),
            rolls("spec.jvmOptions"),
            rolls("spec.roles"),
            maybe(
                "spec.storage",
                "sizes only grow and the type never changes; a file system may need a restart to grow",
            ),
            quiet("spec.replicas", "nodes come or go, none is replaced"),
        ],
    },
    Operator {
        name: "the RabbitMQ operator",
        group: "rabbitmq.com",
        kinds: &["RabbitmqCluster"],
        pods: &["/spec/replicas"],
        order: "one at a time from the highest ordinal down",
        rules: &[
            rolls("spec.image"),
            rolls("spec.resources"),
            rolls("spec.affinity"),
            rolls("spec.tolerations"),
            rolls("spec.tls"),
            rolls("spec.rabbitmq.additionalConfig"),
            rolls("spec.rabbitmq.advancedConfig"),
            rolls("spec.rabbitmq.envConfig"),
            quiet("spec.rabbitmq.additionalPlugins", "plugins are switched on and off in running pods"),
            quiet("spec.replicas", "pods are added; removing some is refused (UnsupportedOperation)"),
            quiet(
                "spec.persistence.storage",
                "volumes only grow, and the StatefulSet is made again around its pods",
            ),
            quiet("spec.service", "only the Service changes"),
        ],
    },
    Operator {
        name: "ECK",
        group: "elasticsearch.k8s.elastic.co",
        kinds: &["Elasticsearch"],
        pods: &[],
        order: "one node at a time, while the cluster is green (spec.updateStrategy)",
        rules: &[
            rolls("spec.version"),
            rolls("spec.image"),
            rolls("spec.secureSettings"),
            rolls("spec.nodeSets[*].podTemplate"),
            rolls("spec.nodeSets[*].config"),
            quiet("spec.nodeSets[*].count", "nodes come or go, none is replaced"),
            quiet(
                "spec.nodeSets[*].volumeClaimTemplates",
                "volumes only grow; any other change is refused, and takes a node set of another name",
            ),
            quiet("spec.http.service", "only the Service changes"),
            quiet("spec.updateStrategy", "it counts from the next change on"),
            quiet("spec.podDisruptionBudget", "only the PodDisruptionBudget changes"),
            quiet("spec.volumeClaimDeletePolicy", "it counts from the next deletion on"),
        ],
    },
    Operator {
        name: "the Spotahome operator",
        group: "databases.spotahome.com",
        kinds: &["RedisFailover"],
        pods: &["/spec/redis/replicas"],
        order: "replicas first, then the master",
        rules: &[
            rolls("metadata.labels"),
            rolls("spec.redis.image"),
            rolls("spec.redis.resources"),
            quiet("spec.redis.customConfig", "it is set in running servers"),
            quiet("spec.redis.replicas", "pods come or go, none is replaced"),
        ],
    },
    Operator {
        name: "the Redis operator",
        group: "redis.redis.opstreelabs.in",
        kinds: &["Redis", "RedisReplication", "RedisCluster", "RedisSentinel"],
        pods: &["/spec/clusterSize"],
        order: "one at a time from the highest ordinal down",
        rules: &[
            rolls("spec.kubernetesConfig.image"),
            rolls("spec.kubernetesConfig.resources"),
            maybe("spec.storage", "volumes only grow, and the StatefulSet may be made again"),
            quiet("spec.clusterSize", "pods come or go, none is replaced"),
        ],
    },
    Operator {
        name: "the MongoDB Community operator",
        group: "mongodbcommunity.mongodb.com",
        kinds: &["MongoDBCommunity"],
        pods: &["/spec/members"],
        order: "one at a time from the highest ordinal down",
        rules: &[
            rolls("spec.version"),
            maybe("spec.statefulSet", "only what changes the pods' template"),
            maybe("spec.additionalMongodConfig", "the agent restarts mongod inside the pods"),
            quiet("spec.members", "pods come or go, none is replaced"),
            quiet("spec.users", "users are changed in the database"),
        ],
    },
];

# A StatefulSet whose second revision never becomes ready is stuck, and stays
# stuck when the first template is applied again (OrderedReady).
manifest() {
  cat <<Y
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata:
      labels: {app: db}
      annotations:
        testbed.windlass.dev/ready-after: never
        testbed.windlass.dev/from-revision: "2"
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "registry.example/db:$1"}]
Y
}
manifest 1 | k apply -f - >/dev/null
ok "first revision rolls out" k rollout status statefulset/db --timeout=30s
first=$(field statefulset/db '{.status.updateRevision}')
manifest 2 | k apply -f - >/dev/null
soon 10 "the last pod is replaced" is registry.example/db:2 field pod/db-2 '{.spec.containers[0].image}'
soon 10 "and runs" is Running field pod/db-2 '{.status.phase}'
ok "rollout status does not return" not k rollout status statefulset/db --timeout=4s
ok "the last pod is not ready" is False field pod/db-2 '{.status.conditions[?(@.type=="Ready")].status}'
ok "the others were not touched" is "registry.example/db:1 registry.example/db:1" k get pod db-0 db-1 -o 'jsonpath={.items[*].spec.containers[0].image}'
ok "one pod is updated" is 1 field statefulset/db '{.status.updatedReplicas}'
soon 30 "the kubelet tells why" has "Readiness probe failed" k get events --field-selector=reason=Unhealthy,involvedObject.name=db-2
uid=$(field pod/db-2 '{.metadata.uid}')
manifest 1 | k apply -f - >/dev/null
soon 10 "the old revision is wanted again" is "$first" field statefulset/db '{.status.updateRevision}'
ok "still stuck" not k rollout status statefulset/db --timeout=4s
ok "the bad pod was not replaced" is "$uid" field pod/db-2 '{.metadata.uid}'
k delete pod db-2 >/dev/null
ok "only its deletion helps" k rollout status statefulset/db --timeout=20s
ok "back on the first revision" is "$first" field statefulset/db '{.status.currentRevision}'
ok "the old template counts as first for the symptoms" is True field pod/db-2 '{.status.conditions[?(@.type=="Ready")].status}'

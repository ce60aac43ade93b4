# The stock controllers and the stock kubectl finish every kind of roll-out.
kubectl apply -f - >/dev/null <<Y
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: $NS}
provisioner: kubernetes.io/host-path
Y
k apply -f - >/dev/null <<Y
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: registry.example/web:1}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      initContainers:
      - {name: prepare, image: registry.example/prepare:1}
      - {name: proxy, image: registry.example/proxy:1, restartPolicy: Always}
      containers: [{name: main, image: registry.example/db:1, volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {storageClassName: $NS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: each}
spec:
  selector: {matchLabels: {app: each}}
  template:
    metadata: {labels: {app: each}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: registry.example/each:1}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  completions: 3
  parallelism: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: registry.example/once:1}]}
Y
for r in deployment/web statefulset/db daemonset/each; do
  ok "$r rolls out" k rollout status "$r" --timeout=30s
done
ok "job completes" k wait --for=condition=complete job/once --timeout=30s
ok "init container completed" is Completed field pod/db-0 '{.status.initContainerStatuses[0].state.terminated.reason}'
ok "sidecar is ready" is true field pod/db-0 '{.status.initContainerStatuses[1].ready}'
ok "claims are bound" k wait --for=jsonpath='{.status.phase}'=Bound pvc --all --timeout=10s
ok "every node has a pod of the daemon set" is 3 field daemonset/each '{.status.numberAvailable}'
for r in deployment/web statefulset/db daemonset/each; do
  k set image "$r" "main=registry.example/new:2" >/dev/null
done
for r in deployment/web statefulset/db daemonset/each; do
  ok "$r rolls on to the second revision" k rollout status "$r" --timeout=30s
done
ok "statefulset runs the new image" is registry.example/new:2 field pod/db-0 '{.spec.containers[0].image}'
k delete pod db-1 --wait=false >/dev/null
soon 10 "a deleted pod comes back" is True field pod/db-1 '{.status.conditions[?(@.type=="Ready")].status}'
ok "undo of a deployment" k rollout undo deployment/web
ok "deployment is back" k rollout status deployment/web --timeout=30s
ips=$(k get pods -o jsonpath='{range .items[?(@.status.phase=="Running")]}{.status.podIP}{"\n"}{end}')
ok "pod addresses are unique" is "" bash -c "sort <<<'$ips' | uniq -d"
ok "no folder of a volume is left behind" bash -c "[ -z \"\$(find /tmp/hostpath_pv -maxdepth 1 -user \$(id -u) -type d -name '*-*-*-*' -newer $KUBECONFIG)\" ]"

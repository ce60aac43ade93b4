kubectl apply -f - >/dev/null <<Y
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: $NS-grow}
provisioner: kubernetes.io/host-path
allowVolumeExpansion: true
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: $NS-late}
provisioner: kubernetes.io/host-path
volumeBindingMode: WaitForFirstConsumer
Y
claim() {
  printf 'apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, annotations: {%s}}\nspec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n' "$1" "${3:-}" "$2" | k apply -f - >/dev/null
}
claim grow "$NS-grow"
claim slow "$NS-grow" 'testbed.windlass.dev/resize-after: never'
claim late "$NS-late"
ok "bound" k wait --for=jsonpath='{.status.phase}'=Bound pvc/grow pvc/slow --timeout=10s
for c in grow slow; do k patch pvc $c --type=merge -p '{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}' >/dev/null; done
soon 15 "expansion: claim" is 3Gi field pvc/grow '{.status.capacity.storage}'
ok "expansion: volume" is 3Gi kubectl get pv "$(field pvc/grow '{.spec.volumeName}')" -o 'jsonpath={.spec.capacity.storage}'
soon 15 "expansion that hangs" is "1Gi Resizing" field pvc/slow '{.status.capacity.storage} {.status.conditions[0].type}'
ok "waits for its first consumer" is Pending field pvc/late '{.status.phase}'
k run user --image=r/i:1 --overrides='{"spec":{"volumes":[{"name":"d","persistentVolumeClaim":{"claimName":"late"}}]}}' >/dev/null
ok "the scheduler binds it" k wait --for=condition=ready pod/user --timeout=10s
ok "now bound" is Bound field pvc/late '{.status.phase}'

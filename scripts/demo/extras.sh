# shellcheck shell=bash disable=SC2154
# Two objects that only the demo delivers, beside examples/platform.

# kustomize_also FILE: adds a file to the overlay for production.
kustomize_also() {
  sed -i "s|^  - ../base|&\n  - $1|" "platform/$shop/kustomization.yaml"
}

extra_claim() {
  cat >"platform/$shop/backup-claim.yaml" <<'YAML'
# Where the nightly backup is written to.
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: db-backup
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: stateful-retain
  resources:
    requests:
      storage: 5Gi
YAML
  kustomize_also backup-claim.yaml
}

extra_dashboard() {
  cat >"platform/$shop/dashboard.yaml" <<'YAML'
apiVersion: v1
kind: ConfigMap
metadata:
  name: db-dashboard
data:
  dashboard.json: |
    {"title": "Shop database", "panels": []}
YAML
  kustomize_also dashboard.yaml
}

# shellcheck shell=bash disable=SC2154
# What the demo delivers beside examples/platform, to take it away again.

# kustomize_also FILE: adds a file to the overlay for production.
kustomize_also() {
  sed -i "s|^  - ../base|&\n  - $1|" "platform/$shop/kustomization.yaml"
}

extra_archive() {
  cat >"platform/$shop/archive.yaml" <<'YAML'
# Writes the database's log away, so that any moment can be restored.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: db-archiver
  labels:
    app.kubernetes.io/part-of: shop
spec:
  replicas: 1
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app: db-archiver
  template:
    metadata:
      labels:
        app: db-archiver
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 1
      securityContext:
        runAsNonRoot: true
        runAsUser: 26
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: archiver
          image: registry.example.com/shop/db-archiver:4.1
          securityContext:
            allowPrivilegeEscalation: false
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: archive
              mountPath: /archive
      volumes:
        - name: archive
          persistentVolumeClaim:
            claimName: db-archive
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: db-archive
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: stateful-retain
  resources:
    requests:
      storage: 5Gi
YAML
  kustomize_also archive.yaml
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

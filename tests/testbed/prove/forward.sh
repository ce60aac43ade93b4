# ClusterIP:port is answered by a local process; here by the API server itself.
server=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')
target=${server#https://}
kubectl create service clusterip hook --tcp=8443 -n "$NS" >/dev/null
kubectl create service clusterip other --tcp=9443 -n "$NS" >/dev/null
k annotate service hook "testbed.windlass.dev/forward=8443=$target" >/dev/null
ip=$(field service/hook '{.spec.clusterIP}')
soon 15 "forward by annotation" has v1.36.3 http -k "https://$ip:8443/version"
echo "$NS/other:9443=$target # a comment" >>"$BED/forwards.txt"
soon 15 "forward by file" has v1.36.3 http -k "https://$(field service/other '{.spec.clusterIP}'):9443/version"
k annotate service hook testbed.windlass.dev/forward- >/dev/null
soon 15 "and ends with the annotation" not http -k "https://$ip:8443/version"
kubernetes=$(kubectl get service kubernetes -o 'jsonpath={.spec.clusterIP}')
if [ "$(id -u)" = 0 ]; then
  ok "the kubernetes service answers" has v1.36.3 http --cacert "$BED/pki/ca.crt" "https://$kubernetes/version"
fi
k create secret generic certs --from-literal=tls.crt=one >/dev/null
echo "$NS/certs=$WORK/certs" >>"$BED/secret-dirs.txt"
soon 15 "secret in a folder" is one cat "$WORK/certs/tls.crt"
k patch secret certs --type=merge -p '{"stringData":{"tls.crt":"two","tls.key":"key"}}' >/dev/null
soon 15 "follows the secret" is "two key" bash -c "echo \$(cat $WORK/certs/tls.crt) \$(cat $WORK/certs/tls.key)"
k apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: operator, annotations: {testbed.windlass.dev/secret-dir: "$WORK/operator"}}
spec:
  containers: [{name: main, image: r/i:1}]
  volumes: [{name: tls, secret: {secretName: certs}}]
Y
soon 15 "secret volume in a folder" is two cat "$WORK/operator/tls/tls.crt"

# A webhook by Service reference: the call reaches the local process, here the
# API server's own port, whose certificate then has the wrong name.
kubectl create service clusterip admit --tcp=443 -n "$NS" >/dev/null
k annotate service admit "testbed.windlass.dev/forward=$target" >/dev/null
kubectl apply -f - >/dev/null <<Y
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $NS}
webhooks:
- name: admit.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  clientConfig: {service: {namespace: $NS, name: admit}, caBundle: "$(base64 -w0 <"$BED/pki/ca.crt")"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $NS}}
  rules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE]}]
Y
soon 15 "webhook by service reference" has "x509: certificate is valid for" k create configmap refused --dry-run=server
kubectl delete validatingwebhookconfiguration "$NS" >/dev/null

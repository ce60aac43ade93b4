as() { kubectl --kubeconfig "$BED/identities/$1.kubeconfig" "${@:2}"; }
for id in windlass-run:windlass:run windlass-plan:windlass:plan windlass-drift:windlass:drift viewer:windlass:viewers; do
  ok "${id%%:*} and its group" has "${id#*:}" as "${id%%:*}" auth whoami -o 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}'
done
ok "nobody may nothing" is no as nobody auth can-i get pods
k create rolebinding view --clusterrole=view --group=windlass:viewers >/dev/null
soon 15 "a group's binding acts" is yes as viewer -n "$NS" auth can-i get pods
file=$(testbed identity "$BED" jane --group blue --group green)
ok "one more identity" is 'jane ["blue","green","system:authenticated"]' kubectl --kubeconfig "$file" auth whoami -o 'jsonpath={.status.userInfo.username} {.status.userInfo.groups}'
soon 15 "requests are audited" grep -q '"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata".*"username":"jane"' "$BED/audit.log"
ok "context name" is testbed kubectl config current-context
ok "version" is v1.36.3 bash -c "kubectl get --raw /version | sed -n 's/.*\"gitVersion\": \"\(.*\)\".*/\1/p'"

# up, down, and what happens when nobody says down.
ok "a second up is refused" has "runs in $BED already" testbed up "$BED"
second=$WORK/second
sleep 300 &
watched=$!
ok "a second testbed beside the first" testbed up "$second" --nodes 1 --watch-pid $watched
ok "its own range" not is "$(sed -n 's/.*"serviceRange": "\(.*\)".*/\1/p' "$BED/state.json")" sed -n 's/.*"serviceRange": "\(.*\)".*/\1/p' "$second/state.json"
ok "one node" is 1 bash -c "kubectl --kubeconfig $second/kubeconfig get nodes --no-headers | wc -l"
kubectl --kubeconfig "$second/kubeconfig" create configmap kept >/dev/null
kill $watched
soon 15 "it ends with the watched process" not pgrep -f "role [a-z]* $second\$"
ok "up again on the same data" testbed up "$second"
ok "the data is there" kubectl --kubeconfig "$second/kubeconfig" get configmap kept
ok "down" testbed down "$second"
ok "down again" testbed down "$second"
ok "nothing runs" not pgrep -f "role [a-z]* $second\$"
ok "up once more" testbed up "$second"
until rm -rf "$second" 2>/dev/null; do sleep 0.1; done # its roles still write
soon 15 "ends as well when its folder is deleted" not pgrep -f "role [a-z]* $second\$"
third=$WORK/third
mkdir -p "$third/etcd"
echo nonsense >"$third/etcd/member"
ok "a failed start shows the log" has "last lines of $third/logs/etcd.log" testbed up "$third"
ok "and leaves nothing behind" not pgrep -f "role [a-z]* $third\$"
ok "a bad audit level is refused" has "use one of" testbed up "$WORK/fourth" --audit-level Everything
ok "an unknown role is refused" has "the roles are" testbed restart "$BED" nonsense

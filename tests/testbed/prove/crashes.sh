# Roles may crash and come back at any time.
k create deployment web --image=r/web:1 --replicas=2 >/dev/null
k expose deployment web --type=LoadBalancer --port=8080 >/dev/null
ok "deployment rolls out" k rollout status deployment/web --timeout=20s
soon 5 "load balancer answers" http "http://$(field service/web '{.status.loadBalancer.ingress[0].ip}'):8080/"
ip=$(field service/web '{.status.loadBalancer.ingress[0].ip}')
pods=$(k get pods -o 'jsonpath={.items[*].metadata.uid}')

ok "kill the agent" testbed kill "$BED" node
ok "killed twice is an error" not testbed kill "$BED" node
ok "status tells" has stopped testbed status "$BED"
k scale deployment web --replicas=4 >/dev/null
ok "start it" testbed start "$BED" node
ok "it takes up the work" k rollout status deployment/web --timeout=20s
soon 5 "same load balancer address" http "http://$ip:8080/"
ok "old pods live on" has "$pods" k get pods --sort-by=.metadata.creationTimestamp -o 'jsonpath={.items[*].metadata.uid}'
ok "logs as well" has "web started" k logs deployment/web
ok "addresses are unique" is "" bash -c "kubectl -n $NS get pods -o jsonpath='{range .items[*]}{.status.podIP}{\"\\n\"}{end}' | sort | uniq -d"

ok "kill the API server" testbed kill "$BED" apiserver
ok "it is down" not kubectl get --raw /readyz
ok "load balancers do not care" http "http://$ip:8080/"
ok "start it" testbed start "$BED" apiserver
ok "kill etcd" testbed kill "$BED" etcd
ok "start it" testbed start "$BED" etcd
for role in kcm scheduler apiserver node etcd; do ok "restart $role" testbed restart "$BED" $role; done
k set image deployment/web web=r/web:2 >/dev/null
ok "roll-outs work after all that" k rollout status deployment/web --timeout=40s
ok "all healthy" testbed status "$BED"

svc() { # NAME PORT [ANNOTATION=VALUE...]
  local name=$1 port=$2
  shift 2
  {
    printf 'apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\n  annotations:\n    note: none\n' "$name"
    for a in "$@"; do printf '    testbed.windlass.dev/%s: "%s"\n' "${a%%=*}" "${a#*=}"; done
    printf 'spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: %s}]}\n' "$port"
  } | k apply -f - >/dev/null
}
address() { field "service/$1" '{.status.loadBalancer.ingress[0].ip}'; }
code() { http -o /dev/null -w '%{http_code}' "$1"; }
k create deployment web --image=r/web:1 --replicas=2 >/dev/null
svc web 8080
svc teapot 8080 http-status=418 "http-body=short and stout" http-delay=300ms
svc raw 9000 protocol=tcp "http-body=220 hello"
svc safe 8443 tls=true
svc slow 8080 lb-after=2s
svc none 8080 lb-after=never
ok "deployment rolls out" k rollout status deployment/web --timeout=20s
soon 15 "address appears" has 127. address web
ok "mode is VIP" is VIP field service/web '{.status.loadBalancer.ingress[0].ipMode}'
web=$(address web)
soon 15 "HTTP answers" is 200 code "http://$web:8080/"
ok "and names service and pods" has "service $NS/web port 8080" http "http://$web:8080/"
soon 15 "status by annotation" is 418 code "http://$(address teapot):8080/"
ok "body by annotation" is "short and stout" http "http://$(address teapot):8080/"
ok "delay by annotation" bash -c "awk 'BEGIN{exit !(ARGV[1]>=0.3)}' \$(curl -s --noproxy '*' -o /dev/null -w '%{time_total}' http://$(address teapot):8080/)"
soon 15 "raw TCP" is "220 hello" bash -c "cat </dev/tcp/$(address raw)/9000"
soon 15 "TLS with the testbed's CA" is 200 http --cacert "$BED/pki/ca.crt" --connect-to "safe.$NS.svc:8443:$(address safe):8443" -o /dev/null -w '%{http_code}' "https://safe.$NS.svc:8443/"
k annotate service web testbed.windlass.dev/http-status=503 >/dev/null
soon 15 "changed annotations act at once" is 503 code "http://$web:8080/"
k scale deployment web --replicas=0 >/dev/null
soon 15 "refused without endpoints" is 000 bash -c "curl -s --noproxy '*' -o /dev/null -w '%{http_code}' http://$web:8080/ || true"
k scale deployment web --replicas=1 >/dev/null
soon 15 "answers again" is 503 code "http://$web:8080/"
soon 15 "late address" has 127. address slow
ok "no address" is "" address none
k delete service web --timeout=10s >/dev/null
soon 15 "deleted service: refused" is 000 bash -c "curl -s --noproxy '*' -o /dev/null -w '%{http_code}' http://$web:8080/ || true"
svc web 8080
soon 15 "made anew: same address" is "$web" address web
k patch service web --type=merge -p '{"spec":{"type":"ClusterIP"}}' >/dev/null
soon 15 "no load balancer any more" is "" address web

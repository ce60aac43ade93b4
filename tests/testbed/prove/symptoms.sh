pod late r/i:1 ready-after=2s
pod never r/i:1 ready-after=never
pod fall r/i:1 unready-after=1s
pod pull r/i:missing image-pull-error=true
pod config r/i:1 config-error=DB_URL
pod crash r/i:1 crash-loop=true exit-code=7 run-for=100ms
pod oom r/i:1 oom=true
pod thrice r/i:1 fail-times=2 run-for=100ms
pod evict r/i:1 evict-after=1s
pod stop r/i:1 stop-after=6s
pod stuck r/i:1 stop-after=never
pod typo r/i:1 ready-afer=2s
k create deployment scoped --image=r/i:1 --replicas=2 --dry-run=client -o yaml |
  kubectl patch --local -f - --type=merge -o yaml -p '{"spec":{"template":{"metadata":{"annotations":{"testbed.windlass.dev/image-pull-error":"true","testbed.windlass.dev/only-revision":"2"}}}}}' |
  k apply -f - >/dev/null
ready='{.status.conditions[?(@.type=="Ready")].status}'
waits='{.status.containerStatuses[0].state.waiting.reason}'
message='{.status.containerStatuses[0].state.waiting.message}'
last='{.status.containerStatuses[0].lastState.terminated'
restarts='{.status.containerStatuses[0].restartCount}'
events() { k get events --field-selector="involvedObject.name=$1,reason=$2" -o 'jsonpath={.items[*].message}'; }

soon 15 "image-pull-error: back-off" is ImagePullBackOff field pod/pull "$waits"
ok "image-pull-error: phase" is Pending field pod/pull '{.status.phase}'
soon 15 "image-pull-error: events" has 'Back-off pulling image "r/i:missing"' events pull BackOff
ok "image-pull-error: message" has "r/i:missing: not found" field pod/pull "$message"
soon 15 "config-error" is CreateContainerConfigError field pod/config "$waits"
ok "config-error: message" is "couldn't find key DB_URL in ConfigMap $NS/config" field pod/config "$message"
soon 15 "crash-loop: back-off" has "CrashLoopBackOff back-off" field pod/crash "$waits $message"
soon 15 "crash-loop: message" has "restarting failed container=main pod=crash_$NS" field pod/crash "$message"
soon 15 "crash-loop: exit code" is "7 Error" field pod/crash "$last.exitCode} $last.reason}"
soon 20 "crash-loop: restarts grow" bash -c "[ \$(kubectl -n $NS get pod crash -o jsonpath='$restarts') -ge 3 ]"
soon 20 "crash-loop: events" has "Back-off restarting failed container main" events crash BackOff
soon 15 "oom" is "137 OOMKilled" field pod/oom "$last.exitCode} $last.reason}"
soon 15 "fail-times: works after two failures" is "True 2" field pod/thrice "$ready $restarts"
soon 15 "evict-after" is "Failed Evicted" field pod/evict '{.status.phase} {.status.reason}'
ok "evict-after: condition" is True field pod/evict '{.status.conditions[?(@.type=="DisruptionTarget")].status}'
soon 15 "ready-after" is True field pod/late "$ready"
soon 15 "ready-after never" is "Running False" field pod/never "{.status.phase} $ready"
soon 15 "unready-after" is "Running False" field pod/fall "{.status.phase} $ready"
soon 15 "typing errors are told" has "no such symptom" events typo TestbedAnnotation
ok "scope: first revision works" k rollout status deployment/scoped --timeout=20s
k set image deployment/scoped i=r/i:2 >/dev/null
soon 15 "scope: second revision does not" has "ImagePullBackOff" k get pods -l app=scoped -o "jsonpath={.items[*].status.containerStatuses[0].state.waiting.reason}"
k set image deployment/scoped i=r/i:3 >/dev/null
ok "scope: the third does" k rollout status deployment/scoped --timeout=20s

k delete pod stop --grace-period=30 --wait=false >/dev/null
k delete pod stuck --wait=false >/dev/null
sleep 1.5
ok "stop-after: still there" k get pod stop
ok "stop-after never: still there past its grace" k get pod stuck
soon 20 "stop-after: gone" not k get pod stop
ok "stop-after never: only force helps" k delete pod stuck --force --grace-period=0
ok "stop-after never: gone" not k get pod stuck

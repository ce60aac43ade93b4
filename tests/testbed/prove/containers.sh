# Logs and exec through the API server.
pod talk r/i:1 logs="first line
    second line"
pod crash r/i:1 crash-loop=true run-for=100ms logs="about to fail"
pod plain r/i:1 exec-output=hello exec-exit-code=4
pod pull r/i:0 image-pull-error=true
ok "pods run" k wait --for=condition=ready pod/talk pod/plain --timeout=10s
ok "logs by annotation" is "first line second line" k logs talk
ok "default log" has "main started (r/i:1)" k logs plain
ok "timestamps" has "Z main started" k logs plain --timestamps
ok "tail" is "" k logs plain --tail=0
soon 15 "previous run" has "about to fail" k logs crash --previous
ok "no log without an image" has "trying and failing to pull image" k logs pull
k logs -f plain >"$WORK/follow" &
follower=$!
sleep 0.5
ok "exec prints" has hello k exec plain -- anything
ok "exec exit code" is 4 bash -c "kubectl -n $NS exec plain -- anything >/dev/null 2>&1; echo \$?"
ok "exec with success" k exec talk -- true
k delete pod plain >/dev/null
status=0
wait $follower || status=$?
ok "follow ends with the container" test $status = 0
ok "follow saw the end" has "main ended with exit code 0" cat "$WORK/follow"

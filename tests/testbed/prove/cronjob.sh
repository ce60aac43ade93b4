k create cronjob tick --image=registry.example/tick:1 --schedule='* * * * *' >/dev/null
ok "a job made from it" k create job now --from=cronjob/tick
ok "completes" k wait --for=condition=complete job/now --timeout=20s
soon 75 "the schedule starts one as well" bash -c "kubectl -n $NS get jobs -o name | grep -v job.batch/now"
soon 20 "and it completes" is "True" bash -c "kubectl -n $NS get jobs -o jsonpath='{.items[?(@.metadata.name!=\"now\")].status.conditions[?(@.type==\"Complete\")].status}' | cut -d' ' -f1"

# shellcheck shell=bash
# The story: one function a step, in the order in which they are told. Each needs what the ones before it left.

shop=apps/shop/stateful/prd

# approve PLAN REASON: alice signs a plan.
approve() {
  run 0 windlass approve "$1" --key keys/alice --as alice --yes --reason "$2" --out approvals
}

# deliver CODE: the approved delivery; the plan was shown a moment ago.
deliver() {
  VIEW=without_plan run "$1" windlass run --env prd.yaml --approvals approvals
}

first_delivery() {
  step 'The first delivery to production' \
    "A pipeline plans with an identity that can write nothing. The API server itself is asked about every object, as a dry-run. Alice reads the plan and signs its digest, and with her signature the delivery goes through its stages."
  cp -R ../examples/platform/. platform/
  extra_archive
  extra_dashboard
  propose start 'Add the shop and its database' quietly
  merge start
  VIEW='excerpt 16 14' run 0 windlass plan --env plan-prd.yaml --out plan
  approve plan/plan.json 'first delivery'
  deliver 0
  same 'ready members' 3 "$(ready)"
  same 'images' registry.example.com/shop/db:17.2 "$(images)"
  fact 'Three database members run 17.2, and the load balancer answers.'
}

a_change() {
  step 'A change, refused without an approval, then approved' \
    "A new minor version, and a setting. The plan says which fields change and that the members restart, one after the other. Nobody has approved it: the delivery stops with exit code 3. Then alice signs, and the same command goes through."
  sed -i 's/max_connections = 200/max_connections = 300/' platform/apps/shop/stateful/base/db.conf
  sed -i 's/newTag: "17.2"/newTag: "17.3"/' platform/apps/shop/stateful/base/kustomization.yaml
  propose release-17.3 'Run 17.3, allow 300 connections'
  merge release-17.3
  run 3 windlass run --env prd.yaml --out refused
  same 'images after the refusal' registry.example.com/shop/db:17.2 "$(images)"
  fact 'Nothing was written.'
  echo
  approve refused/plan.json 'release 17.3'
  VIEW=without_plan run 0 windlass run --env prd.yaml --approvals approvals --verbose
  same 'images' registry.example.com/shop/db:17.3 "$(images)"
  same 'ready members' 3 "$(ready)"
  fact 'All members were replaced and run 17.3; both smoke probes were answered.'
}

the_same_again() {
  step 'The same commit again' \
    "Running a delivery again is always safe. Nothing differs, so nothing is written and nobody has to approve. The API server's audit log is the witness."
  mark_audit
  deliver 0
  same 'requests' 'writes to delivered objects 0' "$(requests | sed 's/.*, //')"
  fact "The audit log counts: $(requests)."
}

an_unsigned_commit() {
  step 'An unsigned commit' \
    "In a hurry, somebody pushes straight to the protected branch. The commit is on the branch, but no pinned key has signed it."
  sed -i 's/log-level=info/log-level=debug/' platform/apps/shop/stateful/base/kustomization.yaml
  prompt git commit --all --message 'Quick fix' --no-gpg-sign
  as Dev git -C platform commit -q --all --no-gpg-sign -m 'Quick fix'
  prompt git push
  git -C platform push -q origin main
  echo
  mark_audit
  run 4 windlass run --env prd.yaml --approvals approvals
  same 'previews and writes' 'dry-runs 0, writes to delivered objects 0' "$(requests | sed 's/.*\(dry-runs .*,\) own.*,/\1/')"
  fact 'Refused at the first stage: nothing was rendered, previewed or written.'
}

an_object_removed() {
  step 'An object removed from Git' \
    "The reviewed way: the quick fix is taken back, and a dashboard that nobody needs any more is removed. What an earlier delivery put there, and no commit renders any more, is deleted: last of all, after rollout and smoke test, and only because the cluster's own records prove that it is ours."
  sed -i 's/log-level=debug/log-level=info/' platform/apps/shop/stateful/base/kustomization.yaml
  rm "platform/$shop/dashboard.yaml"
  sed -i '/dashboard.yaml/d' "platform/$shop/kustomization.yaml"
  propose tidy-up 'Take the quick fix back, remove the dashboard'
  merge tidy-up
  run 3 windlass run --env prd.yaml --out refused
  approve refused/plan.json 'not used since spring'
  same 'the dashboard is there' yes "$(exists configmap db-dashboard)"
  deliver 0
  same 'the dashboard is there' no "$(exists configmap db-dashboard)"
  fact 'The ConfigMap is gone; everything else was left alone.'
}

a_claim_removed() {
  step 'A claim removed from Git' \
    "A team retires its archiver and removes the file. Its volume claim stands in the same file, and the review lets it pass. A claim holds data: the plan is refused, and no approval overrules that. Deleting it takes a dated permission in the environment file on the agent, where no commit can put it."
  rm "platform/$shop/archive.yaml"
  sed -i '/archive.yaml/d' "platform/$shop/kustomization.yaml"
  propose retire-archiver 'Retire the archiver' quietly
  merge retire-archiver
  run 4 windlass run --env prd.yaml --approvals approvals
  same 'the claim is there' yes "$(exists persistentvolumeclaim db-archive)"
  fact 'The claim and its data are still there.'
  echo
  extra_archive
  propose keep-archiver 'Keep the archiver until the data is moved' quietly
  merge keep-archiver
}

a_hand_edit() {
  step 'A change by hand, found by the nightly check' \
    "During maintenance, bob raises the disruption budget with kubectl edit and forgets about it. At night, drift compares the cluster with what was delivered last, with an identity that cannot write."
  export KUBE_EDITOR="sed -i 's/maxUnavailable: 1/maxUnavailable: 3/'"
  show kubectl --kubeconfig bed/identities/bob.kubeconfig edit poddisruptionbudget db -n shop
  same 'the edited field' 3 "$(field poddisruptionbudget db .spec.maxUnavailable)"
  run 2 windlass drift --env drift-prd.yaml --out drift
  said kubectl-edit
  same 'who edited, by the audit log' bob "$(who_edited poddisruptionbudgets)"
  fact 'The field, both values, the manager that wrote it and the time. The audit log has the name: bob.'
  pause 1
  echo
  run 3 windlass run --env prd.yaml --out refused
  approve refused/plan.json 'the maintenance is over'
  deliver 0
  same 'the edited field' 1 "$(field poddisruptionbudget db .spec.maxUnavailable)"
  run 0 windlass drift --env drift-prd.yaml --out drift
  fact 'The next delivery undid it, after saying so.'
}

a_bad_upgrade() {
  step 'An upgrade that fails' \
    "A new major version is merged and approved, but it cannot read the files of the old one. (No container runs in the test control plane: an annotation in the commit makes the pods fail in this way.) The rollout does not wait for its deadline: it ends as soon as the cause is plain."
  sed -i 's/newTag: "17.3"/newTag: "18.0"/' platform/apps/shop/stateful/base/kustomization.yaml
  sed -i 's|^  template:|&\n    metadata:\n      annotations:\n        testbed.windlass.dev/crash-loop: "true"\n        testbed.windlass.dev/logs: "FATAL: data directory was initialised by version 17, this is 18.0"|' \
    "platform/$shop/statefulset.yaml"
  propose release-18.0 'Run 18.0'
  merge release-18.0
  run 3 windlass run --env prd.yaml --out refused
  approve refused/plan.json 'release 18.0'
  deliver 8
  said db-2
  said 'data directory was initialised by version 17'
  same 'ready members' 2 "$(ready)"
  fact 'The report names the pod, the container and the last line of its log.'
  fact 'Two members still run 17.3 and serve; nothing was pruned.'
}

going_back() {
  step 'Back to the previous commit' \
    "A rollback is an ordinary delivery of an older commit: verified, planned, approved. It wants a reason, and an approval of its own. One thing is special: a StatefulSet that starts its pods in order waits for its broken pod for ever, even when the template is good again. Where the environment file allows it, Windlass deletes exactly that pod."
  local reason='18.0 cannot read the data'
  run 3 windlass rollback --env prd.yaml --reason "$reason" --out rollback
  approve rollback/plan.json 'agreed on the phone'
  mark_audit
  VIEW=without_plan run 0 windlass rollback --env prd.yaml --reason "$reason" --approvals approvals
  same 'pods that were deleted' db-2 "$(deleted_pods)"
  same 'images' registry.example.com/shop/db:17.3 "$(images)"
  same 'ready members' 3 "$(ready)"
  fact 'One pod was deleted, db-2, the broken one. Three members run 17.3 again.'
}

looking_back() {
  step 'What has happened' 'Every run is recorded in the cluster, whether it went through or not.'
  run 0 windlass history --env prd.yaml
}

# shellcheck shell=bash
# What the cluster says about an effect.

# Windlass's requests since a place in the audit log, told apart. Dry-runs write nothing; records are its own.
mark_audit() { audit_from=$(($(stat -c %s bed/audit.log) + 1)); }
requests() {
  tail -c "+$audit_from" bed/audit.log | awk '
    !/"userAgent":"windlass\// { next }
    /"resource":"selfsubject/ || /"verb":"(get|list|watch)"/ { reads++; next }
    /dryRun=All/ { dry++; next }
    /"namespace":"windlass-system"/ { records++; next }
    { writes++ }
    END { printf "reads %d, dry-runs %d, own records %d, writes to delivered objects %d\n", reads, dry, records, writes }'
}

# deleted_pods: the pods that Windlass has deleted since then.
deleted_pods() {
  tail -c "+$audit_from" bed/audit.log |
    sed -n 's/.*"verb":"delete".*"userAgent":"windlass\/.*"resource":"pods",[^}]*"name":"\([^"]*\)".*/\1/p' | xargs
}

# images: the images that the members run, each once.
images() { kubectl get pods -n shop -l app.kubernetes.io/name=db -o 'jsonpath={range .items[*]}{.spec.containers[0].image}{"\n"}{end}' | sort -u | xargs; }

# ready: how many members are ready.
ready() { kubectl get statefulset db -n shop -o 'jsonpath={.status.readyReplicas}'; }

# exists KIND NAME: yes or no, in the namespace of the shop.
exists() { kubectl get "$1" "$2" -n shop >/dev/null 2>&1 && echo yes || echo no; }

# field KIND NAME PATH
field() { kubectl get "$1" "$2" -n shop -o "jsonpath={$3}"; }

# who_edited RESOURCE: the last user who changed such an object by another program than Windlass.
who_edited() {
  grep -F "\"resource\":\"$1\"" bed/audit.log | grep '"verb":"patch"' | grep -v '"userAgent":"windlass/' |
    sed 's/.*"user":{"username":"\([^"]*\)".*/\1/' | tail -n 1
}

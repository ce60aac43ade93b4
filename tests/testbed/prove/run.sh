#!/bin/bash
# Runs one part of the proof in a namespace of its own.
set -euo pipefail
part=$1
NS=prove-$part
export NS

say() { printf '%-12s %s\n' "$part" "$*"; }
k() { kubectl -n "$NS" "$@"; }

# ok TEXT COMMAND...: the command must succeed.
ok() {
  local text=$1 out
  shift
  if out=$("$@" 2>&1); then say "ok   $text"; else
    say "FAIL $text: $*: $out"
    exit 1
  fi
}

# soon SECONDS TEXT COMMAND...: the command must succeed within that time.
soon() {
  local end=$((SECONDS + $1)) text=$2 out
  shift 2
  until out=$("$@" 2>&1); do
    if [ $SECONDS -ge $end ]; then
      say "FAIL $text: $*: $out"
      exit 1
    fi
    sleep 0.1
  done
  say "ok   $text"
}

# is WANT COMMAND...: the command must print exactly that.
is() {
  local want=$1 got
  shift
  got=$("$@" 2>&1) || true
  [ "$got" = "$want" ] || { echo "got '$got', want '$want'"; return 1; }
}

# has TEXT COMMAND...: the command must print something with that text.
has() {
  local want=$1 got
  shift
  got=$("$@" 2>&1) || true
  [[ $got == *"$want"* ]] || { echo "got '$got', want a part '$want'"; return 1; }
}

not() { ! "$@"; }
field() { k get "$1" -o "jsonpath=$2"; }

# pod NAME IMAGE [ANNOTATION=VALUE...]: a Pod that restarts for ever.
pod() {
  local name=$1 image=$2
  shift 2
  {
    printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  annotations:\n    note: none\n' "$name"
    for a in "$@"; do printf '    testbed.windlass.dev/%s: "%s"\n' "${a%%=*}" "${a#*=}"; done
    printf 'spec:\n  terminationGracePeriodSeconds: 1\n  restartPolicy: %s\n  containers: [{name: main, image: "%s"}]\n' "${POLICY:-Always}" "$image"
  } | k create -f - >/dev/null
}

http() { curl -sS --noproxy '*' -m 5 "$@"; }

kubectl create namespace "$NS" >/dev/null
soon 10 "namespace is usable" k get serviceaccount default
# shellcheck source=/dev/null
. "$(dirname "$0")/$part.sh"

#!/bin/bash
# Proves with the stock kubectl what the README promises. Takes less than two
# minutes once the testbed is built. `prove.sh NAME...` runs only those parts.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$("$here/build.sh")
export PATH=$bin:$PATH
WORK=$(mktemp -d)
export WORK BED=$WORK/bed HERE=$here
export KUBECONFIG=$BED/kubeconfig
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy

cleanup() {
  testbed down "$BED" >/dev/null 2>&1 || true
  testbed down "$WORK/second" >/dev/null 2>&1 || true
  rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

testbed up "$BED" --watch-pid $$

# Parts that only use the testbed run side by side, each in a namespace of its
# own; parts that stop and start roles follow one by one. The CronJob waits for
# the full minute meanwhile, which a crash must not disturb.
together=(workloads stuck symptoms failures loadbalancer claims containers forward identities)
alone=(crashes lifecycle)
wanted=("$@")
want() { [ ${#wanted[@]} = 0 ] || printf '%s\n' "${wanted[@]}" | grep -qx "$1"; }

failed=()
declare -A pid
begin() {
  want "$1" || return 0
  bash "$here/prove/run.sh" "$1" >"$WORK/$1.out" 2>&1 &
  pid[$1]=$!
}
finish() {
  [ -n "${pid[$1]:-}" ] || return 0
  wait "${pid[$1]}" || failed+=("$1")
  cat "$WORK/$1.out"
}
begin cronjob
for part in "${together[@]}"; do begin "$part"; done
for part in "${together[@]}"; do finish "$part"; done
for part in "${alone[@]}"; do
  begin "$part"
  finish "$part"
done
finish cronjob
if [ ${#failed[@]} -gt 0 ]; then
  echo "FAILED: ${failed[*]}" >&2
  exit 1
fi
echo "all proven in $SECONDS s"

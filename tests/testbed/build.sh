#!/bin/sh
# Builds the testbed once for each state of its sources and prints the folder
# that holds the binary `testbed` and the link `kubectl`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cache=${WINDLASS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/windlass}
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly LC_ALL=C

# Tests do not end up in the binary, so they do not change the name either.
sum=$(cd "$here" && find cmd internal go.mod go.sum build.sh -type f ! -name '*_test.go' | sort |
  while read -r f; do printf '%s\n' "$f"; cat "$f"; done | sha256sum | cut -c1-16)
out=$cache/testbed-$sum
if [ ! -x "$out/testbed" ]; then
  mkdir -p "$cache"
  tmp=$(mktemp -d "$cache/.testbed-build.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 1' INT TERM
  echo "building the testbed (some minutes with an empty Go build cache, seconds otherwise)" >&2
  x='-s -w'
  for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    x="$x -X $p.gitVersion=v1.36.3 -X $p.gitMajor=1 -X $p.gitMinor=36 -X $p.gitCommit=windlass-testbed"
    x="$x -X $p.gitTreeState=clean -X $p.buildDate=1970-01-01T00:00:00Z"
  done
  (cd "$here" && go build -buildvcs=false -trimpath -ldflags "$x" -o "$tmp/testbed" ./cmd/testbed) >&2
  ln -s testbed "$tmp/kubectl"
  chmod 755 "$tmp"
  touch "$tmp" # the age of the folder decides which ones are kept
  # Somebody else may have been faster; either result is the same.
  mv -T "$tmp" "$out" 2>/dev/null || [ -x "$out/testbed" ]
fi
# The two newest builds are kept, for another work tree may use an older one,
# and so are those whose testbeds run.
ls -1dt "$cache"/testbed-* 2>/dev/null | tail -n +3 | while read -r old; do
  [ "$old" = "$out" ] || ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF "$old/" || rm -rf "$old"
done
echo "$out"

#!/bin/sh
# Builds one peer, once for each state of its sources, and prints the path of the binary.
# usage: build.sh floor|flux|kapp|helm
set -eu
name=$1
here=$(cd "$(dirname "$0")" && pwd)
case $name in
  floor | flux) package=. ;;
  kapp) package=carvel.dev/kapp/cmd/kapp ;;
  helm) package=helm.sh/helm/v4/cmd/helm ;;
  *) echo "unknown peer: $name" >&2; exit 2 ;;
esac
cache=${WINDLASS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/windlass}
export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS=-mod=readonly LC_ALL=C

sum=$(cd "$here" && find "$name" build.sh -type f | sort |
  while read -r f; do printf '%s\n' "$f"; cat "$f"; done | sha256sum | cut -c1-16)
out=$cache/bench-$name-$sum
if [ ! -x "$out" ]; then
  mkdir -p "$cache"
  tmp=$(mktemp "$cache/.bench-build.XXXXXX")
  trap 'rm -f "$tmp"' EXIT
  trap 'exit 1' INT TERM
  echo "building $name (some minutes with an empty Go build cache)" >&2
  # One package at a time, so that whatever else the machine does goes on.
  (cd "$here/$name" && nice -n 19 go build -p 1 -buildvcs=false -trimpath -ldflags '-s -w' -o "$tmp" "$package") >&2
  chmod 755 "$tmp"
  mv "$tmp" "$out"
fi
# Older builds of the same peer are of no use any more.
find "$cache" -maxdepth 1 -name "bench-$name-*" ! -path "$out" -exec rm -f {} +
echo "$out"

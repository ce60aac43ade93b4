#!/usr/bin/env bash
# tool.sh NAME VERSION: installs a cargo tool of exactly this version into the cache, once, and prints its path.
set -euo pipefail
name=$1 version=$2
root=${WINDLASS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/windlass}/tools/$name-$version
if [ ! -x "$root/bin/$name" ]; then
  echo "building $name $version, once" >&2
  cargo install --quiet --locked --root "$root" "$name" --version "$version" >&2
fi
echo "$root/bin/$name"

#!/usr/bin/env bash
# Measures Windlass beside kubectl on a control plane of its own and prints a table.
# OBJECTS says how many objects, 1000 without it.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(tests/testbed/build.sh | tail -n 1)
bed=$(mktemp -d "${TMPDIR:-/tmp}/windlass-bench.XXXXXX")
stop() {
  "$tools/testbed" down "$bed/bed" >/dev/null 2>&1 || true
  rm -rf "$bed"
}
trap stop EXIT

echo "building" >&2
cargo build --release --locked -p windlass -p windlass-bench
target=${CARGO_TARGET_DIR:-$PWD/target}/release

"$tools/testbed" up "$bed/bed" --watch-pid $$ >/dev/null
"$tools/kubectl" --kubeconfig "$bed/bed/kubeconfig" apply --server-side -f pipeline/rbac/ >/dev/null
"$target/windlass-bench" run --objects "${OBJECTS:-1000}" --bed "$bed/bed" --work "$bed/work" \
  --windlass "$target/windlass" --kubectl "$tools/kubectl"

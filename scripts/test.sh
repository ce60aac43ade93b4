#!/usr/bin/env bash
# Runs all tests. Those that need a cluster share one control plane, which is started here and stopped again.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$(tests/testbed/build.sh | tail -n 1)
programs=$(mktemp -d "${TMPDIR:-/tmp}/windlass-programs.XXXXXX")
bed=$(mktemp -d "${TMPDIR:-/tmp}/windlass-test.XXXXXX")
stop() {
  code=$?
  rm -rf "$programs"
  if [ "$code" -ne 0 ] && [ -n "${WINDLASS_KEEP_BED:-}" ]; then
    echo "the control plane is left running in $bed" >&2
    return
  fi
  "$tools/testbed" down "$bed" >/dev/null 2>&1 || true
  rm -rf "$bed"
}
trap stop EXIT

echo "building" >&2
cargo build --locked --workspace --all-targets
(cd tests/githost && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$programs/githost" .)

"$tools/testbed" up "$bed" --watch-pid $$
"$tools/kubectl" --kubeconfig "$bed/kubeconfig" apply --server-side -f pipeline/rbac/ >/dev/null

export WINDLASS_TEST_BED=$bed
export WINDLASS_TEST_KUBECONFIG=$bed/kubeconfig
export WINDLASS_TEST_KUBECTL=$tools/kubectl
export WINDLASS_TEST_TESTBED=$tools/testbed
export WINDLASS_TEST_GITHOST=$programs/githost
export WINDLASS_TEST_BINARY=${CARGO_TARGET_DIR:-$PWD/target}/debug/windlass
# Most tests wait for a server or a process: more of them than cores at a time.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-4} RUST_BACKTRACE=${RUST_BACKTRACE:-0}
cargo test --locked --workspace --no-fail-fast "$@"
(cd tests/testbed && CGO_ENABLED=0 go test -trimpath ./...)
tests/testbed/prove.sh

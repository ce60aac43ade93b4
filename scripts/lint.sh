#!/usr/bin/env bash
# The rules that CI holds the code to.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "== formatting" >&2
cargo fmt --check
badly=$(gofmt -l tests/testbed tests/githost tests/bench/peers)
[ -z "$badly" ] || { echo "gofmt: $badly" >&2; exit 1; }

echo "== clippy" >&2
cargo clippy --locked --workspace --all-targets -- -D warnings

echo "== dependencies" >&2
deny=$(scripts/tool.sh cargo-deny 0.20.2)
# Advisories need a database from the network: a job of its own where there is one.
"$deny" check bans licenses sources

echo "== documentation" >&2
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --document-private-items

echo "== Go" >&2
# The other peers are checked where they are built: their dependencies take minutes.
for module in testbed githost bench/peers/floor; do
  (cd "tests/$module" && CGO_ENABLED=0 go vet -trimpath ./...)
done

#!/usr/bin/env bash
# Measures Windlass beside other tools, each on a control plane of its own, and prints the tables of
# docs/performance.md. What is measured is kept at once: RESUME=1 goes on after an interruption.
#
#   OBJECTS="1000 10000"       sizes; 1000 without it
#   PEERS=kubectl,flux         of kubectl, flux, kapp, helm, kubectl-applyset; all without it
#   CASES=first,plan           of list, first, plan, remembered, changed, again, again-remembered, with those
#                              that fill the memory for them; all without it
#   SKIP=kapp/again            TOOL/STEP that are left out; without it, for large sets, what takes minutes and tells
#                              nothing new. SKIP= measures everything
#   REPEAT=3                   repeats every call but the first apply; the one in the middle counts
#   BUDGET=1200                seconds for each size; what does not fit is left out
#   OUT=target/bench           results.jsonl, bench.md and the output of every call
set -euo pipefail
cd "$(dirname "$0")/.."

out=${OUT:-target/bench}
peers=${PEERS:-kubectl,flux,kapp,helm,kubectl-applyset}
programs=$out/programs
[ -n "${RESUME:-}" ] || rm -f "$out/results.jsonl"
rm -rf "$programs" "$out/work"
mkdir -p "$programs"
out=$(realpath "$out") programs=$(realpath "$programs")

tools=$(tests/testbed/build.sh | tail -n 1)
ln -s "$tools/kubectl" "$programs/kubectl"
# A peer that does not build is a line of the table with the reason.
for peer in floor flux kapp helm; do
  [[ ,floor,$peers, == *,$peer,* ]] || continue
  if binary=$(tests/bench/peers/build.sh "$peer" 2>"$programs/$peer.failed"); then
    ln -s "$binary" "$programs/$peer"
    rm "$programs/$peer.failed"
  else
    echo "$peer does not build: $(tail -n 1 "$programs/$peer.failed")" >&2
  fi
done

echo "building windlass" >&2
"${CARGO:-cargo}" build --release --locked -p windlass -p windlass-bench
target=${CARGO_TARGET_DIR:-$PWD/target}/release
ln -s "$target/windlass" "$programs/windlass"

report() {
  "$target/windlass-bench" report --results "$out/results.jsonl" >"$out/bench.md"
  cat "$out/bench.md"
}
trap report EXIT

large=floor/plan-4,kubectl/plan-parallel,kubectl/changed,flux/changed,kapp/changed,helm/changed,kubectl-applyset/again
for objects in ${OBJECTS:-1000}; do
  skip=
  [ "$objects" -le 2000 ] || skip=$large
  "$target/windlass-bench" run --objects "$objects" --tools "floor,windlass,$peers" ${CASES:+--cases "$CASES"} \
    --skip "${SKIP-$skip}" --repeat "${REPEAT:-1}" --budget "${BUDGET:-1200}" --programs "$programs" \
    --testbed "$tools/testbed" --rights pipeline/rbac/ --work "$out/work" --results "$out/results.jsonl"
done

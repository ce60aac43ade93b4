#!/usr/bin/env bash
# Shows Windlass at work: a story of ten steps against a real Kubernetes control plane on this machine. Every step is
# checked; the demo ends with 0 only if everything went as it is told.
#
#   KEEP=1      leaves the control plane running, to look around
#   PACE=0      no pauses for reading; PACE=2 twice as long ones. Without a terminal there are none
#   NO_COLOR=1  no colours
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."

# shellcheck source-path=SCRIPTDIR source=demo/screen.sh
. scripts/demo/screen.sh
# shellcheck source-path=SCRIPTDIR source=demo/world.sh
. scripts/demo/world.sh
# shellcheck source-path=SCRIPTDIR source=demo/repository.sh
. scripts/demo/repository.sh
# shellcheck source-path=SCRIPTDIR source=demo/extras.sh
. scripts/demo/extras.sh
# shellcheck source-path=SCRIPTDIR source=demo/checks.sh
. scripts/demo/checks.sh
# shellcheck source-path=SCRIPTDIR source=demo/story.sh
. scripts/demo/story.sh
trap 'end_world $?' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cat <<PICTURE
$blue
    ┌┐  ┌───────────┐  ┌┐
    ││══│▒▒▒▒▒▒▒▒▒▒▒│══││══╗     ${bold}W I N D L A S S${plain}$blue
    ││  └─────┬─────┘  ││  ╚═o
    ┴┴        │        ┴┴        ${plain}One signed commit, one stage at a time.$blue
              ⚓
$plain
PICTURE

say "Programs: windlass, and etcd, API server, controllers and scheduler of Kubernetes in one binary. The first time, building them takes some minutes."
prepare_folder
cd .demo
demo=$PWD
clean_surroundings
SECONDS=0
say "Starting the control plane; making throw-away keys and a repository."
start_control_plane
make_keys
make_repository "$fingerprint"
write_environments
wait_for_policies
say "Ready. Everything is in .demo, and the commands below run there."

first_delivery
a_change
the_same_again
an_unsigned_commit
an_object_removed
a_claim_removed
a_hand_edit
a_bad_upgrade
going_back
looking_back

table
cat <<END

  Took $SECONDS s. Reports, one folder a run with plan and journal:  .demo/reports
  Environment files, approvals, repository:                        .demo/prd.yaml  .demo/approvals  .demo/platform
END
if [ -n "${KEEP:-}" ]; then
  cat <<END

  The control plane is still running. To look around:

    export KUBECONFIG=$demo/bed/kubeconfig PATH=$demo/bin:\$PATH
    kubectl get pods,statefulsets,persistentvolumeclaims -n shop
    kubectl get configmaps,leases -n windlass-system
    cd .demo && windlass status --env prd.yaml

  To stop it:  .demo/bin/testbed down .demo/bed
END
else
  printf '\n  The control plane is stopped now. To keep it and look around:  KEEP=1 make demo\n'
fi

# shellcheck shell=bash disable=SC2154
# Everything that the story needs: programs, a control plane, keys, a repository, environment files.

# prepare_folder: a new .demo, with the programs in its bin.
prepare_folder() {
  local tools
  tools=$(tests/testbed/build.sh | tail -n 1)
  cargo build --locked -p windlass
  if [ -d .demo ]; then
    "$tools/testbed" down .demo/bed >/dev/null 2>&1 || true
    rm -rf .demo
  fi
  mkdir -p .demo/{bin,keys,logs,home}
  ln -s "${CARGO_TARGET_DIR:-$PWD/target}/debug/windlass" "$tools/testbed" "$tools/kubectl" .demo/bin/
  export WINDLASS_KUSTOMIZE=$tools/kubectl
}

# Programs see what a CI agent would see, and nothing of the person who started the demo.
clean_surroundings() {
  local name
  for name in $(compgen -e | grep -E '^(CI|TF_BUILD|(GITHUB|BUILD|SYSTEM|GIT|KUBE|WINDLASS)_?[A-Z_]*|SUDO_USER)$'); do
    case $name in WINDLASS_KUSTOMIZE | GIT_CONFIG_* | GIT_TERMINAL_PROMPT) ;; *) unset "$name" ;; esac
  done
  export PATH=$PWD/bin:$PATH HOME=$PWD/home USER=ci-agent LOGNAME=ci-agent
  export KUBECONFIG=$PWD/bed/kubeconfig WINDLASS_CACHE=$PWD/cache LC_ALL=C.UTF-8
}

start_control_plane() {
  local watch=(--watch-pid $$)
  [ -z "${KEEP:-}" ] || watch=()
  testbed up bed "${watch[@]}" >logs/testbed-up.txt 2>&1 || {
    cat logs/testbed-up.txt >&2
    differs 'a control plane that runs' 'the messages above'
  }
  kubectl apply --server-side -f ../pipeline/rbac -f ../examples/policies >logs/administrator.txt
  # Somebody who may edit by hand.
  testbed identity bed bob >>logs/administrator.txt
  kubectl create clusterrolebinding bob --clusterrole=edit --user=bob >>logs/administrator.txt
}

# make_keys: sets `fingerprint`. The release key is the forge's; alice's key signs approvals.
make_keys() {
  # The agent's socket lies in this folder, and the path of a socket may have 107 characters only.
  gnupg=$(mktemp -d "${TMPDIR:-/tmp}/windlass-demo.XXXXXX")
  export GNUPGHOME=$gnupg
  gpg --batch --quiet --pinentry-mode loopback --passphrase '' \
    --quick-gen-key 'Platform release <release@example.com>' ed25519 sign never 2>logs/gpg.txt
  gpg --armor --export release@example.com >keys/release.asc
  fingerprint=$(gpg --list-keys --with-colons release@example.com 2>>logs/gpg.txt | awk -F: '$1 == "fpr" { print $10; exit }')
  ssh-keygen -q -t ed25519 -N '' -C alice@example.com -f keys/alice
}

# write_environments: prd.yaml for the delivery; the others sign in with less.
write_environments() {
  local text uid file
  uid=$(kubectl get namespace kube-system -o 'jsonpath={.metadata.uid}')
  text=$(<../examples/environments/prd.yaml)
  text=${text//@REPOSITORY@/"file://$PWD/platform.git"}
  text=${text//@FINGERPRINT@/"$fingerprint"}
  text=${text//@KEY_FILE@/keys/release.asc}
  text=${text//@APPROVER_KEY@/"$(<keys/alice.pub)"}
  text=${text//@REPORTS@/reports}
  text=${text/'# uid: 00000000-0000-0000-0000-000000000000'/"uid: $uid"}
  text=${text/'rollout: 15m'/'rollout: 40s'}
  text=${text/'smoke: 2m'/'smoke: 20s'}
  for file in run:prd plan:plan-prd drift:drift-prd; do
    printf '%s\n' "${text//@KUBECONFIG@/"bed/identities/windlass-${file%:*}.kubeconfig"}" >"${file#*:}.yaml"
  done
}

# Policies act up to a second after they were applied.
wait_for_policies() {
  local try
  for try in $(seq 50); do
    kubectl create --dry-run=server deployment probe --image=probe:latest >logs/policies.txt 2>&1 || return 0
    sleep 0.1
  done
  differs 'the policies act' "not after $try tries"
}

# end_world CODE: stops what was started. Called however the demo ends.
end_world() {
  local status=$1
  gpgconf --kill gpg-agent 2>/dev/null || true
  [ -z "${gnupg:-}" ] || rm -rf "$gnupg"
  [ -d "${demo:-}" ] || return 0
  if [ "$status" -ne 0 ]; then
    {
      [ -n "${explained:-}" ] || printf '\n%s✗ The demo stopped unexpectedly, with exit code %d.%s\n' "$red" "$status" "$plain"
      printf '  logs       .demo/logs (each command), .demo/bed/logs (control plane), .demo/reports (Windlass)\n'
    } >&2
  fi
  [ -n "${KEEP:-}" ] || testbed down "$demo/bed" >/dev/null 2>&1 || true
}

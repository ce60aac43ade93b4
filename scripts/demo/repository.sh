# shellcheck shell=bash disable=SC2154
# The platform's repository, as a forge would keep it: developers propose, the forge merges and signs.

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0

# as NAME COMMAND...: runs a command as this author and committer.
as() {
  local name=$1
  shift
  env "GIT_AUTHOR_NAME=$name" "GIT_AUTHOR_EMAIL=${name,,}@example.com" \
    "GIT_COMMITTER_NAME=$name" "GIT_COMMITTER_EMAIL=${name,,}@example.com" "$@"
}

# make_repository FINGERPRINT: the bare repository with one signed commit, and the clone in `platform`.
make_repository() {
  git init -q --bare --initial-branch=main platform.git
  git init -q --initial-branch=main platform
  git -C platform remote add origin ../platform.git
  git -C platform config user.signingkey "$1"
  as Forge git -C platform commit -q -S --allow-empty -m 'An empty repository'
  git -C platform push -q origin main
}

# propose BRANCH SUBJECT: a developer commits the work tree to a branch; shows what changes.
propose() {
  git -C platform switch -q -c "$1"
  git -C platform add --all
  as Dev git -C platform commit -q -m "$2"
  printf '  %sDev proposes: %s%s\n' "$dim" "$2" "$plain"
  [ "${3:-}" = quietly ] || lines_changed "main..$1"
}

# merge BRANCH: the forge merges it into the protected branch and signs the merge.
merge() {
  git -C platform switch -q main
  prompt git merge --no-ff -S "$1"
  as Forge git -C platform merge -q --no-ff -S -m "Merge $1: $(git -C platform log -1 --format=%s "$1")" "$1"
  git -C platform push -q origin main
  git -C platform log -1 --format='%h %s' | sed 's/^/  /'
  echo
}

# lines_changed RANGE: only the lines that differ, with the file's name above.
lines_changed() {
  git -C platform diff -U0 --no-color "$1" | awk -v red="$red" -v green="$green" -v plain="$plain" '
    /^--- / { old = substr($0, 7); next }
    /^\+\+\+ / { name = ($2 == "/dev/null" ? old " (removed)" : substr($0, 7)); print "    " name; next }
    /^-/ { print "      " red $0 plain }
    /^\+/ { print "      " green $0 plain }'
  echo
}

# shellcheck shell=bash disable=SC2034
# What the demo shows, and how it ends: titles, commands with their output, checks, the table at the end.
# The commands run in .demo; the output of each is kept in .demo/logs.

bold='' dim='' red='' green='' blue='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' blue=$'\e[36m' plain=$'\e[0m'
  # The commands' output goes through a pipe, so they are told that it ends at a terminal.
  export CLICOLOR_FORCE=1
fi

steps=()       # the titles
codes=()       # the exit codes of Windlass in each step, such as "3 0"
commands=0     # how many commands were shown

# pause SECONDS: time to read, where somebody reads. PACE=0 turns it off, PACE=2 doubles it.
pause() {
  [ -t 1 ] || return 0
  sleep "$(awk -v s="$1" -v pace="${PACE:-1}" 'BEGIN { print s * pace }')"
}

# say TEXT: one or more sentences, wrapped.
say() { printf '%s\n' "$1" | fold -s -w 88 | sed -e 's/ *$//' -e 's/^/  /'; }

heading() {
  printf '\n%s%s── %s %s%s\n\n' "$bold" "$blue" "$1" "$(printf '─%.0s' $(seq $((84 - ${#1}))))" "$plain"
}

# step TITLE TEXT: begins a step; the text says what happens and why.
step() {
  steps+=("$1")
  codes+=('')
  heading "${#steps[@]}  $1"
  say "$2"
  echo
  pause 1
}

# prompt COMMAND...: shows a command the way one would type it.
prompt() {
  local word line=''
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./:=,@%+-]+$ ]] || word="'$word'"
    line+=" $word"
  done
  printf '  %s$%s%s\n' "$dim" "$plain$bold" "$line$plain"
  pause 0.2
}

# show COMMAND...: shows a command, runs it, shows its output, and sets `code` and `log`.
# The variable VIEW names a filter that shortens what is shown.
show() {
  prompt "$@"
  commands=$((commands + 1))
  log=$(printf 'logs/%02d-%s.txt' "$commands" "${1##*/}-${2//[^a-z]/}")
  code=0
  "$@" </dev/null 2>&1 | tee "$log.raw" | ${VIEW:-cat} | sed 's/^./  &/' || code=${PIPESTATUS[0]}
  sed $'s/\e\\[[0-9;]*m//g' "$log.raw" >"$log" && rm "$log.raw"
  echo
}

# run CODE COMMAND...: the same for Windlass, and fails unless it ends with this code.
run() {
  local want=$1
  shift
  show "$@"
  case $2 in run | rollback | drift | history) codes[-1]+="${codes[-1]:+ → }$code" ;; esac
  [ "$code" = "$want" ] || differs "exit code $want of: $*" "exit code $code"
}

# said TEXT: the last command's output has this text.
said() {
  grep -qF -- "$1" "$log" || differs "the output of the last command says: $1" "it does not"
}

# same WHAT EXPECTED FOUND
same() {
  [ "$2" = "$3" ] || differs "$1: $2" "${3:-nothing}"
}

# fact TEXT: what the checks before this line have just proven.
fact() {
  printf '  %s✓%s %s\n' "$green" "$plain" "$1"
  pause 0.4
}

# differs EXPECTED FOUND: ends the demo.
differs() {
  {
    printf '\n%s✗ This is not what was announced.%s\n' "$red$bold" "$plain"
    printf '  step       %d  %s\n' "${#steps[@]}" "${steps[-1]:-preparation}"
    printf '  expected   %s\n  found      %s\n' "$1" "$2"
  } >&2
  explained=yes
  exit 1
}

# Shows the first and the last lines of something long: excerpt FIRST LAST
excerpt() {
  awk -v first="$1" -v last="$2" -v file="$log" '
    NR <= first { print; fflush(); next }
    { rest[++n] = $0 }
    END {
      if (n > last + 1) printf "  … %d more lines, all of them in .demo/%s\n", n - last, file
      for (i = (n > last + 1 ? n - last + 1 : 1); i <= n; i++) print rest[i]
    }'
}

# Leaves a plan out that was shown a moment ago.
without_plan() {
  awk '
    { bare = $0; gsub(/\033\[[0-9;]*m/, "", bare) }
    bare ~ /^Plan for / { skipped = 1; next }
    skipped && bare !~ /^(  (✓|✗|–) |error:)/ { skipped++; next }
    skipped { printf "    … the plan again, %d lines\n", skipped; skipped = 0 }
    { print; fflush() }'
}

table() {
  local i
  heading 'What was shown'
  for i in "${!steps[@]}"; do
    printf '  %s✓%s %2d  %-62s exit %s\n' "$green" "$plain" $((i + 1)) "${steps[i]}" "${codes[i]:--}"
  done
}

# shellcheck shell=bash
# The common part of the scripts of this folder. Sourced; $1 of the script is the build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
# shellcheck disable=SC2034 # for the scripts
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH=$build/bin:$PATH
unset STOA_DATA STOA_TOKEN XDG_DATA_HOME
scratch=$(mktemp -d "${TMPDIR:-/tmp}/stoa-test.XXXXXX")
export HOME=$scratch/home
mkdir -p "$HOME"
failures=0

# shellcheck disable=SC2317 # called by the trap
clean_up() {
  local code=$? run pid
  for run in "$scratch"/*/stoad.run "$scratch"/*/*/*/*/stoad.run; do
    if [ -f "$run" ]; then
      pid=$(sed -n 's/^pid=//p' "$run")
      kill "$pid" 2> /dev/null || true
      while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
    fi
  done
  rm -rf "$scratch"
  exit "$code"
}
trap clean_up EXIT

say_failed() {
  failures=$((failures + 1))
  echo "FAILED: $*" >&2
}

# expect CODE [TEXT] -- COMMAND...: runs it, compares its exit code, and looks for TEXT in its output.
expect() {
  local want=$1 text='' code=0
  shift
  if [ "$1" != -- ]; then
    text=$1
    shift
  fi
  shift
  "$@" > "$scratch/output" 2>&1 < /dev/null || code=$?
  if [ "$code" -ne "$want" ]; then
    say_failed "exit code $code instead of $want: $*"
    sed 's/^/    /' "$scratch/output" >&2
  elif [ -n "$text" ] && ! grep -q -F -- "$text" "$scratch/output"; then
    say_failed "no '$text' in what this printed: $*"
    sed 's/^/    /' "$scratch/output" >&2
  fi
}

# start_stoad DATA [FLAGS...]: on free ports, in the background.
start_stoad() {
  local data=$1
  shift
  expect 0 -- stoad --background --data "$data" --nfs-listen 127.0.0.1:0 --s3-listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 "$@"
}

run_value() { sed -n "s/^$2=//p" "$1/stoad.run"; }

stop_stoad() {
  local pid
  pid=$(run_value "$1" pid)
  kill "${2:--TERM}" "$pid"
  while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
}

end_test() {
  if [ "$failures" -ne 0 ]; then
    echo "$failures expectations failed" >&2
    exit 1
  fi
  echo "all expectations met"
}

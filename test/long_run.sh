# Functions for test/soak and test/powercut, which source this file after lib.sh: a run that can be
# ended early, and whose results up to then are checked. `parts` is the folder, below the work
# folder, of what the run needs; in it, the file `stop` ends the run. `report`, if set, is the file
# to which the last lines are appended, and with `keep` the work folder stays.
# shellcheck shell=bash

work=
stopped=0
passed=0
failed=1

# The first signal ends only the run. Its servers stay until everything is checked.
stop_early() {
  stopped=$((stopped + 1))
  if [[ $stopped -eq 1 && -n $work && -d $work/$parts ]]; then
    echo "stopping: the results so far will be checked"
    touch "$work/$parts/stop"
  else
    exit 130
  fi
}

finish() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP PIPE
  [[ -n $work ]] || exit "$status"
  set +e
  cd /
  end_children
  sweep "$work"
  if [[ -z $keep && ($failed -eq 0 || $status -eq 130) ]]; then
    rm -rf "$work"
  else
    echo "logs: $work/logs; servers, and what clients got: $work/tap $work/$parts"
  fi
  echo "$passed passed, $failed failed"
  exit "$status"
}

# prepare_run WHAT: prints what the run is, copies the server, and builds the extension.
prepare_run() {
  choose_user
  make_work_folder "snowflake-$parts"
  echo "working in $work; $1"
  mkdir "$work/logs"
  copy_source "$work/src"
  commit=$(git -c safe.directory="$project_root" -C "$project_root" describe --always --dirty 2>/dev/null || true)
  copy_server "$work/server"
  logged build make -j"$(nproc)" "PG_CONFIG=$PG_CONFIG" all install
  as_user mkdir -p "$work/tap" "$work/$parts"
}

# run_program PROGRAM COMMAND [VARIABLE...]: runs the program in the copied source with these
# variables, counts its results, and reports them under this command. Returns 1 if one failed.
run_program() {
  local program=$1 command=$2 run status=0 log
  shift 2
  log=$work/logs/$(basename "$program" .pl).log
  tap_environment "$work/tap"
  # In a separate process group, so that a terminal's signals reach only this script.
  (cd "$work/src" && as_user "${tap_environment[@]}" "$@" ${keep:+PG_TEST_NOCLEAN=1} setsid "${tap_perl[@]}" "$program") \
    2>&1 >"$log" </dev/null | tee "$work/logs/report" &
  run=$!
  while wait "$run" || status=$?; kill -0 "$run" 2>/dev/null; do status=0; done
  passed=$(grep -c '^ok ' "$log" || true)
  failed=$(grep -c '^not ok ' "$log" || true)
  if [[ $(sed -nE 's/^1\.\.([0-9]+)$/\1/p' "$log") != $((passed + failed)) ]]; then failed=$((failed + 1)); fi
  if [[ -n $report ]]; then
    {
      echo "$command"
      echo "$(date -u +%F), commit ${commit:-unknown}, $(. /etc/os-release && echo "$PRETTY_NAME"), $("$PG_CONFIG" --version), $(nproc) x $(lscpu | sed -n 's/^Model name: *//p')"
      sed -n '/^seed /,$p' "$work/logs/report"
      echo "$passed passed, $failed failed"
    } >>"$report"
  fi
  [[ $failed -eq 0 ]]
}

trap finish EXIT
trap stop_early INT TERM

# Functions for scripts that work in separate Debian systems, made by mmdebstrap: test/bare,
# test/clients, test/matrix, test/package and test/portable. bash sources this file after lib.sh.
# They need root.
# shellcheck shell=bash disable=SC2154

# Prints why no systems can be made on this machine, or nothing.
no_roots() {
  if [[ $(id -u) -ne 0 ]]; then
    echo "$0 needs root, to make separate systems and to enter them"
  elif ! command -v apt-get >/dev/null; then
    echo "$0 needs Debian or a derivative: there is no apt-get here"
  elif ! unshare --mount --pid --ipc --fork true 2>/dev/null; then
    echo "root may not mount anything here"
  elif ! command -v mmdebstrap >/dev/null; then
    echo "installing what is missing: mmdebstrap" >&2
    (apt-get update -qq >/dev/null && install_without_server mmdebstrap) >&2 || echo "mmdebstrap cannot be installed"
  fi
}

# bootstrap FOLDER SUITE VARIANT PACKAGES SOURCE-OR-OPTION...: makes a system. Its mirror may be a
# snapshot that is no longer valid.
bootstrap() {
  local folder=$1 suite=$2 variant=$3 packages=$4
  shift 4
  mmdebstrap --mode=root --variant="$variant" --aptopt='Acquire::Check-Valid-Until "false"' ${packages:+--include="$packages"} \
    "$suite" "$folder" "$@"
}

# make_debian FOLDER SUITE VARIANT [PACKAGES [OPTION...]]: makes a Debian in which packages start no
# services, because it has no init.
make_debian() {
  local folder=$1
  bootstrap "$1" "$2" "$3" "${4:-}" "deb $(debian_mirror) $2 main" "${@:5}"
  printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
  chmod +x "$folder/usr/sbin/policy-rc.d"
}

# enter FOLDER COMMAND...: replaces this shell by the command in that system, with separate mounts,
# processes and shared memory.
enter() {
  # shellcheck disable=SC2016
  exec unshare --mount --pid --ipc --fork --kill-child --propagation private bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/dev/shm"
    mount -t tmpfs tmpfs "$1/run"
    exec chroot "$@"' bash "$@"
}

# in_root FOLDER SCRIPT [ARGUMENT...]: runs a script in that system. When it ends, its processes
# end, and its mounts disappear.
in_root() {
  # shellcheck disable=SC2016
  unshare --mount --pid --ipc --fork --kill-child --propagation private bash -c '
    mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" &&
      exec env -i LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        chroot "$0" bash -euxo pipefail -c "$@"' "$@"
}

passed=0
failed=0

# begin_steps NAME: begins a script of steps, in a work folder of that name. If `keep` is set, the
# folder stays.
begin_steps() {
  local unfit
  work=
  trap 'finish_steps "$keep"' EXIT
  trap 'failed=1; exit 130' INT TERM HUP
  unfit=$(no_roots)
  [[ -z $unfit ]] || die "$unfit"
  # The user that owns the copied source exists only in the roots.
  unprivileged_user=
  make_work_folder "$1"
}

# step NAME COMMAND...: runs a test that is one command, with its output in `log`. Later steps need
# earlier ones, so the first failure ends the script.
step() {
  local name=$1 started=$SECONDS status
  log=$work/logs/$1.log
  shift
  mkdir -p "$(dirname "$log")"
  # In an `if`, `set -e` would not end the command at a failure.
  set +e
  (set -e; "$@") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [[ $status -eq 0 ]]; then
    echo "ok $name ($((SECONDS - started)) s)"
    passed=$((passed + 1))
  else
    echo "FAILED $name ($((SECONDS - started)) s)"
    tail -n 100 "$log" | sed 's/^/    /'
    failed=$((failed + 1))
    exit 1
  fi
}

# finish_steps [KEEP]: ends a script of steps. Unless `optional` is set, at least one step must have
# passed.
finish_steps() {
  trap - EXIT
  cd /
  if [[ -n $work ]]; then
    if [[ -n ${1:-} || $failed -gt 0 ]]; then
      echo "logs: $work/logs; roots: $(echo "$work"/*/*/)"
    else
      # Mounts in these folders have disappeared with their mount namespaces.
      rm -rf --one-file-system "$work"
    fi
  fi
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && ($passed -gt 0 || -n ${optional:-}) ]] || exit 1
}

# What test/package, test/bare, test/clients and test/matrix share: separate Debian systems, made by
# mmdebstrap, and steps in them. Sourced by bash after lib.sh; needs root.
# shellcheck shell=bash disable=SC2154

# Prints why there can be no roots on this machine, if so.
no_roots() {
  if [[ $(id -u) -ne 0 ]]; then
    echo "$0 needs root, to make systems of their own and to enter them"
  elif ! command -v apt-get >/dev/null; then
    echo "$0 needs Debian or one of its kin: there is no apt-get here"
  elif ! unshare --mount --pid --ipc --fork true 2>/dev/null; then
    echo "nothing may be mounted here, not even by root"
  elif ! command -v mmdebstrap >/dev/null; then
    echo "installing what is missing: mmdebstrap" >&2
    (apt-get update -qq >/dev/null && install_without_server mmdebstrap) >&2 || echo "mmdebstrap cannot be installed"
  fi
}

# bootstrap FOLDER SUITE VARIANT PACKAGES SOURCE-OR-OPTION...: a mirror may be a snapshot whose time has run out.
bootstrap() {
  local folder=$1 suite=$2 variant=$3 packages=$4
  shift 4
  mmdebstrap --mode=root --variant="$variant" --aptopt='Acquire::Check-Valid-Until "false"' ${packages:+--include="$packages"} \
    "$suite" "$folder" "$@"
}

# make_debian FOLDER SUITE VARIANT [PACKAGES [OPTION...]]: where no installation starts a service, for there is no init.
make_debian() {
  local folder=$1
  bootstrap "$1" "$2" "$3" "${4:-}" "deb $(debian_mirror) $2 main" "${@:5}"
  printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
  chmod +x "$folder/usr/sbin/policy-rc.d"
}

# enter FOLDER COMMAND...: replaces this shell by the command there, where mounts, processes and shared memory are its own.
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

# in_root FOLDER SCRIPT [ARGUMENT...]: runs a script there. Its processes end with it, and what it mounts goes with it.
in_root() {
  # shellcheck disable=SC2016
  unshare --mount --pid --ipc --fork --kill-child --propagation private bash -c '
    mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" &&
      exec env -i LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        chroot "$0" bash -euxo pipefail -c "$@"' "$@"
}

passed=0
failed=0

# begin_steps NAME: for the beginning of a script of steps, in a work folder of that name. `keep` says whether it stays.
begin_steps() {
  local unfit
  work=
  trap 'finish_steps "$keep"' EXIT
  trap 'failed=1; exit 130' INT TERM HUP
  unfit=$(no_roots)
  [[ -z $unfit ]] || die "$unfit"
  # Whose the copied source is to be is known in the roots only.
  unprivileged_user=
  make_work_folder "$1"
}

# step NAME COMMAND...: a test that is one command; what it prints is in `log`. What comes later needs what came before, so the first
# failure ends it.
step() {
  local name=$1 started=$SECONDS status
  log=$work/logs/$1.log
  shift
  mkdir -p "$(dirname "$log")"
  # Not inside of an `if`, where a command that fails would end nothing.
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

# finish_steps [KEEP]: for the end of a script of steps. Without `optional` at least one must have passed.
finish_steps() {
  trap - EXIT
  cd /
  if [[ -n $work ]]; then
    if [[ -n ${1:-} || $failed -gt 0 ]]; then
      echo "logs: $work/logs; roots: $(echo "$work"/*/*/)"
    else
      # Everything that was mounted there went with the name space that it was mounted in.
      rm -rf --one-file-system "$work"
    fi
  fi
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && ($passed -gt 0 || -n ${optional:-}) ]] || exit 1
}

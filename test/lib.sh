# Functions for the scripts in test/. bash sources this file, with `set -euo pipefail`.
#
# The rule: the scripts change nothing outside one work folder, and touch no server that they did
# not start. So they copy the server's programs and install the extension into the copy. They do all
# of this as a user without privileges, because PostgreSQL refuses to run as root. The only
# exception is missing packages: the scripts announce that they install these.
# shellcheck shell=bash

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# --------------------------------------------------------------------------------------------------
# The user
# --------------------------------------------------------------------------------------------------

# Sets unprivileged_user, the user that runs everything. It is empty if the caller is not root.
choose_user() {
  unprivileged_user=
  if [[ $(id -u) -eq 0 ]]; then
    if id -u postgres >/dev/null 2>&1; then unprivileged_user=postgres; else unprivileged_user=nobody; fi
  fi
}

# become COMMAND...: the shell becomes the command, without privileges, with the work folder as its
# home. In background commands bash ignores some signals, so their default actions are restored.
become() {
  set -- env --default-signal="INT,QUIT" HOME="$work" TMPDIR="$work/tmp" "$@"
  if [[ -n $unprivileged_user ]]; then set -- runuser -u "$unprivileged_user" -- "$@"; fi
  exec "$@"
}

# as_user COMMAND...: runs the command in that way.
as_user() { (become "$@"); }

# tenths_of_processors: prints how many tenths of a processor this process may use: those of the
# machine, or fewer in a control group with a quota, as containers have.
tenths_of_processors() {
  local tenths=$((10 * $(nproc))) folder quota='' period
  folder=$(grep -E '^[0-9]+:([^:]*,)?cpu(,[^:]*)?:|^0::' /proc/self/cgroup | head -n 1 || true)
  case $folder in
    0::*) if [[ -f /sys/fs/cgroup${folder#0::}/cpu.max ]]; then read -r quota period <"/sys/fs/cgroup${folder#0::}/cpu.max"; fi ;;
    *)
      folder=/sys/fs/cgroup/cpu${folder#*:*:}
      if [[ -f $folder/cpu.cfs_quota_us ]]; then
        read -r quota <"$folder/cpu.cfs_quota_us"
        read -r period <"$folder/cpu.cfs_period_us"
      fi
      ;;
  esac
  if [[ $quota =~ ^[0-9]+$ && $((10 * quota / period)) -lt $tenths ]]; then tenths=$((10 * quota / period)); fi
  echo $((tenths > 0 ? tenths : 1))
}

# Whether enough memory is available for the servers of all tests.
memory_has_room() { [[ $(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) -ge $((10 << 20)) ]]; }

# Prints /dev/shm if it also has enough room, and if programs in it can be executed.
memory_folder() {
  local program
  memory_has_room && [[ $(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) -ge $((6 << 20)) ]] || return 1
  program=$(mktemp /dev/shm/snowflake-program.XXXXXX) || return 1
  if ! { install -m 700 "$(type -P true)" "$program" && "$program"; } 2>/dev/null; then rm -f "$program" && return 1; fi
  rm -f "$program"
  echo /dev/shm
}

# make_work_folder NAME: makes a folder that the unprivileged user owns, sets `work` to it, and
# changes to it. The path of a socket must be shorter than 107 bytes, so a long TMPDIR is not used.
# If `work_in_memory` is set, root mounts a file system in memory there; if the mount fails,
# `work_in_memory` becomes empty.
make_work_folder() {
  local parent=${TMPDIR:-/tmp}
  if [[ ${#parent} -gt 50 ]]; then parent=/tmp; fi
  if [[ -n $unprivileged_user ]] && ! runuser -u "$unprivileged_user" -- test -x "$parent"; then parent=/tmp; fi
  work=$(mktemp -d "$parent/$1.XXXXXX")
  work=$(cd "$work" && pwd -P)
  if [[ -n ${work_in_memory:-} ]]; then mount -t tmpfs -o mode=755 snowflake-test "$work" 2>/dev/null || work_in_memory=; fi
  mkdir "$work/tmp"
  give_to_user "$work"
  cd "$work" || exit
}

# keep_work_folder: copies a work folder in memory to the disk, with the same path.
keep_work_folder() {
  if [[ -n ${work_in_memory:-} ]]; then
    cp -a "$work" "$work.kept"
    leave_memory
    rmdir "$work"
    mv "$work.kept" "$work"
  fi
}

remove_work_folder() {
  if [[ -n ${work_in_memory:-} ]]; then leave_memory; fi
  rm -rf "$work"
}

# A process that is ending may still use the folder.
leave_memory() { umount "$work" 2>/dev/null || umount --lazy "$work"; }

give_to_user() {
  if [[ -n $unprivileged_user ]]; then chown -R -h "$unprivileged_user:" "$@"; fi
}

# The caller's environment must not lead a test to another server.
forget_pg_environment() {
  local name
  for name in $(compgen -e PG); do
    case $name in
      PG_CONFIG | PGCTLTIMEOUT | PG_TEST_EXTRA | PG_TEST_TIMEOUT_DEFAULT) ;;
      *) unset "$name" ;;
    esac
  done
  unset MAKEFLAGS MFLAGS MAKELEVEL CDPATH
  export LC_ALL=C.UTF-8
}

# --------------------------------------------------------------------------------------------------
# Packages
# --------------------------------------------------------------------------------------------------

# Whether pg_config belongs to a server that can be copied and built against.
pg_config_is_whole() {
  local pg_config=$1 pgxs
  [[ -x $pg_config ]] || return 1
  pgxs=$("$pg_config" --pgxs 2>/dev/null) || return 1
  [[ -f $pgxs && -x $(dirname "$pgxs")/../test/regress/pg_regress &&
    -f $("$pg_config" --includedir-server)/postgres.h &&
    -x $("$pg_config" --bindir)/initdb && -x $("$pg_config" --bindir)/postgres ]]
}

# Prints the versions of Debian's packages that have the program $1, newest first.
debian_versions_with() {
  local program
  for program in /usr/lib/postgresql/*/bin/"$1"; do
    [[ -x $program ]] || continue
    program=${program#/usr/lib/postgresql/}
    program=${program%%/*}
    if [[ $program =~ ^[0-9]+$ && $program -ge 15 ]]; then printf '%s\n' "$program"; fi
  done | sort -rn
}

# Sets PG_CONFIG, if the environment does not, to the newest complete server. Fails if there is
# none.
find_pg_config() {
  local version
  if [[ -n ${PG_CONFIG:-} ]]; then
    PG_CONFIG=$(command -v "$PG_CONFIG") || die "there is no program $PG_CONFIG"
    pg_config_is_whole "$PG_CONFIG" || die "$PG_CONFIG: the server, its headers or its test programs are missing"
    return 0
  fi
  for version in $(debian_versions_with pg_config); do
    if pg_config_is_whole "/usr/lib/postgresql/$version/bin/pg_config"; then
      PG_CONFIG=/usr/lib/postgresql/$version/bin/pg_config
      return 0
    fi
  done
  return 1
}

# Prints which version to install if no server is complete: the newest one that is installed, which
# then lacks only headers, otherwise Debian's own. Before its first update apt does not know that
# version.
version_to_install() {
  local version
  version=$(debian_versions_with postgres | sed -n 1p)
  if [[ -z $version ]]; then
    version=$({ apt-cache depends postgresql 2>/dev/null || true; } | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p')
  fi
  if [[ -z $version ]]; then version=$(. /etc/os-release && debian_version "${VERSION_CODENAME:-}"); fi
  printf '%s\n' "${version:-15}"
}

# Prints the newest clang++ that is installed; fails if there is none.
newest_clang() {
  local program
  program=$(compgen -G '/usr/bin/clang++-[0-9]*' | sort -V | tail -n 1) || program=$(command -v clang++) || return
  printf '%s\n' "$program"
}

# Whether clang is installed, with the fuzzer's library.
clang_can_fuzz() {
  local program
  program=$(newest_clang) && compgen -G "$("$program" -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null
}

# clang_to_install: prints the highest N for which apt knows a package clang-N, if there is one.
clang_to_install() { { apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null || true; } | sed -n 's/^clang-\([0-9]*\) .*/\1/p' | sort -n | tail -n 1; }

# missing_packages KIND...: prints the missing packages. `build` needs only those that every kind
# needs; `test`, `fuzz`, `model`, `power`, `bench` and `citus` need more, and `clang` means the newest clang.
missing_packages() {
  local version clang kinds=" $* "
  command -v g++ >/dev/null || echo g++
  command -v make >/dev/null || echo make
  command -v perl >/dev/null || echo perl
  if [[ $kinds = *" test "* ]]; then
    [[ -f /usr/include/gtest/gtest.h ]] || echo libgtest-dev
    [[ -f /usr/include/openssl/evp.h ]] || echo libssl-dev
    perl -MIPC::Run -e 1 2>/dev/null || echo libipc-run-perl
    command -v git >/dev/null || echo git
    command -v unzip >/dev/null || echo unzip
    /usr/bin/python3 -c 'import yaml, yamllint' 2>/dev/null || echo yamllint
    /usr/bin/python3 -c 'import psycopg' 2>/dev/null || echo python3-psycopg
    /usr/bin/python3 -c 'import cryptography' 2>/dev/null || echo python3-cryptography
    perl -MTest::More -MJSON::PP -e 1 2>/dev/null || echo perl
  fi
  if [[ $kinds = *" fuzz "* || $kinds = *" clang "* ]]; then
    clang=$(clang_to_install)
    if ! clang_can_fuzz || [[ -n $clang && $kinds = *" clang "* && $(newest_clang) != *"-$clang" ]]; then
      printf '%s\n' "clang${clang:+-$clang}" "libclang-rt${clang:+-$clang}-dev"
    fi
  fi
  if [[ $kinds = *" model "* ]]; then
    command -v spin >/dev/null || echo spin
    command -v gcc >/dev/null || echo gcc
  fi
  if [[ $kinds = *" power "* ]]; then
    command -v qemu-system-x86_64 >/dev/null || echo qemu-system-x86
    command -v nbdkit >/dev/null || echo nbdkit
    [[ -f /usr/include/nbdkit-plugin.h ]] || echo nbdkit-plugin-dev
    command -v cpio >/dev/null || echo cpio
    command -v xz >/dev/null || echo xz-utils
  fi
  if [[ $kinds = *" bench "* ]]; then command -v gnuplot >/dev/null || echo gnuplot-nox; fi
  if [[ $kinds = *" citus "* ]]; then
    # The headers of Debian's server that Citus includes need these headers.
    [[ -f /usr/include/zstd.h ]] || echo libzstd-dev
    [[ -f /usr/include/gssapi/gssapi.h ]] || echo libkrb5-dev
    [[ -f /usr/include/unicode/ucol.h ]] || echo libicu-dev
    # PostgreSQL 18's headers promise libcurl, whatever options Citus is configured with.
    command -v curl-config >/dev/null || echo libcurl4-openssl-dev
    command -v xz >/dev/null || echo xz-utils
  fi
  if ! find_pg_config; then
    version=$(version_to_install)
    [[ -x /usr/lib/postgresql/$version/bin/postgres ]] || echo "postgresql-$version"
    echo "postgresql-server-dev-$version"
  fi
}

# need_packages KIND...: installs the packages that are missing for these kinds, or prints how to.
need_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@" | sort -u)
  if [[ ${#missing[@]} -gt 0 ]]; then
    command -v apt-get >/dev/null || die "these Debian packages, or what they contain, are missing: ${missing[*]}"
    if [[ $(id -u) -ne 0 ]]; then
      sudo -n true 2>/dev/null || die "something is missing; please run" \
        "apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" "as root"
      as_root=(sudo -n)
    fi
    echo "installing what is missing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq >/dev/null
    # Before the update apt may not have known which server to install.
    mapfile -t missing < <(missing_packages "$@" | sort -u)
    install_without_server "${missing[@]}"
    hash -r
    mapfile -t missing < <(missing_packages "$@" | sort -u)
    [[ ${#missing[@]} -eq 0 ]] || die "still missing after the installation: ${missing[*]}"
  fi
  find_pg_config
}

# Debian's server packages create and start a cluster, unless a file in createcluster.d forbids it.
# This file exists only during the installation.
install_without_server() (
  folder=/etc/postgresql-common/createcluster.d
  file=$folder/snowflake-tests.conf
  as_root=()
  if [[ $(id -u) -ne 0 ]]; then as_root=(sudo -n); fi
  output=$(mktemp)
  cleanup() {
    "${as_root[@]}" rm -f "$file"
    "${as_root[@]}" rmdir --ignore-fail-on-non-empty "$folder"
    rm -f "$output"
  }
  trap cleanup EXIT
  "${as_root[@]}" mkdir -p "$folder"
  echo "create_main_cluster = false" | "${as_root[@]}" tee "$file" >/dev/null
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 "$@" >"$output" 2>&1 </dev/null; then
    cat "$output" >&2
    die "the installation failed"
  fi
)

# Prints the mirror of Debian that this machine's apt uses.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian" { print $2; exit }')
  printf '%s\n' "${mirror:-http://deb.debian.org/debian}"
}

# debian_suite VERSION: prints the release of Debian that has this version of PostgreSQL.
debian_suite() {
  case $1 in
    15) echo bookworm ;;
    17) echo trixie ;;
    18) echo forky ;;
    19) echo experimental ;;
    *) return 1 ;;
  esac
}

# debian_version SUITE: prints the version of PostgreSQL in this release, or nothing.
debian_version() {
  local version
  for version in 15 17 18; do
    if [[ $(debian_suite "$version") = "$1" ]]; then echo "$version"; fi
  done
}

# --------------------------------------------------------------------------------------------------
# Source and server
# --------------------------------------------------------------------------------------------------

# logged NAME COMMAND...: runs the command in the copied source. If the command fails, prints the
# end of its output and ends the script.
logged() {
  local log=$work/logs/$1.log
  shift
  (cd "$work/src" && as_user "$@") >"$log" 2>&1 </dev/null || { tail -n 50 "$log" >&2; exit 1; }
}

# copy_source FOLDER: copies the working tree, without its history and its build products. The
# checkout may belong to another user. If an editor or another build writes into it at the same
# time, tar exits with 1.
copy_source() {
  mkdir -p "$1"
  { tar -C "$project_root" --warning=no-file-changed --warning=no-file-removed --exclude=./.git \
    --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude='*.d' --exclude=./src/convert/queries.h --exclude=./results --exclude=./output_iso \
    --exclude=./tmp_check --exclude=./tmp_check_iso --exclude=./log --exclude='./regression.*' --exclude=./test/.server \
    -cf - . || [[ $? -eq 1 ]]; } | tar -C "$1" --no-same-owner -xf -
  give_to_user "$1"
}

# copy_server PREFIX [VARIABLE]: copies the server whose pg_config is the variable's value, by
# default PG_CONFIG's, and sets the variable to the copy's pg_config. A server finds its files
# relative to its program, so the copy works if its folders keep their relative positions.
copy_server() {
  local prefix=$1 bindir top version
  local -n config=${2:-PG_CONFIG}
  bindir=$("$config" --bindir)
  # Debian's folders, below / or in another root.
  if [[ $bindir =~ ^(/.*)/lib/postgresql/([0-9]+)/bin$ ]]; then
    top=${BASH_REMATCH[1]}
    version=${BASH_REMATCH[2]}
    mkdir -p "$prefix/lib/postgresql" "$prefix/share/postgresql" "$prefix/include"
    cp -a "$top/lib/postgresql/$version" "$prefix/lib/postgresql/"
    cp -a "$top/share/postgresql/$version" "$prefix/share/postgresql/"
    ln -s "$top/include/postgresql" "$prefix/include/postgresql"
    config=$prefix/lib/postgresql/$version/bin/pg_config
  else
    top=${bindir%/bin}
    case $("$config" --sharedir):$("$config" --pkglibdir):$top in
      *:/usr | *:/usr/local) die "$config: the server shares $top with other programs and cannot be copied" ;;
      "$top"/*:"$top"/*:*) ;;
      *) die "$config: the server's folders are not under $top, so it cannot be copied" ;;
    esac
    mkdir -p "$prefix"
    # test/source_server leaves the server's source there.
    tar -C "$top" --exclude=./src -cf - . | tar -C "$prefix" -xf -
    config=$prefix/bin/pg_config
  fi
  # An extension that is installed in the original is not the one under test.
  rm -f "$("$config" --pkglibdir)"/snowflake{,_convert}.so "$("$config" --sharedir)"/extension/snowflake{,_convert}{--*.sql,.control}
  give_to_user "$prefix"
  server_bin=$("$PG_CONFIG" --bindir)
  pgxs=$("$PG_CONFIG" --pgxs)
}

# apt_knows PACKAGE...: whether apt knows all of these packages. `apt-cache show` exits with 0 if it
# knows one of them, or a package that mentions one.
apt_knows() {
  [[ $(apt-cache show --no-all-versions "$@" 2>/dev/null | grep -c '^Package: ') -eq $# ]]
}

# know_packages PACKAGE...: updates apt's lists unless apt knows all of these packages.
know_packages() {
  local as_root=()
  if apt_knows "$@"; then return 0; fi
  if [[ $(id -u) -ne 0 ]]; then as_root=(sudo -n); fi
  "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 || true
}

# unpack_packages FOLDER PACKAGE...: downloads and unpacks those that are available.
unpack_packages() (
  mkdir -p "$1"
  cd "$1" || exit 1
  shift
  # One call for all packages, because apt's start takes longer than a download. If one package is
  # not available, this call downloads none.
  apt-get download -qq "$@" >/dev/null 2>&1 ||
    for package in "$@"; do apt-get download -qq "$package" >/dev/null 2>&1 || true; done
  for package in *.deb; do
    if [[ -f $package ]]; then dpkg-deb -x "$package" . || exit 1; fi
    rm -f "$package"
  done
)

# unpack_neighbours FOLDER: unpacks pgbouncer into FOLDER, and pg_partman and pglogical into the copied
# server.
# They are not installed, because an installed pgbouncer starts a service. Returns 1 if they are not
# available; their tests are then skipped.
unpack_neighbours() {
  local folder=$1 version control package libraries packages=()
  control=$("$PG_CONFIG" --sharedir)/extension/pg_partman.control
  version=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  command -v pgbouncer >/dev/null || [[ -x /usr/sbin/pgbouncer ]] || packages+=(pgbouncer)
  if [[ ! -f $control && $PG_CONFIG = */lib/postgresql/*/bin/pg_config ]]; then
    packages+=("postgresql-$version-partman" "postgresql-$version-pglogical")
  fi
  [[ ${#packages[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null || return 1
  know_packages "${packages[@]}"
  if [[ ${packages[0]} = pgbouncer ]]; then
    libraries=$({ apt-cache depends pgbouncer 2>/dev/null || true; } |
      sed -nE 's/.*Depends: (libc-ares.*|libcares.*|libevent.*)$/\1/p')
    while read -r package; do packages+=("$package"); done < <(printf '%s' "$libraries${libraries:+$'\n'}")
  fi
  unpack_packages "$folder" "${packages[@]}" || return 1
  if [[ -d $folder/usr/share/postgresql/$version/extension ]]; then
    cp -a "$folder/usr/share/postgresql/$version/extension/." "$("$PG_CONFIG" --sharedir)/extension/"
    cp -a "$folder/usr/lib/postgresql/$version/lib/." "$("$PG_CONFIG" --pkglibdir)/"
    give_to_user "$("$PG_CONFIG" --sharedir)" "$("$PG_CONFIG" --pkglibdir)"
  fi
  give_to_user "$folder"
}

# unpack_beside FOLDER PACKAGE...: unpacks Debian's packages, and the packages that apt would
# install with them. They are not installed, because tests must not change the system, and some
# packages start services. Returns 1 if they are not available; their tests are then skipped.
unpack_beside() {
  local folder=$1 all
  shift
  command -v apt-get >/dev/null || return 1
  know_packages "$@"
  mapfile -t all < <(apt-get install --simulate --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
  unpack_packages "$folder" "${all[@]}" || return 1
  give_to_user "$folder"
}

# make_server FOLDER [SETTING...]: makes a cluster in FOLDER/data, with the superuser `postgres`,
# and starts it. It listens only on a socket in FOLDER/socket, which only its owner and root can
# use. SNOWFLAKE_PRELOAD=session preloads the library with each session, 0 not at all.
# `server_environment` has variables for its environment, as NAME=VALUE.
server_environment=()
make_server() {
  local folder=$1 setting preload="shared_preload_libraries = 'snowflake'"
  shift
  case ${SNOWFLAKE_PRELOAD:-1} in
    0) preload= ;;
    session) preload="session_preload_libraries = 'snowflake'" ;;
  esac
  as_user mkdir -p "$folder"
  as_user mkdir -m 700 "$folder/socket"
  as_user "$server_bin/initdb" --no-sync -A trust -U postgres -E UTF8 --locale=C -D "$folder/data" \
    >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; return 1; }
  for setting in "listen_addresses = ''" "unix_socket_directories = '$folder/socket'" "unix_socket_permissions = 0700" \
    "$preload" "$@"; do
    printf '%s\n' "$setting"
  done | as_user tee -a "$folder/data/postgresql.conf" >/dev/null
  as_user env "${server_environment[@]}" "$server_bin/pg_ctl" -s -w -t "${PGCTLTIMEOUT:-$((60 * ${SNOWFLAKE_SLOWNESS:-1}))}" -D "$folder/data" -l "$folder/server.log" start >/dev/null ||
    { tail -n 50 "$folder/server.log" >&2; return 1; }
}

stop_server() {
  as_user "$server_bin/pg_ctl" -s -w -t "${PGCTLTIMEOUT:-$((60 * ${SNOWFLAKE_SLOWNESS:-1}))}" -m fast -D "$1/data" stop
}

# tap_environment FOLDER: sets `tap_environment`, a command that sets the environment of programs
# with PostgreSQL's Perl modules, with this folder for their servers; and `tap_perl`, the Perl that
# finds these modules and the project's.
tap_environment() {
  local test_programs=${pgxs%/*}/../test
  # PostgreSQL 15 reads TESTDIR, later versions read the other two.
  tap_environment=(env TESTDIR="$1" TESTDATADIR="$1/tmp_check" TESTLOGDIR="$1/tmp_check/log"
    PATH="$server_bin:$PATH" PG_REGRESS="$test_programs/regress/pg_regress"
    PGCTLTIMEOUT=$((60 * ${SNOWFLAKE_SLOWNESS:-1})) SNOWFLAKE_CLOCK_SHIM="$work/src/test/clock/clock_shim.so"
    SNOWFLAKE_TEMPLATE="$work/tap/template")
  tap_perl=(perl -I "$test_programs/perl" -I test/perl)
}

# end_children: ends this shell's background jobs. bash must not report them as killed.
end_children() {
  local children
  mapfile -t children < <(jobs -p)
  disown -a
  if [[ ${#children[@]} -gt 0 ]]; then kill "${children[@]}" 2>/dev/null || true; fi
}

# sweep FOLDER: ends all processes whose working folder is inside FOLDER. First come those that are
# not servers, because they could start more. Servers get a signal by their pid files, so that they
# remove their shared memory. Then all others are killed. At the end it removes the shared memory
# that servers keep for their next start.
sweep() {
  local folder=$1 file pid round
  kill_inside "$folder" but_servers
  while IFS= read -r file; do
    pid=$(head -n 1 "$file" 2>/dev/null) || continue
    # If a server has no postmaster, as in initdb, this is a negative number. Such a server ends
    # when the process that writes to it has ended.
    [[ $pid =~ ^-?[0-9]+$ && $(readlink "/proc/${pid#-}/cwd") = "$(dirname "$file")" ]] || continue
    if [[ $pid = -* ]]; then
      pid=${pid#-}
    else
      kill -QUIT "$pid" 2>/dev/null || true
    fi
    kill -CONT "$pid" 2>/dev/null || true
    for ((round = 0; round < 50; round++)); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done < <(find "$folder" -name postmaster.pid 2>/dev/null)
  kill_inside "$folder"
  remove_boxes "$folder"
}

# remove_boxes FOLDER: removes the shared memory objects of servers inside FOLDER, which killed
# servers leave behind. From byte 16 on, each contains the path of its server's data directory. They
# are files only on some systems.
remove_boxes() {
  # shellcheck disable=SC2016
  ! compgen -G '/dev/shm/snowflake.*' >/dev/null || perl -e '
    for my $file (grep { -f $_ && !-l $_ } glob "/dev/shm/snowflake.*") {
      open(my $box, "<:raw", $file) && read($box, my $head, 272) && $head =~ m{^.{16}\Q$ARGV[0]\E/}s && unlink $file;
    }' "$1"
}

# processes_in FOLDER [but_servers]: sets `processes` to those whose working folder is inside
# FOLDER, except this shell. `but_servers` also leaves out the processes of servers.
processes_in() {
  local link pid place
  processes=()
  while read -r link place; do
    pid=${link//[!0-9]/}
    [[ $pid -ne $$ && $pid -ne $BASHPID && $place/ = "$1"/* ]] || continue
    if [[ -n ${2:-} && -e $place/postmaster.pid ]]; then continue; fi
    processes+=("$pid")
  done < <(find /proc/[0-9]*/cwd -maxdepth 0 -printf '%p %l\n' 2>/dev/null)
}

# kill_inside FOLDER [but_servers]: kills these processes until none is left, because a process that
# ends may just have started another.
kill_inside() {
  local round
  for ((round = 0; round < 100; round++)); do
    processes_in "$@"
    [[ ${#processes[@]} -gt 0 ]] || return 0
    kill -KILL "${processes[@]}" 2>/dev/null || true
    sleep 0.05
  done
}

# What test/run, test/demo and test/bench share. Sourced by bash; expects `set -euo pipefail`.
#
# The rule: the scripts change nothing outside one work folder, and touch no server that they did
# not start. So they copy the server's programs and install the extension into the copy. They do all
# of this as a user without privileges, because PostgreSQL refuses to run as root. The one exception
# is missing packages, whose installation is announced.
# shellcheck shell=bash

project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
  printf '%s\n' "$*" >&2
  exit 1
}

# ---------------------------------------------------------------------------------------------------------------------
# The user
# ---------------------------------------------------------------------------------------------------------------------

# Sets unprivileged_user: who runs everything. Empty for the user who called.
choose_user() {
  unprivileged_user=
  if [[ $(id -u) -eq 0 ]]; then
    if id -u postgres >/dev/null 2>&1; then unprivileged_user=postgres; else unprivileged_user=nobody; fi
  fi
}

# as_user COMMAND...: runs it without privileges, with the work folder as its home. Signals that bash ignores in
# background commands are set back to what every program expects.
as_user() {
  set -- env --default-signal="INT,QUIT" HOME="$work" TMPDIR="$work/tmp" "$@"
  if [[ -n $unprivileged_user ]]; then set -- runuser -u "$unprivileged_user" -- "$@"; fi
  "$@"
}

# Whether memory that nobody needs has room for the servers of all tests.
memory_has_room() { [[ $(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) -ge $((10 << 20)) ]]; }

# Prints /dev/shm, if it has room for them, too, and may hold programs.
memory_folder() {
  local program
  memory_has_room && [[ $(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) -ge $((6 << 20)) ]] || return 1
  program=$(mktemp /dev/shm/snowflake-program.XXXXXX) || return 1
  if ! { install -m 700 "$(type -P true)" "$program" && "$program"; } 2>/dev/null; then rm -f "$program" && return 1; fi
  rm -f "$program"
  echo /dev/shm
}

# make_work_folder NAME: sets `work`, a new folder that the unprivileged user owns, and goes there. Paths of sockets must
# stay below 107 bytes, so a deep TMPDIR is not for us. If `work_in_memory` is set, root mounts a file system in memory
# there; it is empty afterwards if that is refused.
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

# keep_work_folder: on the disk, at the same place.
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

# A process that is just ending may still have it as its folder.
leave_memory() { umount "$work" 2>/dev/null || umount --lazy "$work"; }

give_to_user() {
  if [[ -n $unprivileged_user ]]; then chown -R -h "$unprivileged_user:" "$@"; fi
}

# A session's settings must not lead a test to another server.
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

# ---------------------------------------------------------------------------------------------------------------------
# What has to be installed
# ---------------------------------------------------------------------------------------------------------------------

# Whether a pg_config belongs to a server that can be copied and built against.
pg_config_is_whole() {
  local pg_config=$1 pgxs
  [[ -x $pg_config ]] || return 1
  pgxs=$("$pg_config" --pgxs 2>/dev/null) || return 1
  [[ -f $pgxs && -x $(dirname "$pgxs")/../test/regress/pg_regress &&
    -f $("$pg_config" --includedir-server)/postgres.h &&
    -x $("$pg_config" --bindir)/initdb && -x $("$pg_config" --bindir)/postgres ]]
}

# Versions of Debian's packages, from the newest down, whose program $1 is there.
debian_versions_with() {
  local program
  for program in /usr/lib/postgresql/*/bin/"$1"; do
    [[ -x $program ]] || continue
    program=${program#/usr/lib/postgresql/}
    program=${program%%/*}
    if [[ $program =~ ^[0-9]+$ && $program -ge 15 ]]; then printf '%s\n' "$program"; fi
  done | sort -rn
}

# Sets PG_CONFIG, unless the environment did: the newest server that is whole. Fails if there is none.
find_pg_config() {
  local version
  if [[ -n ${PG_CONFIG:-} ]]; then
    PG_CONFIG=$(command -v "$PG_CONFIG") || die "there is no $PG_CONFIG"
    pg_config_is_whole "$PG_CONFIG" || die "$PG_CONFIG: the server, its headers or its test programs are not there"
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

# Which server to install, if there is none: the one whose headers alone are missing, or Debian's own version, which apt
# does not know before its first update.
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
  program=$(compgen -G '/usr/bin/clang++-[0-9]*' | sort -V | tail -n 1) || program=$(command -v clang++)
  printf '%s\n' "$program"
}

# Whether it is there, with the fuzzer's library.
clang_can_fuzz() {
  local program
  program=$(newest_clang) && compgen -G "$("$program" -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null
}

# clang_to_install: the version of the newest that apt knows, if a package is called by its number.
clang_to_install() { { apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null || true; } | sed -n 's/^clang-\([0-9]*\) .*/\1/p' | sort -n | tail -n 1; }

# missing_packages KIND...: prints the packages that are missing for these: `build`, and `test`, `fuzz`, `model`, `bench` or `citus` for
# what only they need; `clang` for the newest clang that there is.
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
  if [[ $kinds = *" bench "* ]]; then command -v gnuplot >/dev/null || echo gnuplot-nox; fi
  if [[ $kinds = *" citus "* ]]; then
    # Headers that those of Debian's server include, where Citus includes them.
    [[ -f /usr/include/zstd.h ]] || echo libzstd-dev
    [[ -f /usr/include/gssapi/gssapi.h ]] || echo libkrb5-dev
    [[ -f /usr/include/unicode/ucol.h ]] || echo libicu-dev
    # 18's headers say that there is libcurl, whatever Citus is told.
    command -v curl-config >/dev/null || echo libcurl4-openssl-dev
    command -v xz >/dev/null || echo xz-utils
  fi
  if ! find_pg_config; then
    version=$(version_to_install)
    [[ -x /usr/lib/postgresql/$version/bin/postgres ]] || echo "postgresql-$version"
    echo "postgresql-server-dev-$version"
  fi
}

# need_packages KIND...: installs what is missing for all of these, or says how to.
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
    # Which server there is to install is known only now.
    mapfile -t missing < <(missing_packages "$@" | sort -u)
    install_without_server "${missing[@]}"
    hash -r
    mapfile -t missing < <(missing_packages "$@" | sort -u)
    [[ ${#missing[@]} -eq 0 ]] || die "still missing after the installation: ${missing[*]}"
  fi
  find_pg_config
}

# Debian's server packages create a cluster and start it, unless a file in createcluster.d says otherwise. It is there
# while they are being installed and no longer.
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

# The mirror of Debian that this machine's apt uses.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | awk '$1 == "Debian" { print $2; exit }')
  printf '%s\n' "${mirror:-http://deb.debian.org/debian}"
}

# debian_suite VERSION: which release of Debian has this PostgreSQL.
debian_suite() {
  case $1 in
    15) echo bookworm ;;
    17) echo trixie ;;
    18) echo forky ;;
    19) echo experimental ;;
    *) return 1 ;;
  esac
}

# debian_version SUITE: the other way round; nothing for a release that is not known.
debian_version() {
  local version
  for version in 15 17 18; do
    if [[ $(debian_suite "$version") = "$1" ]]; then echo "$version"; fi
  done
}

# ---------------------------------------------------------------------------------------------------------------------
# Source and server
# ---------------------------------------------------------------------------------------------------------------------

# logged NAME COMMAND...: in the copied source, quietly unless it fails; then the script ends.
logged() {
  local log=$work/logs/$1.log
  shift
  (cd "$work/src" && as_user "$@") >"$log" 2>&1 </dev/null || { tail -n 50 "$log" >&2; exit 1; }
}

# copy_source FOLDER: the working tree, with neither history nor build products. The checkout may
# belong to somebody else. Something may be written into it meanwhile, by an editor or another
# build; tar exits with 1 then.
copy_source() {
  mkdir -p "$1"
  { tar -C "$project_root" --warning=no-file-changed --warning=no-file-removed --exclude=./.git \
    --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude='*.d' --exclude=./results --exclude=./output_iso \
    --exclude=./tmp_check --exclude=./tmp_check_iso --exclude=./log --exclude='./regression.*' --exclude=./test/.server \
    -cf - . || [[ $? -eq 1 ]]; } | tar -C "$1" --no-same-owner -xf -
  give_to_user "$1"
}

# copy_server PREFIX [VARIABLE]: copies the server whose pg_config the variable names, PG_CONFIG unless told, and sets it to
# the copy's. A server finds its files by where its program lies, so a copy works as long as the folders keep their places
# to each other.
copy_server() {
  local prefix=$1 bindir top version
  local -n config=${2:-PG_CONFIG}
  bindir=$("$config" --bindir)
  # Debian's folders, here or in another root.
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
    # test/source_server leaves there what it built the server from.
    tar -C "$top" --exclude=./src -cf - . | tar -C "$prefix" -xf -
    config=$prefix/bin/pg_config
  fi
  # What may have been installed into the original is not what is being tested.
  rm -f "$("$config" --pkglibdir)/snowflake.so" "$("$config" --sharedir)"/extension/snowflake{--*.sql,.control}
  give_to_user "$prefix"
  server_bin=$("$PG_CONFIG" --bindir)
}

# apt_knows PACKAGE...: whether apt knows all of them. The exit status of `apt-cache show` is 0 if it
# knows one of them, or a package that mentions one.
apt_knows() {
  [[ $(apt-cache show --no-all-versions "$@" 2>/dev/null | grep -c '^Package: ') -eq $# ]]
}

# know_packages PACKAGE...: has apt fetch its lists if it does not know all of them.
know_packages() {
  local as_root=()
  if apt_knows "$@"; then return 0; fi
  if [[ $(id -u) -ne 0 ]]; then as_root=(sudo -n); fi
  "${as_root[@]}" apt-get update -qq >/dev/null 2>&1 || true
}

# unpack_packages FOLDER PACKAGE...: downloads those that can be had.
unpack_packages() (
  mkdir -p "$1"
  cd "$1" || exit 1
  shift
  # All at once, because apt takes longer to begin than to fetch one. It fetches none if it cannot
  # have one of them.
  apt-get download -qq "$@" >/dev/null 2>&1 ||
    for package in "$@"; do apt-get download -qq "$package" >/dev/null 2>&1 || true; done
  for package in *.deb; do
    if [[ -f $package ]]; then dpkg-deb -x "$package" . || exit 1; fi
    rm -f "$package"
  done
)

# unpack_neighbours FOLDER: what Debian has of other programs that tests set beside snowflake, for this server's
# version: pgbouncer into FOLDER, pg_partman into the copied server. Unpacked and not installed, because an installed
# pgbouncer starts a service. Returns 1 where they cannot be had; their tests are then skipped.
unpack_neighbours() {
  local folder=$1 version control package libraries packages=()
  control=$("$PG_CONFIG" --sharedir)/extension/pg_partman.control
  version=$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
  command -v pgbouncer >/dev/null || [[ -x /usr/sbin/pgbouncer ]] || packages+=(pgbouncer)
  if [[ ! -f $control && $PG_CONFIG = */lib/postgresql/*/bin/pg_config ]]; then
    packages+=("postgresql-$version-partman")
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

# unpack_beside FOLDER PACKAGE...: Debian's packages with what they lack here, as apt would install them. Unpacked and not installed, because
# tests must not change the system, and some start services. Returns 1 where they cannot be had; their tests are then skipped.
unpack_beside() {
  local folder=$1 all
  shift
  command -v apt-get >/dev/null || return 1
  know_packages "$@"
  mapfile -t all < <(apt-get install --simulate --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
  unpack_packages "$folder" "${all[@]}" || return 1
  give_to_user "$folder"
}

# make_server FOLDER [SETTING...]: makes a cluster with its superuser `postgres` in FOLDER/data and starts it. Only its
# socket in FOLDER/socket leads to it, and only its owner (and root) may use that. SNOWFLAKE_PRELOAD=session preloads
# the library with each session, 0 not at all.
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
  as_user "$server_bin/pg_ctl" -s -w -t "${PGCTLTIMEOUT:-$((60 * ${SNOWFLAKE_SLOWNESS:-1}))}" -D "$folder/data" -l "$folder/server.log" start >/dev/null ||
    { tail -n 50 "$folder/server.log" >&2; return 1; }
}

stop_server() {
  as_user "$server_bin/pg_ctl" -s -w -t "${PGCTLTIMEOUT:-$((60 * ${SNOWFLAKE_SLOWNESS:-1}))}" -m fast -D "$1/data" stop
}

# tap_environment FOLDER: sets `tap_environment`, the command that gives a program with PostgreSQL's Perl modules its environment and that
# folder for its servers, and `tap_perl`, the Perl that finds these modules and the project's.
tap_environment() {
  local test_programs
  test_programs=$(dirname "$("$PG_CONFIG" --pgxs)")/../test
  # The first is PostgreSQL 15's name for the place, the other two are what later versions ask for.
  tap_environment=(env TESTDIR="$1" TESTDATADIR="$1/tmp_check" TESTLOGDIR="$1/tmp_check/log"
    PATH="$server_bin:$PATH" PG_REGRESS="$test_programs/regress/pg_regress"
    PGCTLTIMEOUT=$((60 * ${SNOWFLAKE_SLOWNESS:-1})) SNOWFLAKE_CLOCK_SHIM="$work/tmp/clock_shim.so"
    SNOWFLAKE_TEMPLATE="$work/tap/template")
  tap_perl=(perl -I "$test_programs/perl" -I test/perl)
}

# end_children: what this shell runs in the background. bash need not say that they were killed.
end_children() {
  local children
  mapfile -t children < <(jobs -p)
  disown -a
  if [[ ${#children[@]} -gt 0 ]]; then kill "${children[@]}" 2>/dev/null || true; fi
}

# sweep FOLDER: ends what still runs inside it, whoever started it: first whatever could start more, then servers by their own
# pid file, so that they leave no shared memory behind, then the rest. Then what they keep in shared memory for their next life.
sweep() {
  local folder=$1 file pid round
  kill_inside "$folder" but_servers
  while IFS= read -r file; do
    pid=$(head -n 1 "$file" 2>/dev/null) || continue
    # A server without a postmaster, as initdb starts some, has a minus there; it ends when nobody is left who writes to it.
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

# remove_boxes FOLDER: the shared memory objects that snowflake keeps for servers inside it, which a killed server leaves behind. Each has
# its server's data directory as a text, from its byte 16 on. They are files only on some systems.
remove_boxes() {
  local file place
  for file in /dev/shm/snowflake.*; do
    [[ -f $file && ! -L $file ]] || continue
    place=$({ dd if="$file" bs=16 skip=1 count=16 | tr -d '\0'; } 2>/dev/null) || continue
    if [[ $place = "$1"/* ]]; then rm -f "$file"; fi
  done
}

# processes_in FOLDER [but_servers]: sets `processes`, those that have their working folder there, without this shell.
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

# kill_inside FOLDER [but_servers]: every process that has its working folder there, until there is none: one that ends may just
# have started another.
kill_inside() {
  local round
  for ((round = 0; round < 100; round++)); do
    processes_in "$@"
    [[ ${#processes[@]} -gt 0 ]] || return 0
    kill -KILL "${processes[@]}" 2>/dev/null || true
    sleep 0.05
  done
}

# shellcheck shell=bash
# A private server with the extension, for benchmarks. bash sources this file after ../lib.sh.

finish() {
  end_children
  [[ -n $work ]] || return 0
  cd /
  sweep "$work"
  rm -rf "$work"
}

# tool NAME ARGUMENT...: runs a program of PostgreSQL as the role `role` in the database `database`.
# client ARGUMENT...: runs psql.
role=postgres
database=postgres
tool() {
  local name=$1
  shift
  as_user env PGHOST="$work/db/socket" PGUSER="$role" PGDATABASE="$database" "$server_bin/$name" "$@"
}
client() { tool psql -XAtq -v ON_ERROR_STOP=1 "$@"; }

# build: builds and installs the extension, in a work folder.
build() {
  forget_pg_environment
  need_packages build
  choose_user
  work=
  trap finish EXIT
  make_work_folder snowflake-bench
  copy_source "$work/src"
  copy_server "$work/server"
  (cd "$work/src" && as_user make -s -j"$(nproc)" "PG_CONFIG=$PG_CONFIG" all install) >/dev/null
}

# describe_machine TEXT
describe_machine() {
  echo "$("$server_bin/postgres" --version) on $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | sed -n 1p), $1"
}

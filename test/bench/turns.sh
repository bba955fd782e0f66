# Functions for benchmarks that compare contenders in turns, on a private server. bash sources this
# file after ../lib.sh, with rounds.

finish() {
  [[ -n $work ]] || return 0
  cd /
  sweep "$work"
  rm -rf "$work"
}

# client ARGUMENT...: runs psql in the database `database`.
database=postgres
client() {
  as_user env PGHOST="$work/db/socket" PGUSER=postgres PGDATABASE="$database" "$server_bin/psql" -XAtq -v ON_ERROR_STOP=1 "$@"
}

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

# start_server SETTING...
start_server() { make_server "$work/db" "autovacuum = off" "max_wal_size = 4GB" "$@"; }

describe_run() {
  echo "$("$server_bin/postgres" --version) on $(nproc) x $(sed -n 's/^model name.*: //p' /proc/cpuinfo | sed -n 1p), $rounds rounds"
  echo
}

# head_of TITLE prints the head of a table. ratios NAME prints a row: the median and the quartiles
# of the numbers on standard input.
head_of() { printf '%-62s %6s %6s %6s\n' "$1" median lower upper; }
ratios() {
  sort -g | awk -v name="$1" '{ at[NR] = $1 } END {
    printf "%-62s %6.2f %6.2f %6.2f\n", name, at[int((NR + 1) / 2)], at[int((NR + 3) / 4)], at[int((3 * NR + 3) / 4)] }'
}

# Functions for benchmarks that compare contenders in turns, on a private server. bash sources this
# file after ../lib.sh, with rounds.

# shellcheck source-path=SCRIPTDIR source=server.sh
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

# start_server SETTING...
start_server() { make_server "$work/db" "autovacuum = off" "max_wal_size = 4GB" "$@"; }

describe_run() {
  describe_machine "$rounds rounds"
  echo
}

# head_of TITLE prints the head of a table. ratios NAME prints a row: the median and the quartiles
# of the numbers on standard input.
head_of() { printf '%-62s %6s %6s %6s\n' "$1" median lower upper; }
ratios() {
  sort -g | awk -v name="$1" '{ at[NR] = $1 } END {
    printf "%-62s %6.2f %6.2f %6.2f\n", name, at[int((NR + 1) / 2)], at[int((NR + 3) / 4)], at[int((3 * NR + 3) / 4)] }'
}

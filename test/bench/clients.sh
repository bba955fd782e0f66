# shellcheck shell=bash
# What the benchmarks of conversions share: clients that begin transactions at a rate, and their waits.
# Sourced by bash scripts that have sourced ../lib.sh.

# shellcheck source-path=SCRIPTDIR source=server.sh
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

clients=8

now() { date +%s.%N; }

# run_clients SCHEMA RATE: runs the scripts write and read of the folder $work/SCHEMA; sets `load` to
# the process. After a deadlock a client tries again.
run_clients() {
  tool pgbench -n -c "$clients" -j 2 -T 100000 -R "$2" --max-tries=100 -l --log-prefix="$work/$1/log" \
    -f "$work/$1/write.sql@1" -f "$work/$1/read.sql@1" >"$work/$1/out" 2>"$work/$1/err" &
  load=$!
}

# Waits until no transaction is late.
catch_up() {
  local late
  for ((late = 1; late > 0; )); do
    sleep 1
    late=$(tail -q -n 5 "$work/$1"/log* | awk '$3 > 1000000 { n++ } END { print n + 0 }')
  done
}

stop_clients() {
  stop_pgbench "$work/$1/write.sql"
  wait "$load" || { cat "$work/$1/err" >&2; die "the clients of $1 failed"; }
  if grep -q aborted "$work/$1/err"; then cat "$work/$1/err" >&2; die "a client of $1 was aborted"; fi
}

# stop_pgbench SCRIPT: on this signal, pgbench ends as if its time were up.
stop_pgbench() {
  local file
  for file in /proc/[0-9]*/comm; do
    if [[ $(cat "$file" 2>/dev/null) = pgbench ]] && tr '\0' '\n' <"${file%comm}cmdline" 2>/dev/null | grep -qF "$1"; then
      file=${file#/proc/}
      kill -ALRM "${file%/comm}"
    fi
  done
}

# waits SCHEMA FROM TO SCRIPT: of the script's transactions that ended in this time, prints their
# number, median, 99.9th percentile and longest in ms, and how many took more than 100 ms.
waits() {
  cat "$work/$1"/log* | awk -v from="$2" -v to="$3" -v script="$4" '{ at = $5 + $6 / 1e6 } $4 == script && at >= from && at <= to { print $3 / 1000 }' |
    sort -g | awk '{ at[NR] = $1 } END {
      if (NR == 0) { print "0 0 0 0 0"; exit }
      late = 0
      for (i = NR; i > 0 && at[i] > 100; i--) late++
      printf "%d %.1f %.1f %.1f %d\n", NR, at[int((NR + 1) / 2)], at[int(NR * 0.999 + 0.5)], at[NR], late }'
}

# show_waits FILE: a line of the file has a name, seconds, and the waits of writes and of reads.
show_waits() {
  echo 'transactions during it, in ms'
  printf '%-8s %10s | %8s %8s %10s %10s %9s | %8s %8s %10s %10s %9s\n' '' 'takes s' writes median '99.9 %' longest '> 100 ms' reads median '99.9 %' longest '> 100 ms'
  awk '{ printf "%-8s %10.1f | %8d %8.1f %10.1f %10.1f %9d | %8d %8.1f %10.1f %10.1f %9d\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 }' "$1"
}

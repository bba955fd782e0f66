# A server whose processes are all watched, by valgrind or by the compiler's sanitizers. Sourced by
# test/run.
#
# A script in place of the copied server's `postgres` starts the real one under watch. So pg_ctl,
# the TAP tests and single-user mode all start a watched server. Each process has its own file in
# $work/reports.
# shellcheck shell=bash disable=SC2154

# The beginning of a report in such a file. A summary alone is not sufficient, because a process
# that is killed later writes none.
report_pattern='^==[0-9]+== REPORT|ERROR SUMMARY: [1-9]|ERROR: AddressSanitizer|AddressSanitizer:DEADLYSIGNAL'
watched=0

# The library's flags, in place of the server's, whose -fwrapv would make signed overflow defined.
sanitizer_flags='-g -O1 -fno-strict-aliasing -fno-omit-frame-pointer -fsanitize=address,undefined'
sanitizer_flags+=' -fno-sanitize-recover=undefined'

# prepare_watch valgrind|sanitizers: checks the machine and the server of PG_CONFIG.
prepare_watch() {
  case $1 in
    valgrind)
      command -v valgrind >/dev/null || die "valgrind is not installed; install the package valgrind"
      suppressions=$("$PG_CONFIG" --bindir)/../src/src/tools/valgrind.supp
      [[ -f $suppressions ]] || die "--valgrind needs a server that test/source_server has built; see test/README.md"
      "$PG_CONFIG" --cppflags | grep -q -e -DUSE_VALGRIND ||
        die "$PG_CONFIG: the server was built without CPPFLAGS=-DUSE_VALGRIND, so valgrind would miss most faults"
      ;;
    sanitizers)
      [[ $(g++ -print-file-name=libasan.so) = /* ]] || die "g++ has no libasan"
      # If libasan is preloaded, programs that translate their messages wait forever for a lock of
      # libintl.
      ! "$PG_CONFIG" --configure | grep -q -e --enable-nls ||
        die "--sanitizers needs a server without --enable-nls, such as test/source_server builds; see test/README.md"
      ;;
  esac
}

# watch_server valgrind|sanitizers: from now on the copied server is watched. The names of its files
# begin with the time, because process ids are reused.
watch_server() {
  local program=$server_bin/postgres name="$work/reports/\$(date +%s%N)" library libraries=() command
  mkdir "$work/reports"
  give_to_user "$work/reports"
  case $1 in
    valgrind)
      cp "$suppressions" "$work/valgrind.supp"
      command="valgrind --leak-check=no --error-limit=no --num-callers=25"
      command+=" --error-markers=REPORT,END --error-exitcode=99 '--suppressions=$work/valgrind.supp' --log-file=\"$name-%p\""
      ;;
    sanitizers)
      for library in asan ubsan stdc++; do libraries+=("$(g++ -print-file-name="lib$library.so")"); done
      command="env LD_PRELOAD=\"${libraries[*]} \$LD_PRELOAD\" UBSAN_OPTIONS=\"print_stacktrace=1:log_path=$name\""
      # With verbosity=1, each start writes a file.
      command+=" ASAN_OPTIONS=\"detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:verbosity=1:log_path=$name\""
      ;;
  esac
  mv "$program" "$program.bin"
  # The processes that initdb starts do not load snowflake, and would take minutes under valgrind.
  cat >"$program" <<END
#!/bin/sh
case "\$*" in
  -V | --boot* | --check* | "--single -F -O -j"*) exec "$program.bin" "\$@" ;;
esac
exec $command "$program.bin" "\$@"
END
  # `pg_ctl restart` would start the program whose path the server has recorded, which is the real
  # one.
  mv "$server_bin/pg_ctl" "$server_bin/pg_ctl.bin"
  printf '#!/bin/sh\nexec "%s" "$@" -p "%s"\n' "$server_bin/pg_ctl.bin" "$program" >"$server_bin/pg_ctl"
  chmod +x "$program" "$server_bin/pg_ctl"
  give_to_user "$program" "$server_bin/pg_ctl"
}

# count_reports NAME: fails if processes that ended since the last call have written reports.
count_reports() {
  local files=() found=() starts
  mapfile -t files < <(find "$work/reports" -maxdepth 1 -type f)
  [[ ${#files[@]} -gt 0 ]] || return 0
  mapfile -t found < <(grep -lE "$report_pattern" "${files[@]}")
  starts=$(printf '%s\n' "${files[@]%[-.]*}" | sort -u | wc -l)
  if [[ $watch = valgrind ]]; then
    echo "    # figures: $starts starts, ${#files[@]} processes under valgrind, ${#found[@]} with reports"
  else
    echo "    # figures: $starts starts with sanitizers, ${#found[@]} processes with reports"
  fi
  if [[ ${#found[@]} -gt 0 ]]; then fail "$1" "${#found[@]} processes with reports" "${found[@]}"; fi
  watched=$((watched + ${#files[@]}))
  mkdir -p "$work/reports/seen"
  mv -t "$work/reports/seen" "${files[@]}"
}

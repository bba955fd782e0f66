# A server whose processes are all watched, by valgrind or by the compiler's sanitizers. Sourced by
# test/run.
#
# A script in place of the copied server's `postgres` starts the real one under watch. So pg_ctl,
# the TAP tests and single-user mode all start a watched server. Each process has its own file in
# $work/reports.
# shellcheck shell=bash disable=SC2154

# What a report looks like in such a file, at its moment: a process that is killed later writes no summary.
report_pattern='^==[0-9]+== REPORT|ERROR SUMMARY: [1-9]|ERROR: AddressSanitizer|AddressSanitizer:DEADLYSIGNAL'
watched=0

# For the library: in place of the server's own flags, because its -fwrapv would make signed overflow defined.
sanitizer_flags='-g -O1 -fno-strict-aliasing -fno-omit-frame-pointer -fsanitize=address,undefined'
sanitizer_flags+=' -fno-sanitize-recover=undefined'

# prepare_watch valgrind|sanitizers: what it needs of the machine and of the server of PG_CONFIG.
prepare_watch() {
  case $1 in
    valgrind)
      command -v valgrind >/dev/null || die "there is no valgrind here; its package is called so"
      suppressions=$("$PG_CONFIG" --bindir)/../src/src/tools/valgrind.supp
      [[ -f $suppressions ]] || die "--valgrind needs a server that test/source_server has built; see test/README.md"
      "$PG_CONFIG" --cppflags | grep -q -e -DUSE_VALGRIND ||
        die "$PG_CONFIG: the server was built without CPPFLAGS=-DUSE_VALGRIND, so that valgrind would miss most"
      ;;
    sanitizers)
      [[ $(g++ -print-file-name=libasan.so) = /* ]] || die "g++ has no libasan"
      # Programs that translate their messages wait for ever for a lock of libintl when libasan is preloaded.
      ! "$PG_CONFIG" --configure | grep -q -e --enable-nls ||
        die "--sanitizers needs a server without --enable-nls, such as test/source_server builds; see test/README.md"
      ;;
  esac
}

# watch_server valgrind|sanitizers: from here on the copied server is watched. The files' names begin with the time, for
# numbers of processes come again.
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
      # verbosity, so that each start writes a file
      command+=" ASAN_OPTIONS=\"detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:verbosity=1:log_path=$name\""
      ;;
  esac
  mv "$program" "$program.bin"
  # What initdb starts has nothing of snowflake in it, and takes minutes under valgrind.
  cat >"$program" <<END
#!/bin/sh
case "\$*" in
  -V | --boot* | --check* | "--single -F -O -j"*) exec "$program.bin" "\$@" ;;
esac
exec $command "$program.bin" "\$@"
END
  # `pg_ctl restart` would start what was running before, by the name that the real one wrote down.
  mv "$server_bin/pg_ctl" "$server_bin/pg_ctl.bin"
  printf '#!/bin/sh\nexec "%s" "$@" -p "%s"\n' "$server_bin/pg_ctl.bin" "$program" >"$server_bin/pg_ctl"
  chmod +x "$program" "$server_bin/pg_ctl"
  give_to_user "$program" "$server_bin/pg_ctl"
}

# count_reports NAME: fails with what the processes that ended since the last call have brought to light.
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

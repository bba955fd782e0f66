/*
 * Calls between two readings of the clock, for test/t/sessions/time_under_changes.pl and
 * test/t/runs/runs_and_the_counter.pl: how far ids are behind the beginning of their call, and ahead
 * of its end, and how often snowflake's code has read a clock for them.
 *
 * The wall clock may be stepped back meanwhile, and forward again. An id may be of the time before
 * a step forward for as long as a tick lasts. So whoever steps it writes 16 bytes to FOLDER/steps
 * before: int64 until_ns, and int64 wall_ns, what the wall clock showed at least when CLOCK_BOOTTIME
 * showed 0. Up to until_ns, ids are compared with that. A bridged clock is ahead of the wall clock by
 * no more than that was ahead before: ids are compared with the highest time, which the caller knows.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"
#include "funcapi.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "access/htup_details.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"

#include "calls.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(timed_calls);

static const int64 kNsPerUs = 1000, kNsPerSecond = 1000000000;

typedef struct {
  int64 epoch_ns, tick_ns;
  int shift;
} layout;

typedef struct {
  int64 until_ns, wall_ns;
} steps;

static int64 readings;

static int count_reading(clockid_t which, struct timespec *out) {
  ++readings;
  return clock_gettime(which, out);
}

static int64 read_ns(clockid_t which) {
  struct timespec now;

  clock_gettime(which, &now);
  return (int64)now.tv_sec * kNsPerSecond + now.tv_nsec;
}

/* Both clocks at one moment. */
typedef struct {
  int64 wall, steady;
} moment;

static moment read_clocks(void) {
  moment now;

  do {
    now.steady = read_ns(CLOCK_BOOTTIME);
    now.wall = read_ns(CLOCK_REALTIME);
  } while (read_ns(CLOCK_BOOTTIME) - now.steady > 20 * kNsPerUs);
  return now;
}

static const steps *map_steps(const char *folder) {
  char path[MAXPGPATH];
  void *at = MAP_FAILED;
  int fd;

  snprintf(path, sizeof(path), "%s/steps", folder);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0) at = mmap(NULL, sizeof(steps), PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) elog(ERROR, "%s: %m", path);
  close(fd);
  return at;
}

static layout present_layout(void) {
  const char *text = "SELECT (extract(epoch FROM epoch) * 1000)::bigint, (extract(epoch FROM tick) * 1000000)::bigint,"
                     " datacenter_bits + worker_bits + sequence_bits FROM snowflake_layouts WHERE name IS NULL";
  bool is_null;
  layout found;

  SPI_connect();
  if (SPI_execute(text, true, 1) < 0 || SPI_processed != 1) elog(ERROR, "no layout");
  found.epoch_ns = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null)) * 1000 * kNsPerUs;
  found.tick_ns = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &is_null)) * kNsPerUs;
  found.shift = DatumGetInt32(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 3, &is_null));
  SPI_finish();
  return found;
}

/* timed_calls(folder, calls, highest, max_lead): `highest` is what the wall clock shows at most when
 * CLOCK_BOOTTIME shows 0, in us; max_lead is in us. Returns a row: calls; how many
 * ids were a tick or more behind their call's beginning, and by how many us beyond that tick; how many
 * were too far ahead, and by how many us; readings of a clock; ids that were below the one before. */
Datum timed_calls(PG_FUNCTION_ARGS) {
  const int64 calls = PG_GETARG_INT64(1), highest_ns = PG_GETARG_INT64(2) * kNsPerUs;
  const int64 lead_ns = PG_GETARG_INT64(3) * kNsPerUs;
  const layout in = present_layout();
  static const steps *stepped = NULL;
  FmgrInfo function;
  TupleDesc descriptor;
  Datum values[7];
  bool nulls[7] = {false};
  int64 late = 0, latest = 0, early = 0, earliest = 0, fell = 0, last = -1;

  if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE) elog(ERROR, "not a row");
  fmgr_info(LookupFuncName(list_make1(makeString("snowflake_nextval")), 0, NULL, false), &function);
  /* The first call loads the library. */
  FunctionCall0Coll(&function, InvalidOid);
  if (stepped == NULL) replace_call("clock_gettime", (void *)count_reading);
  if (stepped == NULL) stepped = map_steps(text_to_cstring(PG_GETARG_TEXT_PP(0)));
  readings = 0;
  for (int64 i = 0; i < calls; ++i) {
    const moment begin = read_clocks();
    const int64 id = DatumGetInt64(FunctionCall0Coll(&function, InvalidOid));
    const int64 end = read_ns(CLOCK_BOOTTIME);
    const int64 time = (id >> in.shift) * in.tick_ns + in.epoch_ns;
    const int64 lead = in.tick_ns > lead_ns ? in.tick_ns : lead_ns;

    const bool as_before = begin.steady < __atomic_load_n(&stepped->until_ns, __ATOMIC_ACQUIRE);
    const int64 wall = as_before ? Min(begin.wall, begin.steady + stepped->wall_ns) : begin.wall;

    if (wall - time >= in.tick_ns) {
      ++late;
      latest = Max(latest, wall - time - in.tick_ns);
    }
    if (time > end + highest_ns + lead) {
      ++early;
      earliest = Max(earliest, time - end - highest_ns - lead);
    }
    fell += id <= last;
    last = id;
    if (i % 1000 == 0) CHECK_FOR_INTERRUPTS();
  }
  values[0] = Int64GetDatum(calls);
  values[1] = Int64GetDatum(late);
  values[2] = Int64GetDatum((latest + kNsPerUs - 1) / kNsPerUs);
  values[3] = Int64GetDatum(early);
  values[4] = Int64GetDatum((earliest + kNsPerUs - 1) / kNsPerUs);
  values[5] = Int64GetDatum(readings);
  values[6] = Int64GetDatum(fell);
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

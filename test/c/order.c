/*
 * Records calls that get ids, for test/t/sessions/call_order*.pl: when each began and ended by
 * CLOCK_MONOTONIC, which no test moves, and the lowest and highest id that it returned.
 * test/proof/order.cpp compares the records of all sessions.
 *
 * Each process writes a file for each kind of call and each extension whose function it called,
 * FOLDER/EXTENSION.PROCESS.KIND, of records of four int64: begin and end in ns, lowest and highest
 * id. For kinds of calls that return several ids, EXTENSION.PROCESS.KIND.ids has all of them. The
 * files are mapped, so what was recorded outlives the process, however that ends. Zeros follow the
 * last record.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_func.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(record_calls);
PG_FUNCTION_INFO_V1(record_some);

enum kind { kOne, kTransactions, kSubtransactions, kSet, kSetInList, kDefault, kRows, kCopy, kParallel, kExecute, kLook, kPrepared, kKinds };

static const char *const names[kKinds] = {"one",  "transactions", "subtransactions", "set",     "set_in_list", "default",
                                          "rows", "copy",         "parallel",        "execute", "look",    "prepared"};

/* Of a hundred turns, how many are of this kind, and how many calls each makes at most. To look at
 * the node is no call that gets ids, but ends the run from which other sessions get theirs. */
static const int shares[kKinds] = {32, 8, 8, 12, 6, 10, 5, 5, 2, 7, 5, 0};
static const bool gets_several[kKinds] = {[kSet] = true, [kSetInList] = true, [kRows] = true, [kCopy] = true, [kParallel] = true};
static const int most_calls[kKinds] = {4000, 60, 100, 8, 8, 15, 4, 4, 1, 15, 20, 500};

typedef struct {
  int64 begin, end, lowest, highest;
} call_record;

/* A file that grows in parts, the last of which is mapped. */
typedef struct {
  int fd;
  char *part;
  size_t used;
} growing_file;

static const size_t kPart = 1 << 18;

static char folder[MAXPGPATH];
static int session;
static int64 worker_mask;
static Oid function_oid;
static FmgrInfo function;
static growing_file calls_of[kKinds], ids_of[kKinds];
static int64 recorded;
static unsigned seed;

static int64 now_ns(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *room(growing_file *file, size_t size, enum kind kind, const char *suffix) {
  if (file->part == NULL || file->used == kPart) {
    off_t at = 0;

    if (file->part == NULL) {
      char path[MAXPGPATH + 64];

      snprintf(path, sizeof(path), "%s/%u.%d.%s%s", folder, function_oid, MyProcPid, names[kind], suffix);
      file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (file->fd < 0) elog(FATAL, "%s: %m", path);
    } else {
      munmap(file->part, kPart);
    }
    at = lseek(file->fd, 0, SEEK_END);
    if (ftruncate(file->fd, at + (off_t)kPart) != 0) elog(FATAL, "ftruncate: %m");
    file->part = mmap(NULL, kPart, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, at);
    if (file->part == MAP_FAILED) elog(FATAL, "mmap: %m");
    file->used = 0;
  }
  file->used += size;
  return file->part + file->used - size;
}

static void note(enum kind kind, int64 begin, int64 end, int64 lowest, int64 highest) {
  call_record *record = room(&calls_of[kind], sizeof(call_record), kind, "");

  record->begin = begin;
  record->lowest = lowest;
  record->highest = highest;
  /* Last, because the process may be killed anywhere: without an end this is no record. */
  __atomic_store_n(&record->end, end, __ATOMIC_RELEASE);
  ++recorded;
}

static void close_file(growing_file *file) {
  if (file->part == NULL) return;
  munmap(file->part, kPart);
  close(file->fd);
  file->part = NULL;
}

/* The function of the extension that is there now. */
static Oid find_function(void) { return LookupFuncName(list_make1(makeString("snowflake_nextval")), 0, NULL, false); }

static void check(int result, const char *text) {
  if (result < 0) elog(ERROR, "%s: %s", text, SPI_result_code_string(result));
}

/* The bits of an id that are the worker id, of the datacenter and in it. */
static int64 mask_of_layout(void) {
  const char *text = "SELECT ((1::bigint << datacenter_bits + worker_bits) - 1)"
                     " << CASE WHEN sequence_first THEN 0 ELSE sequence_bits END FROM snowflake_layouts WHERE name IS NULL";
  bool is_null;
  int64 mask;

  check(SPI_execute(text, true, 0), text);
  mask = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
  SPI_freetuptable(SPI_tuptable);
  return mask;
}

/* No fault: the next statement finds the new one. */
static void report_replaced(const char *what) { ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", what)); }

static void use_function(void) {
  const Oid found = find_function();

  if (found == function_oid) return;
  worker_mask = mask_of_layout();
  if (find_function() != found) report_replaced("the extension is replaced");
  for (int i = 0; i < kKinds; ++i) {
    close_file(&calls_of[i]);
    close_file(&ids_of[i]);
  }
  function_oid = found;
  fmgr_info_cxt(found, &function, TopMemoryContext);
}

static int up_to(int most) { return 1 + rand_r(&seed) % most; }

static int64 next_id(void) { return DatumGetInt64(FunctionCall0Coll(&function, InvalidOid)); }

/* The end of a call is the beginning of the next one. */
static void call_directly(enum kind kind, int calls) {
  int64 begin = now_ns();

  for (int i = 0; i < calls; ++i) {
    const int64 id = next_id();
    const int64 end = now_ns();

    note(kind, begin, end, id, id);
    begin = end;
  }
}

static void call_in_transactions(int calls) {
  for (int i = 0; i < calls; ++i) {
    EnsurePortalSnapshotExists();
    call_directly(kTransactions, up_to(2));
    SPI_commit();
    /* Before the next transaction calls: the extension may be another one. */
    use_function();
  }
}

static void call_in_subtransactions(int calls) {
  for (int i = 0; i < calls; ++i) {
    MemoryContext context = CurrentMemoryContext;
    ResourceOwner owner = CurrentResourceOwner;

    if (up_to(4) == 1) call_directly(kSubtransactions, 1);
    BeginInternalSubTransaction(NULL);
    call_directly(kSubtransactions, 1);
    if (up_to(3) == 1)
      RollbackAndReleaseCurrentSubTransaction();
    else
      ReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
  }
}

/* Records the statement's rows. A statement with ids of several worker ids is a call for each. */
static void note_rows(enum kind kind, int64 begin, int64 end) {
  const uint64 rows = SPI_processed;
  int64 lowest[8], highest[8];
  int workers = 0;

  if (find_function() != function_oid) {
    SPI_freetuptable(SPI_tuptable);
    return;
  }
  for (uint64 i = 0; i < rows; ++i) {
    bool is_null;
    const int64 id = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null));
    int worker = 0;

    /* While the extension is replaced, the column has no default. */
    if (is_null) report_replaced("no id");
    if (gets_several[kind]) *(int64 *)room(&ids_of[kind], sizeof(int64), kind, ".ids") = id;
    while (worker < workers && (lowest[worker] & worker_mask) != (id & worker_mask)) ++worker;
    if (worker == lengthof(lowest)) elog(FATAL, "more than %d worker ids in one statement", worker);
    if (worker == workers) lowest[workers] = highest[workers] = id, ++workers;
    if (id < lowest[worker]) lowest[worker] = id;
    if (id > highest[worker]) highest[worker] = id;
  }
  for (int i = 0; i < workers; ++i) note(kind, begin, end, lowest[i], highest[i]);
  SPI_freetuptable(SPI_tuptable);
}

/* A statement with a number, prepared once for each kind. */
static void run_prepared(enum kind kind, const char *text, int number) {
  static SPIPlanPtr plans[kKinds];
  Datum value = Int32GetDatum(number);
  int64 begin;

  if (plans[kind] == NULL) {
    Oid type = INT4OID;

    plans[kind] = SPI_prepare(text, 1, &type);
    if (plans[kind] == NULL) check(SPI_result, text);
    check(SPI_keepplan(plans[kind]), text);
  }
  begin = now_ns();
  check(SPI_execute_plan(plans[kind], &value, NULL, false, 0), text);
  note_rows(kind, begin, now_ns());
}

static void run(enum kind kind, const char *text) {
  const int64 begin = now_ns();

  check(SPI_execute(text, false, 0), text);
  note_rows(kind, begin, now_ns());
}

static void run_execute(int calls) {
  static bool prepared;

  if (!prepared) check(SPI_execute("PREPARE next AS SELECT snowflake_nextval()", false, 0), "PREPARE");
  prepared = true;
  for (int i = 0; i < calls; ++i) run(kExecute, "EXECUTE next");
}

/* In a table of its own, whose rows are all of the one COPY. */
static void run_copy(void) {
  char *text = psprintf("COPY copied_%d (n) FROM '%s/rows'", session, folder);
  int64 begin = now_ns(), end;

  check(SPI_execute(text, false, 0), text);
  end = now_ns();
  text = psprintf("DELETE FROM copied_%d RETURNING id", session);
  check(SPI_execute(text, false, 0), text);
  note_rows(kCopy, begin, end);
}

static void run_statements(enum kind kind, int calls) {
  char *table = psprintf("rows_%d", session);
  char *one = psprintf("INSERT INTO %s (n) VALUES ($1) RETURNING id", table);
  char *many = psprintf("INSERT INTO %s (n) SELECT generate_series(1, $1) RETURNING id", table);

  if (kind == kExecute) run_execute(calls);
  for (int i = 0; i < calls; ++i) {
    if (kind == kSet) run_prepared(kind, "SELECT id FROM snowflake_nextvals($1) id", up_to(300));
    if (kind == kSetInList) run_prepared(kind, "SELECT snowflake_nextvals($1)", up_to(300));
    if (kind == kDefault) run_prepared(kind, one, i);
    if (kind == kRows) run_prepared(kind, many, up_to(100));
    if (kind == kCopy) run_copy();
    if (kind == kLook) check(SPI_execute("SELECT ids_taken_total, snowflake_horizon() FROM snowflake_metrics", false, 0), "look");
    if (kind == kParallel) run(kind, "SELECT snowflake_nextval() FROM big");
  }
}

/* Of the first turns of the sessions, each is of another kind, so that none is missing by chance. */
static enum kind any_kind(int turn) {
  int chosen = rand_r(&seed) % 100, kind = 0;

  if (turn < kPrepared) return (enum kind)((session + turn) % kPrepared);
  for (; chosen >= shares[kind]; ++kind) chosen -= shares[kind];
  return (enum kind)kind;
}

/* Sessions begin their turns at the same moments, so that they meet. */
static void wait_for_turn(int64 every_ms) {
  const int64 every_ns = every_ms * 1000000;

  if (every_ns > 0) pg_usleep((long)((every_ns - now_ns() % every_ns) / 1000));
  CHECK_FOR_INTERRUPTS();
}

static bool is_there(const char *name) {
  char path[MAXPGPATH + 16];

  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return access(path, F_OK) == 0;
}

static void start(FunctionCallInfo fcinfo) {
  strlcpy(folder, text_to_cstring(PG_GETARG_TEXT_PP(0)), sizeof(folder));
  session = PG_GETARG_INT32(1);
  if (seed == 0) seed = (unsigned)(MyProcPid + now_ns());
  while (!is_there("go")) wait_for_turn(1);
}

/* record_calls(folder, session, calls, ms between turns), a procedure: turns of
 * all kinds, until it has made so many calls or FOLDER/stop exists. */
Datum record_calls(PG_FUNCTION_ARGS) {
  const int64 until = recorded + PG_GETARG_INT64(2);
  const int64 every_ms = PG_GETARG_INT64(3);
  static int turns;

  start(fcinfo);
  SPI_connect_ext(SPI_OPT_NONATOMIC);
  while (recorded < until && !is_there("stop")) {
    const enum kind kind = any_kind(turns);
    const int calls = up_to(most_calls[kind]);

    wait_for_turn(every_ms);
    EnsurePortalSnapshotExists();
    use_function();
    if (kind == kTransactions)
      call_in_transactions(calls);
    else if (kind == kSubtransactions)
      call_in_subtransactions(calls);
    else if (kind == kOne)
      call_directly(kind, calls);
    else
      run_statements(kind, calls);
    if (++turns % 100 == 0) {
      char *text = psprintf("TRUNCATE rows_%d, copied_%d", session, session);

      check(SPI_execute(text, false, 0), text);
    }
    SPI_commit();
  }
  SPI_finish();
  PG_RETURN_VOID();
}

/* record_some(folder, session): some calls within the caller's transaction. */
Datum record_some(PG_FUNCTION_ARGS) {
  start(fcinfo);
  SPI_connect();
  use_function();
  call_directly(kPrepared, up_to(most_calls[kPrepared]));
  if (up_to(2) == 1) run_statements(kDefault, 3);
  SPI_finish();
  PG_RETURN_VOID();
}

// Finds the reasons for advice in the catalogs, the settings and the node.
#include "pg/keeper/advice.h"

#include "pg/keeper/keeping.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// Whether any row of a table satisfies the test. Does not wait for a lock: if somebody changes the
// table, the advice comes with the next lease.
template <typename Test>
bool AnyRow(Oid relation, Test test) {
  if (!ConditionalLockRelationOid(relation, AccessShareLock)) return false;
  Relation table = try_table_open(relation, NoLock);
  if (table == nullptr) {
    UnlockRelationOid(relation, AccessShareLock);
    return false;
  }
  bool found = false;
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row = systable_getnext(scan); HeapTupleIsValid(row) && !found; row = systable_getnext(scan))
    found = test(row, RelationGetDescr(table));
  systable_endscan(scan);
  table_close(table, AccessShareLock);
  return found;
}

bool Subscribes() {
  return AnyRow(SubscriptionRelationId, [](HeapTuple row, TupleDesc) {
    return reinterpret_cast<Form_pg_subscription>(GETSTRUCT(row))->subdbid == MyDatabaseId;
  });
}

// Citus's own table: the coordinator's group is 0.
bool IsCitusWorker() {
  const Oid table = get_relname_relid("pg_dist_local_group", PG_CATALOG_NAMESPACE);
  if (!OidIsValid(table) || get_rel_relkind(table) != RELKIND_RELATION) return false;
  const AttrNumber column = get_attnum(table, "groupid");
  if (column == InvalidAttrNumber || get_atttype(table, column) != INT4OID) return false;
  return AnyRow(table, [&](HeapTuple row, TupleDesc descriptor) {
    bool is_null = false;
    const Datum group = heap_getattr(row, column, descriptor, &is_null);
    return !is_null && DatumGetInt32(group) != 0;
  });
}

// In a transaction.
Advised LookForAdvice(const AcquireAnswer &answer) {
  Advised advised = {};
  advised.workers_free = answer.workers_free;
  advised.workers = answer.layout.workers_per_datacenter();
  advised.databases = NodeSlotsInUse();
  const bool counted = advised.workers_free >= 0;
  bool serves = false, was_set = keeping.was_elsewhere;
  WithLock(keeping.node, LW_SHARED, [&] {
    serves = keeping.node->serves;
    was_set |= (keeping.node->advice & kAdviceUnset) != 0;
  });
  // Rows of nodes that have leases of this registry may come.
  if (counted && advised.workers_free < advised.workers) serves = true;
  if (keeping.registry->is_here && !serves && (Subscribes() || IsCitusWorker())) advised.advice |= kAdviceOwnRegistry;
  if (AsksOwnTables() && was_set) advised.advice |= kAdviceUnset;
  if (counted && advised.workers_free * 10 < advised.workers) advised.advice |= kAdviceFewWorkers;
  // PostgreSQL starts one of its own, the launcher of logical replication: none is left.
  if (advised.databases + 1 >= max_worker_processes) advised.advice |= kAdviceFewKeepers;
  return advised;
}

// Looks for advice in a transaction of its own. False if that failed.
bool LookSafely(const AcquireAnswer &answer, Advised *advised) {
  MemoryContext caller = CurrentMemoryContext;
  ErrorData *volatile error = nullptr;
  PG_TRY();
  {
    StartTransactionCommand();
    *advised = LookForAdvice(answer);
    CommitTransactionCommand();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(caller);
    error = CopyErrorData();
    FlushErrorState();
    AbortCurrentTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(caller);
  if (error != nullptr) ereport(LOG, (errmsg("snowflake keeper: could not check for advice: %s", error->message)));
  return error == nullptr;
}

constexpr uint32_t kEach[] = {kAdviceIds,      kAdviceNumbers,    kAdviceGuards,     kAdviceOwnRegistry,
                              kAdviceUnset,    kAdviceFewWorkers, kAdviceFewKeepers, kAdviceNoBox,
                              kAdviceMaskKeys, kAdviceDoubt,      kAdviceBehind,     kAdviceFuture};

// Whether the horizon is right if what the server knows is.
bool IsPresent(const Advised &advised) {
  return advised.horizon_us - KnownUs(advised.time.known, advised.time.reading.steady_us) <= kWrongUs;
}

const char *KnownTimeText(const Advised &advised) {
  return Time(KnownUs(advised.time.known, advised.time.reading.steady_us));
}

Wording TextOf(uint32_t bit, const Advised &advised) {
  switch (bit) {
    case kAdviceOwnRegistry:
      return {
          "rows of other servers come to this database, but it has its own registry: their ids differ only by "
          "chance, and numbers of segments do not differ",
          "Give all of them the same registry with snowflake.registry."};
    case kAdviceUnset:
      return {
          "before the last shutdown this database had the registry that snowflake.registry named, and now it is its "
          "own: its ids differ from those of that registry only by chance, and numbers of segments do not differ",
          "If other servers have ids of that registry, set snowflake.registry again. Otherwise this advice ends with "
          "the next clean restart."};
    case kAdviceFewWorkers:
      return {psprintf("less than a tenth of the worker ids is free: %lld of %lld", Long(advised.workers_free),
                       Long(advised.workers)),
              "When none are left, a node that starts gets SF004. snowflake_evict() frees those of dead nodes, and a "
              "layout with more worker bits has more."};
    case kAdviceIds: return advised.ids;
    case kAdviceNumbers: return advised.numbers;
    case kAdviceGuards:
      return {psprintf("the registry's tables have lost guards: %s", advised.lost_guards),
              "Each is missing, changed, or does not fire always, so writes by hand or by replication can lead to "
              "equal ids. Call snowflake_make_guards()."};
    case kAdviceNoBox:
      return {"there is no black box: after a crash of this server new leases are acquired",
              "The server's log says why. Make room for POSIX shared memory, or set RemoveIPC=no in logind.conf, and "
              "restart the server."};
    case kAdviceMaskKeys:
      return {
          "the file of snowflake.mask_key_file was refused: ids are masked with the keys from before, or not at all",
          "The server's log says why. Mend the file or the setting, and reload the configuration."};
    case kAdviceDoubt:
      return {psprintf("the clock is in doubt: it shows %s, and by what this server knows it is %s; %s "
                       "until the clock has kept its time for %lld minutes",
                       Time(advised.time.reading.wall_us), KnownTimeText(advised),
                       advised.rises   ? "ids and the horizon go on by the former time"
                       : advised.holds ? "ids go on by the former time, and snowflake_horizon() does not rise"
                                       : "ids follow it, and snowflake_horizon() does not rise",
                       Long(kHoldUs / 60 / USECS_PER_SEC)),
              "If the clock is right, call snowflake_confirm_clock(). Otherwise set it right."};
    case kAdviceBehind:
      return {psprintf("the clock shows %s, but by what this server knows it is %s", Time(advised.time.reading.wall_us),
                       KnownTimeText(advised)),
              psprintf("If the clock is wrong, set it right%s. If it is right, call snowflake_confirm_clock()%s",
                       IsPresent(advised) ? ", and nothing else is to be done" : "",
                       advised.horizon_us == 0 ? "."
                                               : psprintf(", and then snowflake_reset_horizon(), because the horizon "
                                                          "is of %s.",
                                                          Time(advised.horizon_us)))};
    case kAdviceFuture:
      if (advised.only_on_disk)
        return {psprintf("the data directory has a horizon of the future, %s: the clock is wrong, or was, and after a "
                         "crash rows with ids below it can be refused or missed",
                         Time(advised.horizon_us)),
                "When the clock is right, call snowflake_reset_horizon()."};
      return {
          psprintf(
              "the horizon is of the future, %s: the clock is wrong, or was, and rows with ids below the horizon are "
              "refused or missed",
              Time(advised.horizon_us)),
          "When the clock is right, call snowflake_reset_horizon(). Then reset the readers, and give the rows that "
          "snowflake_check() lists as of the future new ids."};
    default:
      return {psprintf("%d databases of this server issue ids, and there are %d background workers", advised.databases,
                       max_worker_processes),
              "Raise max_worker_processes. Each of these databases takes one worker, and the next one will find none."};
  }
}

}  // namespace

void Advise(const AcquireAnswer &answer) {
  NodeBlock *node = keeping.node;
  Advised advised = {};
  uint32_t before = 0;
  keeping.advised = true;
  if (!LookSafely(answer, &advised)) return;
  WithLock(node, LW_EXCLUSIVE, [&] {
    before = node->advice;
    node->advice = advised.advice;
  });
  for (uint32_t bit : kEach) {
    if ((advised.advice & ~before & bit) == 0) continue;
    const Wording text = TextOf(bit, advised);
    ereport(WARNING, (errmsg("snowflake keeper: %s", text.what), errhint("%s", text.to_do)));
  }
}

void AdviseAgain() {
  NodeBlock *node = keeping.node;
  uint32_t before = 0;
  AcquireAnswer standing = {};
  WithLock(node, LW_SHARED, [&] {
    before = node->advice;
    standing.layout = node->state.generator.layout;
    standing.workers_free = node->state.workers_free;
  });
  // What was found at another address of the registry may differ.
  if (!keeping.registry->is_here && before == 0 && keeping.advised) return;
  if (keeping.registry->is_here) {
    standing.workers_free = LocalWorkersFree(keeping.target.extension, standing.layout);
    WithLock(node, LW_EXCLUSIVE, [&] { node->state.workers_free = standing.workers_free; });
  }
  Advise(standing);
}

char *AdviceText(const Advised &advised) {
  StringInfoData lines;
  initStringInfo(&lines);
  for (uint32_t bit : kEach) {
    if ((advised.advice & bit) == 0) continue;
    const Wording text = TextOf(bit, advised);
    appendStringInfo(&lines, "%s%s. %s", lines.len > 0 ? "\n" : "", text.what, text.to_do);
  }
  return lines.data;
}

}  // namespace snowflake

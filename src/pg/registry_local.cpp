// The registry in this database, over SPI.
//
// Every transaction runs in a security-restricted operation: what the tables' owner may have planted is fenced in by the
// functions themselves (registry_functions.cpp), this fence is for what only happens at commit.
#include "pg/layout_table.h"
#include "pg/registry.h"
#include "pg/report.h"

namespace snowflake {

namespace {

// DROP EXTENSION locks the extension first and then its members; who holds members must not wait for the extension.
bool LockExtension(Oid extension) {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, extension, 0);
  if (LockAcquire(&tag, AccessShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL) return false;
  AcceptInvalidationMessages();
  return true;
}

struct Exchange {
  Oid user;
  int security_context;
};

Exchange Begin() {
  SetCurrentStatementStartTimestamp();
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  Exchange exchange;
  GetUserIdAndSecContext(&exchange.user, &exchange.security_context);
  SetUserIdAndSecContext(exchange.user, exchange.security_context | SECURITY_RESTRICTED_OPERATION);
  return exchange;
}

void End(const Exchange &exchange) {
  PopActiveSnapshot();
  CommitTransactionCommand();
  SetUserIdAndSecContext(exchange.user, exchange.security_context);
  pgstat_report_stat(true);
}

// One row of one function, handed to `read` before the transaction ends.
template <typename Read>
RegistryAnswer Call(const RegistryPlace &place, const char *function, int count, const Oid *types, const Datum *values,
                    Read read) {
  const Exchange exchange = Begin();
  RegistryAnswer answer = RegistryAnswer::kBusy;
  if (LockExtension(place.extension)) {
    answer = RegistryAnswer::kGone;
    if (get_extension_name(place.extension) != nullptr) {
      StringInfoData command;
      initStringInfo(&command);
      appendStringInfo(&command, "SELECT * FROM %s(", quote_qualified_identifier(place.schema, function));
      for (int i = 1; i <= count; ++i) appendStringInfo(&command, "%s$%d", i == 1 ? "" : ", ", i);
      appendStringInfoChar(&command, ')');
      SPI_connect();
      const int rc = SPI_execute_with_args(command.data, count, const_cast<Oid *>(types), const_cast<Datum *>(values),
                                           nullptr, false, 0);
      if (rc != SPI_OK_SELECT || SPI_processed != 1)
        elog(ERROR, "%s() failed: %s", function, SPI_result_code_string(rc));
      if (read(SPI_tuptable->vals[0], SPI_tuptable->tupdesc)) answer = RegistryAnswer::kDone;
      SPI_finish();
    }
  }
  End(exchange);
  return answer;
}

Datum Column(HeapTuple tuple, TupleDesc descriptor, int number, bool *is_null) {
  return SPI_getbinval(tuple, descriptor, number, is_null);
}

Datum TokenDatum(const Token &token) {
  pg_uuid_t *uuid = static_cast<pg_uuid_t *>(palloc(sizeof(pg_uuid_t)));
  memcpy(uuid->data, token.bytes, sizeof(token.bytes));
  return UUIDPGetDatum(uuid);
}

Datum DurationDatum(int64_t duration_us) {
  Interval *interval = static_cast<Interval *>(palloc0(sizeof(Interval)));
  interval->time = duration_us;
  return IntervalPGetDatum(interval);
}

}  // namespace

RegistryAnswer AcquireLocally(const RegistryPlace &place, const AcquireRequest &request, AcquireAnswer *answer) {
  const Oid types[] = {TEXTOID, INT4OID, INT8OID, INTERVALOID};
  const Datum values[] = {CStringGetTextDatum(request.node), Int32GetDatum(request.datacenter),
                          Int64GetDatum(request.now), DurationDatum(request.duration_us)};
  return Call(place, "snowflake_acquire", 4, types, values, [&](HeapTuple tuple, TupleDesc descriptor) {
    bool is_null = false;
    const auto get = [&](int number) {
      const Datum value = Column(tuple, descriptor, number, &is_null);
      if (is_null) elog(ERROR, "snowflake_acquire() answered null");
      return value;
    };
    Lease *lease = &answer->lease;
    lease->lease_id = DatumGetInt64(get(1));
    memcpy(lease->token.bytes, DatumGetUUIDP(get(2))->data, sizeof(lease->token.bytes));
    lease->worker = DatumGetInt32(get(3));
    lease->window_start = DatumGetInt64(get(4));
    lease->window_end = DatumGetInt64(get(5));
    answer->layout = {DatumGetInt64(get(6)),  DatumGetInt64(get(7)),  DatumGetInt32(get(8)), DatumGetInt32(get(9)),
                      DatumGetInt32(get(10)), DatumGetInt32(get(11)), DatumGetBool(get(12))};
    return true;
  });
}

RegistryAnswer ExtendLocally(const RegistryPlace &place, const Lease &lease, Tick now, int64_t duration_us,
                             Tick *window_end) {
  const Oid types[] = {INT8OID, UUIDOID, INT8OID, INTERVALOID};
  const Datum values[] = {Int64GetDatum(lease.lease_id), TokenDatum(lease.token), Int64GetDatum(now),
                          DurationDatum(duration_us)};
  return Call(place, "snowflake_extend", 4, types, values, [&](HeapTuple tuple, TupleDesc descriptor) {
    bool is_null = false;
    *window_end = DatumGetInt64(Column(tuple, descriptor, 1, &is_null));
    return !is_null;
  });
}

RegistryAnswer ReleaseLocally(const RegistryPlace &place, const Retired &retired) {
  const Oid types[] = {INT8OID, UUIDOID, INT8OID};
  const Datum values[] = {Int64GetDatum(retired.lease_id), TokenDatum(retired.token), Int64GetDatum(retired.last_tick)};
  return Call(place, "snowflake_release", 3, types, values, [](HeapTuple, TupleDesc) { return true; });
}

RegistryPlace FindRegistry() {
  MemoryContext caller = CurrentMemoryContext;
  const Exchange exchange = Begin();
  RegistryPlace place = {get_extension_oid("snowflake", true), nullptr};
  if (OidIsValid(place.extension)) {
    Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(place.extension));
    SysScanDesc scan = systable_beginscan(catalog, ExtensionOidIndexId, true, nullptr, 1, &key);
    HeapTuple tuple = systable_getnext(scan);
    const char *schema = nullptr;
    if (HeapTupleIsValid(tuple))
      schema = get_namespace_name(reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace);
    if (schema != nullptr) place.schema = MemoryContextStrdup(caller, schema);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
  }
  if (place.schema == nullptr) place.extension = InvalidOid;
  End(exchange);
  return place;
}

Layout RegistryLayout(const RegistryPlace &place) {
  const Exchange exchange = Begin();
  const Oid schema = get_namespace_oid(place.schema, true);
  const Layout layout = ReadLayout(schema);
  End(exchange);
  return layout;
}

}  // namespace snowflake

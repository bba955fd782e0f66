// The registry protocol as SQL functions. Results and errors: COMMENT ON in the install script.
#include "core/generator.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/presentable.h"
#include "pg/registry/calls.h"
#include "pg/registry/protocol.h"
#include "pg/registry/secrets.h"
#include "pg/registry/segments.h"
#include "pg/registry/tables.h"
#include "pg/registry/triggers.h"
#include "pg/report.h"
#include "pg/rows.h"
#include "pg/settings.h"

namespace snowflake {
namespace {
constexpr int kStandingColumnCount = 4;

void StandingToDatums(const Standing &standing, Datum *values) {
  values[0] = Int64GetDatum(standing.system_identifier);
  values[1] = Int64GetDatum(standing.timeline);
  values[2] = Int64GetDatum(standing.raised_tick);
  values[3] = Int64GetDatum(standing.settle_called_us);
}

template <int kCount>
Datum RowOf(FunctionCallInfo fcinfo, const Datum (&values)[kCount], bool first_is_null = false) {
  const TupleDesc row = ResultDescriptor(fcinfo);
  if (row->natts != kCount) elog(ERROR, "function has %d result columns instead of %d", row->natts, kCount);
  bool nulls[kCount] = {first_is_null};
  return HeapTupleGetDatum(heap_form_tuple(row, const_cast<Datum *>(values), nulls));
}

// What the registry's operator allows at most. A duration that no lease can have is an error later.
int64_t AllowedUs(const Interval *duration) {
  const int64_t days = static_cast<int64_t>(duration->month) * DAYS_PER_MONTH + duration->day;
  int64_t us = 0;
  if (__builtin_mul_overflow(days, USECS_PER_DAY, &us) || __builtin_add_overflow(us, duration->time, &us))
    us = days < 0 ? PG_INT64_MIN : PG_INT64_MAX;
  return us > kMaxLeaseUs ? us : Min(us, settings.max_lease_duration_ms * kUsPerMs);
}

Oid ExtensionOfCall(FunctionCallInfo fcinfo) { return ExtensionOfFunction(fcinfo->flinfo->fn_oid); }

// The first argument: a node's name, within bounds (22023), as everybody can read it.
const char *NodeName(FunctionCallInfo fcinfo) {
  const text *name = PG_GETARG_TEXT_PP(0);
  if (VARSIZE_ANY_EXHDR(name) > kMaxNodeName)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("node name is too long"),
                    errdetail("It has %lld bytes; %d are allowed.", Long(VARSIZE_ANY_EXHDR(name)), kMaxNodeName),
                    errhint("Set a shorter snowflake.node_name.")));
  char *shown = static_cast<char *>(palloc(kMaxNodeName + 1));
  CopyPresentable(shown, kMaxNodeName + 1, text_to_cstring(name), Alphabet::kName);
  return shown;
}

// Of snowflake_segment_ranges(): its arguments are arrays, an element for each segment.

[[noreturn]] void ReportRangeArrays() {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the arrays of snowflake_segment_ranges() do not match"),
           errdetail("They must be one-dimensional, without nulls, of equal length and have at most %d elements.",
                     kMostRanges)));
}

Datum *Elements(FunctionCallInfo fcinfo, int index, Oid type, int *count) {
  ArrayType *array = PG_GETARG_ARRAYTYPE_P(index);
  if (ARR_NDIM(array) > 1 || ARR_HASNULL(array)) ReportRangeArrays();
  int16 length = 0;
  bool by_value = false;
  char alignment = 0;
  Datum *values = nullptr;
  get_typlenbyvalalign(type, &length, &by_value, &alignment);
  deconstruct_array(array, type, length, by_value, alignment, &values, nullptr, count);
  return values;
}

const char *NameArgument(Datum value) {
  const char *name = TextDatumGetCString(value);
  if (name[0] != '\0') CheckSegmentName(strlen(name));
  return name;
}

// To return numbers, it is the secret; otherwise its hash.
Secret SecretOf(Datum bytes, bool closes) {
  Secret secret = {};
  if (closes && VARSIZE_ANY_EXHDR(DatumGetByteaPP(bytes)) == sizeof(secret.bytes)) return SecretFromDatum(bytes);
  secret.hash = SecretHashFromDatum(bytes);
  return secret;
}

Datum RolesDatum(const RangesAnswer &answer, int count) {
  Datum *roles = static_cast<Datum *>(palloc(sizeof(Datum) * (count + 1)));
  for (int i = 0; i < count; ++i) roles[i] = CStringGetTextDatum(answer.answers[i].usage_role);
  return PointerGetDatum(construct_array(roles, count, TEXTOID, -1, false, TYPALIGN_INT));
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_lease_acquire) {
  CheckNotNull(fcinfo, "snowflake_lease_acquire",
               {"node", "datacenter", "now_tick", "duration", "secret_hash", "seen_lease_id"});
  LimitTransaction("snowflake_lease_acquire");
  const AcquireRequest request = {NodeName(fcinfo),
                                  PG_GETARG_INT32(1),
                                  PG_GETARG_INT64(2),
                                  AllowedUs(PG_GETARG_INTERVAL_P(3)),
                                  SecretHashFromDatum(PG_GETARG_DATUM(4)),
                                  PG_GETARG_INT64(5),
                                  PG_ARGISNULL(6) ? kAnyStart : PG_GETARG_INT64(6),
                                  !PG_ARGISNULL(7) && PG_GETARG_BOOL(7)};
  AcquireAnswer answer = {};
  const bool acquired = ProtocolAcquire(ExtensionOfCall(fcinfo), By::kSql, request, &answer);
  after_answer();
  ExpectCommit();
  if (!acquired) PG_RETURN_NULL();
  const Lease &lease = answer.lease;
  Datum values[6 + kStandingColumnCount] = {Int64GetDatum(lease.lease_id), Int32GetDatum(lease.worker),
                                            Int64GetDatum(lease.window_start), Int64GetDatum(lease.window_end),
                                            CStringGetTextDatum(TextOfLayout(answer.layout))};
  StandingToDatums(answer.standing, &values[5]);
  values[5 + kStandingColumnCount] = Int64GetDatum(answer.workers_free);
  return RowOf(fcinfo, values);
}

SNOWFLAKE_FUNCTION(snowflake_lease_extend) {
  CheckNotNull(fcinfo, "snowflake_lease_extend",
               {"lease_id", "secret_hash", "now_tick", "duration", "held_until", "worker_id", "window_start", "leapt"});
  LimitTransaction("snowflake_lease_extend");
  const ExtendRequest request = {PG_GETARG_INT64(0), SecretHashFromDatum(PG_GETARG_DATUM(1)),
                                 PG_GETARG_INT64(2), AllowedUs(PG_GETARG_INTERVAL_P(3)),
                                 PG_GETARG_INT64(4), PG_GETARG_INT32(5),
                                 PG_GETARG_INT64(6), PG_GETARG_BOOL(7)};
  ExtendAnswer answer = {};
  const bool found = ProtocolExtend(ExtensionOfCall(fcinfo), By::kSql, request, &answer);
  after_answer();
  ExpectCommit();
  Datum values[1 + kStandingColumnCount] = {Int64GetDatum(answer.window_end)};
  StandingToDatums(answer.standing, &values[1]);
  return RowOf(fcinfo, values, !found);
}

SNOWFLAKE_FUNCTION(snowflake_lease_release) {
  CheckNotNull(fcinfo, "snowflake_lease_release", {"lease_id", "secret", "last_tick", "held_until"});
  LimitTransaction("snowflake_lease_release");
  const bool released = ProtocolRelease(
      ExtensionOfCall(fcinfo), By::kSql,
      {PG_GETARG_INT64(0), SecretFromDatum(PG_GETARG_DATUM(1)), PG_GETARG_INT64(2), PG_GETARG_INT64(3)});
  ExpectCommit();
  PG_RETURN_BOOL(released);
}

SNOWFLAKE_FUNCTION(snowflake_segment_ranges) {
  CheckNotNull(fcinfo, "snowflake_segment_ranges",
               {"node", "names", "segment_ids", "highest", "unused", "wanted", "secrets"});
  LimitTransaction("snowflake_segment_ranges");
  const char *node = NodeName(fcinfo);
  static const Oid types[] = {TEXTOID, INT8OID, INT8OID, INT8OID, INT8OID, BYTEAOID};
  Datum *arguments[lengthof(types)];
  int counts[lengthof(types)];
  for (size_t i = 0; i < lengthof(types); ++i) {
    arguments[i] = Elements(fcinfo, static_cast<int>(i) + 1, types[i], &counts[i]);
    if (counts[i] != counts[0] || counts[i] > kMostRanges) ReportRangeArrays();
  }
  const int count = counts[0];
  RangeAsk *asks = static_cast<RangeAsk *>(palloc(sizeof(RangeAsk) * (count + 1)));
  for (int i = 0; i < count; ++i) {
    const auto number = [&](int argument) { return DatumGetInt64(arguments[argument][i]); };
    const char *name = NameArgument(arguments[0][i]);
    asks[i] = {name, number(1), number(2), number(3), number(4), SecretOf(arguments[5][i], number(4) < 0)};
  }
  const RangesRequest request = {node, false, count, asks};
  RangesAnswer answer = {};
  answer.answers = static_cast<RangeAnswer *>(palloc0(sizeof(RangeAnswer) * (count + 1)));
  ProtocolRanges(ExtensionOfCall(fcinfo), request, &answer);
  after_answer();
  ExpectCommit();

  int64_t *columns[3];
  for (int64_t *&column : columns) column = static_cast<int64_t *>(palloc(sizeof(int64_t) * (count + 1)));
  for (int i = 0; i < count; ++i) {
    columns[0][i] = answer.answers[i].segment_id;
    columns[1][i] = answer.answers[i].range.last;
    columns[2][i] = answer.answers[i].range.left;
  }
  const Datum values[] = {Int8ArrayDatum(columns[0], count),
                          Int8ArrayDatum(columns[1], count),
                          Int8ArrayDatum(columns[2], count),
                          RolesDatum(answer, count),
                          Int64GetDatum(answer.standing.system_identifier),
                          Int64GetDatum(answer.standing.timeline),
                          Int64GetDatum(answer.standing.settle_called_us),
                          CStringGetTextDatum(answer.known)};
  return RowOf(fcinfo, values);
}

SNOWFLAKE_FUNCTION(snowflake_evict) {
  CheckNotNull(fcinfo, "snowflake_evict", {"worker_id", "dead_since"});
  const TimestampTz dead_since = PG_GETARG_TIMESTAMPTZ(1);
  if (TIMESTAMP_NOT_FINITE(dead_since) || dead_since > GetCurrentTimestamp())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid value for dead_since: \"%s\"", timestamptz_to_str(dead_since)),
                    errdetail("It must be finite and in the past, because another node may issue every id above it."),
                    errhint("Make sure that the node is dead, and give the time when it died, or now().")));
  PG_RETURN_BOOL(ProtocolEvict(ExtensionOfCall(fcinfo), PG_GETARG_INT32(0), dead_since));
}

SNOWFLAKE_FUNCTION(snowflake_set_aside) {
  CheckNotNull(fcinfo, "snowflake_set_aside", {"worker_id"});
  if (!RegistryIsHere())
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry is in another database"),
                    errdetail("Only the registry assigns worker ids."),
                    errhint("Call snowflake_set_aside() in the registry's database.")));
  ProtocolSetAside(ExtensionOfCall(fcinfo), PG_GETARG_INT32(0));
  PG_RETURN_VOID();
}

SNOWFLAKE_FUNCTION(snowflake_settle) {
  CheckNotNull(fcinfo, "snowflake_settle", {"reason"});
  ProtocolSettle(ExtensionOfCall(fcinfo), text_to_cstring(PG_GETARG_TEXT_PP(0)));
  PG_RETURN_VOID();
}

// The lock conflicts with what each call of the protocol takes first, in the same order: neither
// ends the other as a deadlock. Readers go on. The extension's script may run in any transaction.
SNOWFLAKE_FUNCTION(snowflake_make_guards) {
  const Oid extension = ExtensionOfCall(fcinfo);
  const Tables tables = RunsScriptOf(extension) ? FindTables(extension, ExclusiveLock)
                                                : BeginOperatorsCall("snowflake_make_guards", extension, ExclusiveLock);
  PG_RETURN_INT32(MakeGuards(tables.extension, tables.schema));
}

SNOWFLAKE_FUNCTION(snowflake_settled) { PG_RETURN_BOOL(ProtocolSettled(ExtensionOfCall(fcinfo))); }

}  // namespace snowflake

// The registry in another database, over libpq: the same functions. One connection for each
// exchange, because an idle one would hold up a smart shutdown there, and a thousand of them would
// need as many backends.
//
// 1. Each call is one statement, so that it is committed there when its answer is complete. Values are parameters: a
//    statement's text can be read by other sessions of the role, and in the log.
// 2. A function is called only if it belongs to the extension, where that one is, and with its very types: whatever else
//    has its name there is another.
// 3. An answer that is lost or late is harmless: an acquire is asked again with its secret, an extend is repeated, and a
//    release finds nothing the second time.
#include "pg/database_layout.h"
#include "pg/keeper/registry.h"
#include "pg/keeper/libpq.h"
#include "pg/keeper/remote_row.h"
#include "pg/presentable.h"
#include "pg/registry/secrets.h"
#include "pg/report.h"

namespace snowflake {

namespace {

// For all of an exchange.
constexpr int64_t kExchangeUs = 60 * 1000 * 1000;
// The same when the server is being shut down.
constexpr int64_t kHurryUs = 1800 * 1000;

// The functions, by name and types of arguments.
constexpr int kMostArguments = 7;
struct RemoteFunction {
  const char *name;
  int count;
  Oid types[kMostArguments];
};
enum { kAcquire, kExtend, kRelease, kRanges, kGetLayout, kFunctionCount };
constexpr RemoteFunction kFunctions[kFunctionCount] = {
    {"snowflake_lease_acquire", 7, {TEXTOID, INT4OID, INT8OID, INTERVALOID, BYTEAOID, INT8OID, INT8OID}},
    {"snowflake_lease_extend", 7, {INT8OID, BYTEAOID, INT8OID, INTERVALOID, INT8OID, INT4OID, INT8OID}},
    {"snowflake_lease_release", 4, {INT8OID, BYTEAOID, INT8OID, INT8OID}},
    {"snowflake_segment_ranges",
     7,
     {TEXTOID, TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID, BYTEAARRAYOID}},
    {"snowflake_get_layout", 0, {}}};

const char *TypeName(Oid type) {
  switch (type) {
    case TEXTOID:
      return "text";
    case INT4OID:
      return "int4";
    case INT8OID:
      return "int8";
    case INTERVALOID:
      return "interval";
    case BYTEAOID:
      return "bytea";
    case TEXTARRAYOID:
      return "_text";
    case INT8ARRAYOID:
      return "_int8";
    case BYTEAARRAYOID:
      return "_bytea";
  }
  pg_unreachable();
}

struct Session {
  Remote remote;
  const char *schemas[kFunctionCount];  // quoted; nullptr: no such function
};

// Hands `read` the answer's row, and lets go of it whatever happens.
template <typename Read>
void Ask(Session *session, const char *statement, const RemoteFunction &function, const char *const *values,
         Read read) {
  PGresult *volatile row = RemoteCall(&session->remote, statement, function.count, function.types, values);
  PG_TRY();
  { read(RemoteRow(row)); }
  PG_FINALLY();
  { RemoteClear(row); }
  PG_END_TRY();
}

// `columns` are those of the answer; a function without named ones has one called answer.
template <typename Read>
void CallFunction(Session *session, int index, const char *columns, const char *const *values, Read read) {
  const RemoteFunction &function = kFunctions[index];
  if (session->schemas[index] == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the registry's extension has no function %s() that this version can call", function.name),
                    errhint("Run ALTER EXTENSION snowflake UPDATE there.")));
  StringInfoData statement;
  initStringInfo(&statement);
  appendStringInfo(&statement, "SELECT %s FROM %s.%s(", columns, session->schemas[index], function.name);
  for (int i = 0; i < function.count; ++i)
    appendStringInfo(&statement, "%s$%d::pg_catalog.%s", i > 0 ? ", " : "", i + 1, TypeName(function.types[i]));
  appendStringInfoString(&statement, ") AS answer");
  Ask(session, statement.data, function, values, read);
}

// The extension's schema, null without one; how many functions of ours it has; the schema of each;
// and which server, database and extension this is, as TargetHere() says it. Says in full what it refers to, because a role may have any search_path.
const char *LookUpStatement() {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfoString(&text,
                         "SELECT n.nspname, member.*, pg_catalog.concat(pg_catalog.encode("
                         "pg_catalog.timestamptz_send(pg_catalog.pg_postmaster_start_time()), 'hex'), ' ', b.oid, ' ',"
                         " e.oid) AS target FROM pg_catalog.pg_database b"
                         " LEFT JOIN pg_catalog.pg_extension e ON e.extname OPERATOR(pg_catalog.=) 'snowflake'"
                         " LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
                         " CROSS JOIN LATERAL (SELECT pg_catalog.count(*) FILTER (WHERE pg_catalog.nameeq(p.proname, "
                         "'snowflake_lease_acquire'))");
  for (const RemoteFunction &function : kFunctions) {
    appendStringInfo(&text,
                     ", pg_catalog.min(pg_catalog.quote_ident(s.nspname)) FILTER (WHERE"
                     " pg_catalog.nameeq(p.proname, '%s') AND pg_catalog.oidvectoreq(p.proargtypes, '",
                     function.name);
    for (int i = 0; i < function.count; ++i) appendStringInfo(&text, "%s%u", i > 0 ? " " : "", function.types[i]);
    appendStringInfoString(&text, "'))");
  }
  appendStringInfoString(
      &text,
      " FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_proc p ON p.oid OPERATOR(pg_catalog.=) d.objid"
      " JOIN pg_catalog.pg_namespace s ON s.oid OPERATOR(pg_catalog.=) p.pronamespace"
      " WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass"
      " AND d.refobjid OPERATOR(pg_catalog.=) e.oid"
      " AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass"
      " AND d.deptype OPERATOR(pg_catalog.=) 'e') member"
      " WHERE pg_catalog.nameeq(b.datname, pg_catalog.current_database())");
  return text.data;
}

// What no other server, database or extension has, not even a copy of this one.
const char *TargetHere(Oid extension) {
  return psprintf("%016llx %u %u", static_cast<unsigned long long>(PgStartTime), MyDatabaseId, extension);
}

void LookUp(Session *session, const RegistryTarget &target) {
  Ask(session, LookUpStatement(), {}, nullptr, [&](RemoteRow row) {
    if (row.PassNull())
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("the registry's database has no extension snowflake"),
                      errdetail("snowflake.registry leads to a database without it."),
                      errhint("Run CREATE EXTENSION snowflake there; the library need not be preloaded.")));
    char theirs[NAMEDATALEN];
    CopyPresentable(theirs, sizeof(theirs), row.Name());
    if (row.Int8() == 0) ReportNamesake("the registry's database", theirs);
    for (const char *&schema : session->schemas) schema = row.PassNull() ? nullptr : row.Name();
    target.found->is_here = strcmp(row.Text(), TargetHere(target.extension)) == 0;
  });
}

// Runs `talk` on a connection of its own.
template <typename Talk>
void WithRegistry(const RegistryTarget &target, bool hurry, Talk talk) {
  Session session = {};
  RemoteOpen(&session.remote, target.conninfo, MonotonicUs() + (hurry ? kHurryUs : kExchangeUs));
  PG_TRY();
  {
    target.found->in_clear = session.remote.in_clear;
    LookUp(&session, target);
    talk(&session);
  }
  PG_FINALLY();
  { RemoteClose(&session.remote); }
  PG_END_TRY();
}

const char *Int8Text(int64_t value) { return psprintf("%lld", static_cast<long long>(value)); }
const char *DurationText(int64_t us) { return psprintf("%lld microseconds", static_cast<long long>(us)); }
const char *BytesText(Datum bytes) { return DatumGetCString(DirectFunctionCall1(byteaout, bytes)); }

// A name that the registry could not store, or not as it is meant, goes there in letters that every server has.
const char *NodeText(const Remote &remote, const char *name) {
  if (RemoteHasOurEncoding(remote)) return name;
  char *text = static_cast<char *>(palloc(kMaxNodeName));
  CopyPresentable(text, kMaxNodeName, name, Alphabet::kAscii);
  return text;
}

Layout LayoutFrom(RemoteRow *row) {
  Datum values[kLayoutColumnCount];
  for (int i = 0; i < kLayoutColumnCount; ++i) {
    const Oid type = kLayoutColumns[i].type;
    values[i] = type == INT8OID   ? Int64GetDatum(row->Int8())
                : type == INT4OID ? Int32GetDatum(row->Int4())
                                  : BoolGetDatum(row->Bool());
  }
  return LayoutFromDatums(values);
}

constexpr const char *kStandingColumns = "system_identifier, timeline, raised_tick, word_us";

Standing StandingFrom(RemoteRow *row) { return {row->Int8(), row->Int8(), row->Int8(), row->Int8()}; }

// False when the registry drew nothing.
bool AcquireLease(Session *session, const AcquireRequest &request, AcquireAnswer *answer) {
  const char *const values[] = {NodeText(session->remote, request.node),
                                psprintf("%d", request.datacenter),
                                Int8Text(request.now),
                                DurationText(request.duration_us),
                                BytesText(SecretHashDatum(request.secret_hash)),
                                Int8Text(request.seen_lease_id),
                                request.start_before == kAnyStart ? nullptr : Int8Text(request.start_before)};
  const char *columns = psprintf("lease_id, worker_id, window_start, window_end, %s, %s, workers_free",
                                 kLayoutColumnList, kStandingColumns);
  bool drawn = false;
  CallFunction(session, kAcquire, columns, values, [&](RemoteRow row) {
    if (row.PassNull()) return;
    answer->lease = {row.Int8(), {}, row.Int4(), row.Int8(), row.Int8()};
    answer->layout = LayoutFrom(&row);
    answer->standing = StandingFrom(&row);
    answer->workers_free = row.Int8();
    drawn = true;
  });
  return drawn;
}

RegistryAnswer AcquireThere(const RegistryTarget &target, const Layout &layout, const AcquireRequest &request,
                            AcquireAnswer *answer) {
  bool drawn = false;
  const bool any_start = request.start_before == kAnyStart;
  WithRegistry(target, false, [&](Session *session) {
    // Ticks of another layout would only look like a clock that is off.
    CallFunction(session, kGetLayout, kLayoutColumnList, nullptr, [&](RemoteRow row) {
      const Layout theirs = LayoutFrom(&row);
      if (theirs != layout)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry has another layout"),
             errdetail("This database's layout has %s; the registry's has %s.", DescribeLayout(layout),
                       DescribeLayout(theirs)),
             errhint("Set the registry's layout here with snowflake_set_layout(), before the first id is issued.")));
    });
    if (!RecoveryInProgress()) KeepLocalLayout(target.extension);
    drawn = AcquireLease(session, request, answer);
  });
  if (drawn) return RegistryAnswer::kDone;
  return any_start ? RegistryAnswer::kBusy : RegistryAnswer::kNothingBetter;
}

RegistryAnswer ExtendThere(const RegistryTarget &target, const ExtendRequest &request, ExtendAnswer *answer) {
  RegistryAnswer outcome = RegistryAnswer::kGone;
  WithRegistry(target, false, [&](Session *session) {
    const char *const values[] = {Int8Text(request.lease_id),    BytesText(SecretHashDatum(request.secret_hash)),
                                  Int8Text(request.now),         DurationText(request.duration_us),
                                  Int8Text(request.held_until),  psprintf("%d", request.worker),
                                  Int8Text(request.window_start)};
    CallFunction(session, kExtend, psprintf("window_end, %s", kStandingColumns), values, [&](RemoteRow row) {
      if (!row.PassNull()) {
        answer->window_end = row.Int8();
        outcome = RegistryAnswer::kDone;
      }
      answer->standing = StandingFrom(&row);
    });
  });
  return outcome;
}

RegistryAnswer ReleaseThere(const RegistryTarget &target, const ReleaseRequest &request, bool hurry, Telling telling) {
  RegistryAnswer outcome = RegistryAnswer::kGone;
  WithRegistry(target, hurry, [&](Session *session) {
    const char *const values[] = {Int8Text(request.lease_id), BytesText(SecretDatum(request.secret)),
                                  Int8Text(request.last_tick), Int8Text(request.held_until)};
    telling(request.lease_id);
    CallFunction(session, kRelease, "answer", values, [&](RemoteRow row) {
      if (row.Bool()) outcome = RegistryAnswer::kDone;
    });
  });
  return outcome;
}

// An array as text. No catalog is looked at: there is no transaction here.
template <typename Append>
const char *ArrayText(int count, Append append) {
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < count; ++i) {
    appendStringInfoChar(&text, i == 0 ? '{' : ',');
    append(&text, i);
  }
  appendStringInfoString(&text, count == 0 ? "{}" : "}");
  return text.data;
}

void AppendQuoted(StringInfo text, const char *element) {
  appendStringInfoChar(text, '"');
  for (const char *c = element; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') appendStringInfoChar(text, '\\');
    appendStringInfoChar(text, *c);
  }
  appendStringInfoChar(text, '"');
}

// A name that the registry cannot have in its encoding is spelt so that it has none of that name.
const char *SegmentText(const Remote &remote, const char *name) {
  if (RemoteHasOurEncoding(remote)) return name;
  char *text = static_cast<char *>(palloc(kMaxSegmentName + 1));
  CopyPresentable(text, kMaxSegmentName + 1, name, Alphabet::kAscii);
  return text;
}

// Those of these segments; `secret`: with the secrets themselves, of those that are closed.
void AskForRanges(Session *session, const RangesRequest &request, bool secret, RangesAnswer *answer) {
  int *asked = static_cast<int *>(palloc(sizeof(int) * (request.count + 1))), count = 0;
  for (int i = 0; i < request.count; ++i)
    if (!secret || request.asks[i].wanted < 0) asked[count++] = i;
  if (count == 0) return;
  const auto ask = [&](int i) -> const RangeAsk & { return request.asks[asked[i]]; };
  const auto numbers = [&](int64_t RangeAsk::*member) {
    return ArrayText(count, [&](StringInfo text, int i) { appendStringInfo(text, "%lld", Long(ask(i).*member)); });
  };
  const char *names =
      ArrayText(count, [&](StringInfo text, int i) { AppendQuoted(text, SegmentText(session->remote, ask(i).name)); });
  const char *secrets = ArrayText(count, [&](StringInfo text, int i) {
    AppendQuoted(text, BytesText(secret ? SecretDatum(ask(i).secret) : SecretHashDatum(ask(i).secret.hash)));
  });
  const char *const values[] = {NodeText(session->remote, request.node),
                                names,
                                numbers(&RangeAsk::segment_id),
                                numbers(&RangeAsk::highest),
                                numbers(&RangeAsk::unused),
                                numbers(&RangeAsk::wanted),
                                secrets};
  CallFunction(session, kRanges,
               "segment_ids, range_last, range_count, usage_roles, system_identifier, timeline, word_us, known", values,
               [&](RemoteRow row) {
                 int64_t *columns[3];
                 for (int64_t *&column : columns) {
                   column = static_cast<int64_t *>(palloc(sizeof(int64_t) * (count + 1)));
                   row.Int8Array(column, count);
                 }
                 char **roles = row.Names(count);
                 const Alphabet alphabet = RemoteHasOurEncoding(session->remote) ? Alphabet::kOurs : Alphabet::kAscii;
                 for (int i = 0; i < count; ++i) {
                   RangeAnswer *of = &answer->answers[asked[i]];
                   *of = {columns[0][i], {columns[1][i], columns[2][i]}, {}};
                   // A name that does not fit our encoding is changed: it names no role here.
                   CopyPresentable(of->usage_role, sizeof(of->usage_role), roles[i], alphabet);
                 }
                 answer->standing = {row.Int8(), row.Int8(), kNoWatermark, row.Int8()};
                 CopyPresentable(answer->known, sizeof(answer->known), row.Text(), alphabet);
               });
}

// A call that fails may have shown the secret to others. So the registry first commits, under the hash, how far the node
// has issued: no more than the rest comes back with the secret.
RegistryAnswer AcquireRangesThere(const RegistryTarget &target, const RangesRequest &request, bool hurry,
                                  RangesAnswer *answer) {
  WithRegistry(target, hurry, [&](Session *session) {
    AskForRanges(session, request, false, answer);
    AskForRanges(session, request, true, answer);
  });
  return RegistryAnswer::kDone;
}

}  // namespace

const Registry kRemoteRegistry = {false, AcquireThere, ExtendThere, ReleaseThere, AcquireRangesThere};

}  // namespace snowflake

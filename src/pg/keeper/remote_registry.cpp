// The registry in another database, over libpq: the same functions. One connection for each
// exchange, because an idle one would hold up a smart shutdown there, and a thousand of them would
// need as many backends.
//
// 1. Each call is one statement, so that it is committed there when its answer is complete. Values
//    are parameters: a statement's text can be read by other sessions of the role, and in the log.
// 2. Only functions that belong to the extension are called, by their schema and exact types:
//    others of the same name are not the extension's.
// 3. An answer that is lost or late is harmless: an acquire is asked again with its secret, an
//    extend is repeated, and a release finds nothing the second time.
#include "pg/database_layout.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/libpq.h"
#include "pg/keeper/registry.h"
#include "pg/presentable.h"
#include "pg/registry/secrets.h"
#include "pg/registry/segments.h"
#include "pg/report.h"
#include "pg/state/node_block.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// For all of an exchange; and while the server is being shut down, which may take 3 s.
constexpr int64_t kExchangeUs = 60 * 1000 * 1000;
constexpr int64_t kHurryUs = 1800 * 1000;

// The functions, by name and types of arguments.
constexpr int kMostArguments = 8;
constexpr int kRangeArrays = 6;
static_assert(1 + kRangeArrays * kMostRanges <= PG_UINT16_MAX, "a statement cannot have so many parameters");
struct RemoteFunction {
  const char *name;
  int count;
  Oid types[kMostArguments];
};
enum { kAcquire, kExtend, kRelease, kRanges, kGetLayout, kFunctionCount };
constexpr RemoteFunction kFunctions[kFunctionCount] = {
    {"snowflake_lease_acquire", 8, {TEXTOID, INT4OID, INT8OID, INTERVALOID, BYTEAOID, INT8OID, INT8OID, BOOLOID}},
    {"snowflake_lease_extend", 8, {INT8OID, BYTEAOID, INT8OID, INTERVALOID, INT8OID, INT4OID, INT8OID, BOOLOID}},
    {"snowflake_lease_release", 4, {INT8OID, BYTEAOID, INT8OID, INT8OID}},
    {"snowflake_segment_ranges",
     1 + kRangeArrays,
     {TEXTOID, TEXTARRAYOID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID, BYTEAARRAYOID}},
    {"snowflake_get_layout", 0, {}}};

struct Session {
  Remote remote;
  const char *schemas[kFunctionCount];  // quoted; nullptr: no such function
  const char *denied;                   // names of functions that the role may not execute
};

void CheckFunction(const Session *session, int index) {
  if (session->schemas[index] == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the registry's extension has no function %s() that this version can call", kFunctions[index].name),
             errhint("Run ALTER EXTENSION snowflake UPDATE there."), BlameRegistry()));
}

// The statement up to the arguments. `columns` are those of the answer; a function without named
// ones has one called answer.
void BeginStatement(const Session *session, int index, const char *columns, StringInfo statement) {
  CheckFunction(session, index);
  initStringInfo(statement);
  appendStringInfo(statement, "SELECT %s FROM %s.%s(", columns, session->schemas[index], kFunctions[index].name);
}

RemoteRow CallFunction(Session *session, int index, const char *columns, const char *const *values) {
  const RemoteFunction &function = kFunctions[index];
  StringInfoData statement;
  BeginStatement(session, index, columns, &statement);
  for (int i = 0; i < function.count; ++i) appendStringInfo(&statement, "%s$%d", i > 0 ? ", " : "", i + 1);
  appendStringInfoString(&statement, ") AS answer");
  return RemoteCall(&session->remote, statement.data, function.count, function.types, values);
}

// The extension's schema, null without one; how many functions of ours it has; the schema of each;
// those that the role may not execute; when the server was started; and which database, extension
// and role these are. All names are qualified, because a role may have any search_path.
const char *LookUpStatement() {
  StringInfoData text, named;
  initStringInfo(&text);
  initStringInfo(&named);
  appendStringInfoString(&text,
                         "SELECT n.nspname, member.*, pg_catalog.encode(pg_catalog.timestamptz_send("
                         "pg_catalog.pg_postmaster_start_time()), 'hex') AS started, b.oid AS database,"
                         " e.oid AS extension, r.oid AS role FROM pg_catalog.pg_database b"
                         " JOIN pg_catalog.pg_roles r ON pg_catalog.nameeq(r.rolname, session_user)"
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
    appendStringInfo(&named, "%spg_catalog.nameeq(p.proname, '%s')", named.len > 0 ? " OR " : "", function.name);
  }
  appendStringInfo(&text,
                   ", pg_catalog.string_agg(p.proname::pg_catalog.text, ' ') FILTER (WHERE (%s)"
                   " AND NOT pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) AS denied",
                   named.data);
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

void LookUp(Session *session, RegistryTarget *target) {
  RemoteRow row = RemoteCall(&session->remote, LookUpStatement(), 0, nullptr, nullptr);
  if (row.PassNull())
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the registry's database has no extension snowflake"),
             errdetail("snowflake.registry leads to a database without it."),
             errhint("Run CREATE EXTENSION snowflake there; the library need not be preloaded."), BlameRegistry()));
  char theirs[NAMEDATALEN];
  CopyPresentable(theirs, sizeof(theirs), row.ReadName());
  if (row.ReadInt8() == 0 && BlameRegistry() == 0) ReportNamesake("the registry's database", theirs);
  for (const char *&schema : session->schemas) schema = row.PassNull() ? nullptr : row.ReadName();
  session->denied = row.PassNull() ? "" : row.ReadString();
  // No other server, database or extension has the same three, not even a copy of this one.
  const char *started = psprintf("%016llx", static_cast<unsigned long long>(PgStartTime));
  const bool same_server = strcmp(row.ReadString(), started) == 0;
  target->place = {row.ReadOid(), row.ReadOid(), row.ReadOid()};
  target->leads_here =
      same_server && target->place.database == MyDatabaseId && target->place.extension == target->extension;
  // Before the exchange: whoever receives its answer may call a function of the registry at once.
  if (target->node != nullptr)
    WithLock(target->node, LW_EXCLUSIVE, [&] { target->node->registry_is_here = target->leads_here; });
}

// A property of the setting and of this libpq, not an event: logged once, and shown as a metric.
void NotePassword(NodeBlock *node, bool in_clear) {
  bool before = false;
  WithLock(node, LW_EXCLUSIVE, [&] {
    before = node->password_in_clear;
    node->password_in_clear = in_clear;
  });
  if (in_clear && !before)
    ereport(WARNING,
            (errmsg("snowflake keeper: the registry's password is sent in clear text to any server that answers in "
                    "its place and asks for it"),
             errhint("Add sslmode=verify-full to snowflake.registry, or use a certificate. From version 16 on, libpq "
                     "does not send it in clear text, but this libpq is older.")));
}

// Runs `talk` on a connection of its own, and returns what it returns.
template <typename Talk>
bool WithRegistry(RegistryTarget *target, bool hurry, Talk talk) {
  Session session = {};
  volatile bool done = false;
  target->hangs = false;
  PG_TRY();
  {
    RemoteOpen(&session.remote, target->conninfo, MonotonicUs() + (hurry ? kHurryUs : kExchangeUs));
    if (target->node != nullptr) NotePassword(target->node, session.remote.in_clear);
    LookUp(&session, target);
    done = talk(&session);
  }
  PG_CATCH();
  {
    target->hangs = session.remote.hangs;
    RemoteClose(&session.remote);
    PG_RE_THROW();
  }
  PG_END_TRY();
  RemoteClose(&session.remote);
  return done;
}

const char *Int8Text(int64_t value) { return psprintf("%lld", Long(value)); }
const char *BoolText(bool value) { return value ? "t" : "f"; }
const char *DurationText(int64_t us) { return psprintf("%lld microseconds", Long(us)); }
const char *BytesText(Datum bytes) { return DatumGetCString(DirectFunctionCall1(byteaout, bytes)); }

// A name as the registry can store it. If its encoding is another one, the name goes there in
// letters that every server has; it is then no name of a segment that the registry has.
const char *NameText(const Remote &remote, const char *name, size_t size) {
  if (RemoteHasOurEncoding(remote)) return name;
  char *text = static_cast<char *>(palloc(size));
  CopyPresentable(text, size, name, Alphabet::kAscii);
  return text;
}

// The registry may be of a later version, and know words that this one does not.
Layout LayoutFrom(RemoteRow *row) {
  const char *text = row->ReadString();
  const DefinitionReading reading = ReadDefinition(text);
  if (reading.fault != DefinitionFault::kNone || !reading.definition.IsPlain()) {
    char shown[kMaxDefinition];
    CopyPresentable(shown, sizeof(shown), text);
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the registry has a layout that this version does not know"), errdetail("It is \"%s\".", shown),
             errhint("Use the registry's version of the library here."), BlameRegistry()));
  }
  return reading.definition.layout;
}

constexpr const char *kStandingColumns = "system_identifier, timeline, raised_tick, settle_called_us";

Standing StandingFrom(RemoteRow *row) { return {row->ReadInt8(), row->ReadInt8(), row->ReadInt8(), row->ReadInt8()}; }

// False if the registry assigned nothing.
bool AcquireLease(Session *session, const AcquireRequest &request, AcquireAnswer *answer) {
  const char *const values[] = {NameText(session->remote, request.node, kMaxNodeName),
                                psprintf("%d", request.datacenter),
                                Int8Text(request.now),
                                DurationText(request.duration_us),
                                BytesText(SecretHashDatum(request.secret_hash)),
                                Int8Text(request.seen_lease_id),
                                request.start_before == kAnyStart ? nullptr : Int8Text(request.start_before),
                                BoolText(request.leapt)};
  const char *columns =
      psprintf("lease_id, worker_id, window_start, window_end, layout, %s, workers_free", kStandingColumns);
  RemoteRow row = CallFunction(session, kAcquire, columns, values);
  if (row.PassNull()) return false;
  answer->lease = {row.ReadInt8(), {}, row.ReadInt4(), row.ReadInt8(), row.ReadInt8()};
  answer->layout = LayoutFrom(&row);
  answer->standing = StandingFrom(&row);
  answer->workers_free = row.ReadInt8();
  return true;
}

// Ticks of another layout would only look like a clock that is off.
void CheckLayoutThere(Session *session, const Layout &layout) {
  RemoteRow row = CallFunction(session, kGetLayout, "answer", nullptr);
  const Layout theirs = LayoutFrom(&row);
  if (theirs != layout)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry has another layout"),
             errdetail("This database's layout is \"%s\"; the registry's is \"%s\".", TextOfLayout(layout),
                       TextOfLayout(theirs)),
             errhint("Set the registry's layout here with snowflake_set_layout(), before the first id is issued."),
             BlameRegistry()));
}

RegistryAnswer AcquireThere(RegistryTarget *target, const Layout &layout, const Asking<AcquireRequest> &ask,
                            AcquireAnswer *answer) {
  const bool acquired = WithRegistry(target, false, [&](Session *session) {
    CheckLayoutThere(session, layout);
    if (!RecoveryInProgress()) KeepLocalLayout(target->extension);
    return AcquireLease(session, ask(), answer);
  });
  return acquired ? RegistryAnswer::kDone : RegistryAnswer::kBusy;
}

bool ExtendThere(RegistryTarget *target, const Asking<ExtendRequest> &ask, ExtendAnswer *answer) {
  return WithRegistry(target, false, [&](Session *session) {
    const ExtendRequest request = ask();
    const char *const values[] = {Int8Text(request.lease_id),     BytesText(SecretHashDatum(request.secret_hash)),
                                  Int8Text(request.now),          DurationText(request.duration_us),
                                  Int8Text(request.held_until),   psprintf("%d", request.worker),
                                  Int8Text(request.window_start), BoolText(request.leapt)};
    RemoteRow row = CallFunction(session, kExtend, psprintf("window_end, %s", kStandingColumns), values);
    const bool extended = !row.PassNull();
    if (extended) answer->window_end = row.ReadInt8();
    answer->standing = StandingFrom(&row);
    return extended;
  });
}

bool ReleaseThere(RegistryTarget *target, const ReleaseRequest &request, bool hurry, BeforeRelease before) {
  return WithRegistry(target, hurry, [&](Session *session) {
    const char *const values[] = {Int8Text(request.lease_id), BytesText(SecretDatum(request.secret)),
                                  Int8Text(request.last_tick), Int8Text(request.held_until)};
    before(request.lease_id);
    return CallFunction(session, kRelease, "answer", values).ReadBool();
  });
}

// The ranges of these segments. `secret`: only of those that are closed, and with the secrets
// themselves.
bool AskForRanges(Session *session, const RangesRequest &request, bool secret, RangesAnswer *answer) {
  int *asked = static_cast<int *>(palloc(sizeof(int) * (request.count + 1))), count = 0;
  for (int i = 0; i < request.count; ++i)
    if (!secret || request.asks[i].wanted < 0) asked[count++] = i;
  if (count == 0) return true;
  Remote *remote = &session->remote;
  StringInfoData statement;
  BeginStatement(session, kRanges,
                 "segment_id, last, numbers, role, system_identifier, timeline, settle_called_us, known", &statement);
  appendStringInfoString(&statement, "$1");
  const int most = 1 + kRangeArrays * count;
  Oid *types = static_cast<Oid *>(palloc(sizeof(Oid) * most));
  const char **values = static_cast<const char **>(palloc(sizeof(char *) * most));
  int n = 0;
  types[n] = TEXTOID;
  values[n++] = NameText(*remote, request.node, kMaxNodeName);
  const auto add = [&](Oid type, auto value) {
    for (int i = 0; i < count; ++i) {
      types[n] = type;
      values[n++] = value(request.asks[asked[i]]);
      appendStringInfo(&statement, "%s$%d", i == 0 ? ", ARRAY[" : ", ", n);
    }
    appendStringInfoChar(&statement, ']');
  };
  add(TEXTOID, [&](const RangeAsk &ask) { return NameText(*remote, ask.name, kMaxSegmentName + 1); });
  for (int64_t RangeAsk::*number : {&RangeAsk::segment_id, &RangeAsk::highest, &RangeAsk::unused, &RangeAsk::wanted})
    add(INT8OID, [&](const RangeAsk &ask) { return Int8Text(ask.*number); });
  add(BYTEAOID, [&](const RangeAsk &ask) {
    return BytesText(secret ? SecretDatum(ask.secret) : SecretHashDatum(ask.secret.hash));
  });
  // A call of unnest() with several arguments is pg_catalog's, whatever the search_path.
  appendStringInfoString(&statement,
                         ") AS answer, unnest(segment_ids, range_last, range_count, usage_roles) WITH ORDINALITY"
                         " AS range (segment_id, last, numbers, role, place) ORDER BY place");
  RemoteSend(remote, statement.data, n, types, values);
  const Alphabet alphabet = RemoteHasOurEncoding(*remote) ? Alphabet::kOurs : Alphabet::kAscii;
  for (int i = 0; i < count; ++i) {
    RemoteRow row = RemoteNext(remote);
    RangeAnswer *of = &answer->answers[asked[i]];
    *of = {row.ReadInt8(), {row.ReadInt8(), row.ReadInt8()}, {}};
    // A name that does not fit our encoding is changed: it names no role here.
    CopyPresentable(of->usage_role, sizeof(of->usage_role), row.ReadName(), alphabet);
    // Each row repeats the standing.
    answer->standing = {row.ReadInt8(), row.ReadInt8(), kNoWatermark, row.ReadInt8()};
    CopyPresentable(answer->known, sizeof(answer->known), row.ReadString(), alphabet);
  }
  RemoteEnd(remote);
  return true;
}

// A call that fails may have shown the secret to others. So the registry first commits, under the
// hash, how far the node has issued; the second call then returns no more than the rest.
bool AcquireRangesThere(RegistryTarget *target, const RangesRequest &request, bool hurry, RangesAnswer *answer) {
  return WithRegistry(target, hurry, [&](Session *session) {
    return AskForRanges(session, request, false, answer) && AskForRanges(session, request, true, answer);
  });
}

void CheckMayCall(const Session *session, int index) {
  CheckFunction(session, index);
  const char *name = kFunctions[index].name;
  if (strstr(session->denied, name) != nullptr)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for function %s", name),
                    BlameRegistry()));
}

// An extend or an acquire would name a lease of this node, and a registry takes one that it never
// assigned for a loss. So this only examines what they need.
bool ProbeThere(RegistryTarget *target, const Layout &layout, const Wanted &wanted, int64_t *system_identifier) {
  return WithRegistry(target, false, [&](Session *session) {
    for (const int function : {kAcquire, kExtend, kRelease})
      if (wanted.leases) CheckMayCall(session, function);
    if (wanted.ranges) CheckMayCall(session, kRanges);
    CheckLayoutThere(session, layout);
    RemoteRow row = RemoteCall(&session->remote,
                               "SELECT system_identifier, pg_catalog.pg_is_in_recovery() AS recovery"
                               " FROM pg_catalog.pg_control_system()",
                               0, nullptr, nullptr);
    *system_identifier = row.ReadInt8();
    if (row.ReadBool())
      ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("the registry's server is a standby"),
                      errhint("Name its primary in snowflake.registry."), BlameRegistry()));
    return true;
  });
}

}  // namespace

const Registry kRemoteRegistry = {false, AcquireThere, ExtendThere, ReleaseThere, AcquireRangesThere, ProbeThere};

}  // namespace snowflake

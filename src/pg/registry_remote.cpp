// The registry in another database, over libpq: the same three functions. One connection for each exchange, because an idle
// one would hold up a smart shutdown there, and a thousand of them would need as many backends.
//
// An answer that is lost or late is harmless: an acquire whose answer never came leaves a row that expires, an extend is
// repeated, and a release finds nothing the second time.
#include "pg/layout_table.h"
#include "pg/registry.h"
#include "pg/remote.h"
#include "pg/report.h"

namespace snowflake {

namespace {

// For all of an exchange.
constexpr int64_t kExchangeUs = 60 * 1000 * 1000;
// The same when the server is being shut down.
constexpr int64_t kHurryUs = 1800 * 1000;

// Whatever the role's or the database's defaults are there. The server gives up no later than the node does.
constexpr const char *kBegin =
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = "
    "'4s'; ";

struct Session {
  PGconn *connection;
  int64_t deadline_us;
  const char *schema;  // quoted
};

const char *Get(const PGresult *result, int column) {
  const char *value = RemoteValue(result, column);
  if (value == nullptr) ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("the registry answered nonsense")));
  return value;
}
int64_t GetInt8(const PGresult *result, int column) {
  return DatumGetInt64(DirectFunctionCall1(int8in, CStringGetDatum(Get(result, column))));
}
int32_t GetInt4(const PGresult *result, int column) {
  return DatumGetInt32(DirectFunctionCall1(int4in, CStringGetDatum(Get(result, column))));
}

Layout GetLayout(const PGresult *result, int column) {
  return {GetInt8(result, column),          GetInt8(result, column + 1), GetInt4(result, column + 2),
          GetInt4(result, column + 3),      GetInt4(result, column + 4), GetInt4(result, column + 5),
          Get(result, column + 6)[0] == 't'};
}

const char *TokenText(const Token &token) { return DatumGetCString(DirectFunctionCall1(uuid_out, TokenDatum(token))); }

Token GetToken(const PGresult *result, int column) {
  return TokenFromDatum(DirectFunctionCall1(uuid_in, CStringGetDatum(Get(result, column))));
}

// Hands `read` the answer's row, and lets go of it whatever happens.
template <typename Read>
void Ask(const Session &session, const char *commands, Read read) {
  PGresult *volatile result = RemoteQuery(session.connection, commands, session.deadline_us);
  PG_TRY();
  { read(const_cast<const PGresult *>(result)); }
  PG_FINALLY();
  { RemoteClear(result); }
  PG_END_TRY();
}

void FindSchema(Session *session) {
  Ask(*session,
      "SELECT pg_catalog.quote_ident(n.nspname), n.nspname, (SELECT 1 FROM pg_catalog.pg_proc p"
      " WHERE p.pronamespace = n.oid AND p.proname = 'snowflake_acquire' LIMIT 1)"
      " FROM (SELECT) one LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'snowflake'"
      " LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace",
      [&](const PGresult *result) {
        const char *schema = RemoteValue(result, 0);
        if (schema == nullptr) ReportNoRegistry();
        if (RemoteValue(result, 2) == nullptr) ReportNamesake("the registry's database", Get(result, 1));
        session->schema = pstrdup(schema);
      });
}

// Runs `talk` on a connection of its own.
template <typename Talk>
void WithRegistry(const char *conninfo, bool hurry, Talk talk) {
  Session session = {};
  session.deadline_us = MonotonicUs() + (hurry ? kHurryUs : kExchangeUs);
  session.connection = RemoteConnect(conninfo, session.deadline_us);
  PG_TRY();
  {
    FindSchema(&session);
    talk(session);
  }
  PG_FINALLY();
  { RemoteClose(session.connection); }
  PG_END_TRY();
}

long long Long(int64_t value) { return static_cast<long long>(value); }

}  // namespace

RegistryAnswer AcquireRemotely(const char *conninfo, Oid extension, const Layout &layout, const AcquireRequest &request,
                               AcquireAnswer *answer) {
  RegistryAnswer outcome = RegistryAnswer::kBusy;
  WithRegistry(conninfo, false, [&](const Session &session) {
    // Ticks of another layout would only look like a clock that is off.
    Ask(session, psprintf("SELECT * FROM %s.snowflake_get_layout()", session.schema), [&](const PGresult *result) {
      const Layout theirs = GetLayout(result, 0);
      if (theirs != layout) ReportOtherLayout(layout, theirs);
    });
    if (!RecoveryInProgress()) KeepLocalLayout(extension);
    const char *command = psprintf("%sSELECT * FROM %s.snowflake_acquire(%s, %d, %lld, '%lld microseconds'); COMMIT",
                                   kBegin, session.schema, RemoteLiteral(session.connection, request.node),
                                   request.datacenter, Long(request.now), Long(request.duration_us));
    Ask(session, command, [&](const PGresult *result) {
      if (RemoteValue(result, 0) == nullptr) return;
      Lease *lease = &answer->lease;
      lease->lease_id = GetInt8(result, 0);
      lease->token = GetToken(result, 1);
      lease->worker = GetInt4(result, 2);
      lease->window_start = GetInt8(result, 3);
      lease->window_end = GetInt8(result, 4);
      answer->layout = GetLayout(result, 5);
      outcome = RegistryAnswer::kDone;
    });
  });
  return outcome;
}

RegistryAnswer ExtendRemotely(const char *conninfo, const Lease &lease, Tick now, int64_t duration_us,
                              ExtendAnswer *answer) {
  RegistryAnswer outcome = RegistryAnswer::kGone;
  WithRegistry(conninfo, false, [&](const Session &session) {
    const char *command =
        psprintf("%sSELECT %s.snowflake_extend(%lld, '%s', %lld, '%lld microseconds'); COMMIT", kBegin, session.schema,
                 Long(lease.lease_id), TokenText(lease.token), Long(now), Long(duration_us));
    Ask(session, command, [&](const PGresult *result) {
      if (RemoteValue(result, 0) == nullptr) return;
      answer->window_end = GetInt8(result, 0);
      outcome = RegistryAnswer::kDone;
    });
  });
  return outcome;
}

RegistryAnswer ReleaseRemotely(const char *conninfo, const Retired &retired, bool hurry) {
  RegistryAnswer outcome = RegistryAnswer::kGone;
  WithRegistry(conninfo, hurry, [&](const Session &session) {
    const char *command = psprintf("%sSELECT %s.snowflake_release(%lld, '%s', %lld); COMMIT", kBegin, session.schema,
                                   Long(retired.lease_id), TokenText(retired.token), Long(retired.last_tick));
    Ask(session, command, [&](const PGresult *result) {
      if (Get(result, 0)[0] == 't') outcome = RegistryAnswer::kDone;
    });
  });
  return outcome;
}

}  // namespace snowflake

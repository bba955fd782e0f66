#include "pg/remote.h"

#include "libpq-fe.h"

namespace snowflake {

bool (*remote_give_way)() = nullptr;

namespace {

constexpr int64_t kGiveWayUs = 1000 * 1000;

// A host that does not answer must leave time for the next one in the list.
constexpr int64_t kLeastPerHostUs = 500 * 1000;
// Who does not even answer the first packet is asked again rather than waited for: the pauses of TCP grow too long to
// notice soon that a network is back.
constexpr int64_t kReachUs = 1000 * 1000;
// Each answer of a host that was reached gets as long, however many it takes to connect.
constexpr int64_t kAnswerUs = 5 * 1000 * 1000;
constexpr int kMostHosts = 16;

[[noreturn]] void ReportConnection(PGconn *connection, const char *what) {
  char *detail = connection != nullptr ? pchomp(PQerrorMessage(connection)) : pstrdup("");
  for (char *c = detail; *c != '\0'; ++c)
    if (*c == '\n') *c = ' ';
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("%s", what),
                  detail[0] != '\0' ? errdetail_internal("%s", detail) : 0));
  pg_unreachable();
}

[[noreturn]] void ReportSilence(PGconn *connection, const char *what) {
  const char *host = PQhost(connection), *port = PQport(connection);
  ereport(ERROR,
          (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("%s", what),
           errdetail("No answer from \"%s\", port %s.", host != nullptr ? host : "", port != nullptr ? port : "")));
  pg_unreachable();
}

[[noreturn]] void ReportResult(const PGresult *result) {
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
  const int code =
      state != nullptr ? MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]) : ERRCODE_CONNECTION_FAILURE;
  ereport(ERROR, (errcode(code), errmsg_internal("%s", message != nullptr ? message : "the registry answered nonsense"),
                  detail != nullptr ? errdetail_internal("%s", detail) : 0));
  pg_unreachable();
}

// Waits for the socket. False when the deadline has passed; a cancellation is an ERROR.
bool Await(PGconn *connection, int socket_events, int64_t deadline_us) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeRegistry");
  int64_t ask_us = MonotonicUs() + kGiveWayUs;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const int64_t now_us = MonotonicUs();
    if (now_us >= deadline_us) return false;
    if (now_us >= ask_us) {
      ask_us = now_us + kGiveWayUs;
      if (remote_give_way != nullptr && remote_give_way())
        ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("gave up waiting for the registry")));
    }
    const int64_t left_us = Min(deadline_us, ask_us) - now_us;
    const int occurred = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | socket_events,
                                           PQsocket(connection), static_cast<long>(left_us / 1000) + 1, event);
    if (occurred & WL_LATCH_SET) ResetLatch(MyLatch);
    if (occurred & socket_events) return true;
  }
}

// The one host of the list that is to be tried, or all of them.
struct Host {
  const char *host, *hostaddr, *port;
};

// What the string says comes before these: who vanished without a word, or came back without knowing the connection, is
// noticed within seconds.
constexpr const char *kPatience[][2] = {
    {"keepalives_idle", "1"}, {"keepalives_interval", "1"}, {"keepalives_count", "4"}, {"tcp_user_timeout", "2000"}};

PGconn *Start(const char *conninfo, const Host *only) {
  const char *keywords[11], *values[11];
  int count = 0;
  const auto add = [&](const char *keyword, const char *value) {
    if (value == nullptr) return;
    keywords[count] = keyword;
    values[count++] = value;
  };
  for (const auto &option : kPatience) add(option[0], option[1]);
  add("dbname", conninfo);
  add("fallback_application_name", "snowflake keeper");
  // Names and messages go through in this database's encoding, whatever the registry's.
  add("client_encoding", GetDatabaseEncodingName());
  if (only != nullptr) {
    add("host", only->host);
    add("hostaddr", only->hostaddr);
    add("port", only->port);
  }
  keywords[count] = values[count] = nullptr;
  PGconn *connection = PQconnectStartParams(keywords, values, 1);
  if (connection == nullptr) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  // The registry's warnings are its own log's; libpq would write them to this server's stderr.
  PQsetNoticeReceiver(
      connection, [](void *, const PGresult *) {}, nullptr);
  return connection;
}

// True when connected, false when refused or out of time.
bool Finish(PGconn *connection, int64_t deadline_us) {
  if (PQstatus(connection) == CONNECTION_BAD) return false;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  for (;;) {
    // The socket may have become another one since the last time.
    const int64_t patience_us = PQstatus(connection) == CONNECTION_STARTED ? kReachUs : kAnswerUs;
    if (!Await(connection, next == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE,
               Min(MonotonicUs() + patience_us, deadline_us)))
      return false;
    next = PQconnectPoll(connection);
    if (next == PGRES_POLLING_OK) return true;
    if (next == PGRES_POLLING_FAILED) return false;
  }
}

// Splits a comma-separated list; returns how many there are.
int Split(char *list, const char **items) {
  int count = 0;
  while (list != nullptr && count < kMostHosts) {
    items[count++] = list;
    list = strchr(list, ',');
    if (list != nullptr) *list++ = '\0';
  }
  return count;
}

// The hosts that a connection's string, service file and environment come to.
int ListHosts(PGconn *connection, Host *hosts) {
  const char *names[kMostHosts] = {}, *addresses[kMostHosts] = {}, *ports[kMostHosts] = {};
  int name_count = 0, address_count = 0, port_count = 0;
  PQconninfoOption *options = PQconninfo(connection);
  for (const PQconninfoOption *option = options; option != nullptr && option->keyword != nullptr; ++option) {
    if (option->val == nullptr || option->val[0] == '\0') continue;
    if (strcmp(option->keyword, "host") == 0) name_count = Split(pstrdup(option->val), names);
    if (strcmp(option->keyword, "hostaddr") == 0) address_count = Split(pstrdup(option->val), addresses);
    if (strcmp(option->keyword, "port") == 0) port_count = Split(pstrdup(option->val), ports);
  }
  PQconninfoFree(options);
  const int count = Max(Max(name_count, address_count), 1);
  for (int i = 0; i < count; ++i) hosts[i] = {names[i], addresses[i], port_count == 1 ? ports[0] : ports[i]};
  return count;
}

constexpr const char *kNoAnswer = "the registry did not answer in time";

// Sends what is queued and waits until the answer is there.
void Exchange(PGconn *connection, int64_t deadline_us) {
  for (;;) {
    const int left = PQflush(connection);
    if (left < 0) ReportConnection(connection, "could not send to the registry");
    if (left == 0) break;
    if (!Await(connection, WL_SOCKET_WRITEABLE | WL_SOCKET_READABLE, deadline_us)) ReportSilence(connection, kNoAnswer);
    if (PQconsumeInput(connection) == 0) ReportConnection(connection, "lost the connection to the registry");
  }
  while (PQisBusy(connection)) {
    if (!Await(connection, WL_SOCKET_READABLE, deadline_us)) ReportSilence(connection, kNoAnswer);
    if (PQconsumeInput(connection) == 0) ReportConnection(connection, "lost the connection to the registry");
  }
}

}  // namespace

ConnectionString CheckConnectionString(const char *text) {
  if (text == nullptr || text[0] == '\0') return ConnectionString::kGood;
  char *message = nullptr;
  PQconninfoOption *options = PQconninfoParse(text, &message);
  if (message != nullptr) PQfreemem(message);
  if (options == nullptr) return ConnectionString::kInvalid;
  bool password = false;
  for (const PQconninfoOption *option = options; option->keyword != nullptr; ++option)
    if (option->val != nullptr && option->val[0] != '\0' &&
        (strcmp(option->keyword, "password") == 0 || strcmp(option->keyword, "sslpassword") == 0))
      password = true;
  PQconninfoFree(options);
  return password ? ConnectionString::kPassword : ConnectionString::kGood;
}

PGconn *RemoteConnect(const char *conninfo, int64_t deadline_us) {
  PGconn *volatile connection = Start(conninfo, nullptr);
  volatile bool connected = false;
  PG_TRY();
  {
    Host hosts[kMostHosts];
    const int count = ListHosts(connection, hosts);
    if (count == 1) connected = Finish(connection, deadline_us);
    for (int i = 0; count > 1 && i < count && !connected; ++i) {
      const int64_t now_us = MonotonicUs();
      const int64_t share_us = Max((deadline_us - now_us) / (count - i), kLeastPerHostUs);
      PQfinish(connection);
      connection = nullptr;
      connection = Start(conninfo, &hosts[i]);
      connected = Finish(connection, Min(now_us + share_us, deadline_us));
    }
    if (!connected && PQstatus(connection) != CONNECTION_BAD)
      ReportSilence(connection, "could not connect to the registry in time");
    if (!connected) ReportConnection(connection, "could not connect to the registry");
    if (PQsetnonblocking(connection, 1) != 0) ReportConnection(connection, "could not connect to the registry");
  }
  PG_CATCH();
  {
    if (connection != nullptr) PQfinish(connection);
    PG_RE_THROW();
  }
  PG_END_TRY();
  return connection;
}

void RemoteClose(PGconn *connection) { PQfinish(connection); }

PGresult *RemoteQuery(PGconn *connection, const char *commands, int64_t deadline_us) {
  if (PQsendQuery(connection, commands) == 0) ReportConnection(connection, "could not send to the registry");
  PGresult *volatile kept = nullptr;
  PG_TRY();
  {
    for (;;) {
      Exchange(connection, Min(deadline_us, MonotonicUs() + kAnswerUs));
      PGresult *result = PQgetResult(connection);
      if (result == nullptr) break;
      const ExecStatusType status = PQresultStatus(result);
      const bool rows = status == PGRES_TUPLES_OK && kept == nullptr;
      if (rows) {
        kept = result;
        continue;
      }
      if (status != PGRES_COMMAND_OK) {
        if (kept != nullptr) PQclear(kept);
        kept = result;  // cleared below
        ReportResult(result);
      }
      PQclear(result);
    }
    if (kept == nullptr || PQntuples(kept) != 1) ReportConnection(connection, "the registry answered nonsense");
  }
  PG_CATCH();
  {
    if (kept != nullptr) PQclear(kept);
    PG_RE_THROW();
  }
  PG_END_TRY();
  return kept;
}

void RemoteClear(PGresult *result) { PQclear(result); }

char *RemoteLiteral(PGconn *connection, const char *text) {
  char *quoted = PQescapeLiteral(connection, text, strlen(text));
  if (quoted == nullptr) ReportConnection(connection, "could not quote a value for the registry");
  char *copy = pstrdup(quoted);
  PQfreemem(quoted);
  return copy;
}

const char *RemoteValue(const PGresult *result, int column) {
  if (column >= PQnfields(result) || PQgetisnull(result, 0, column)) return nullptr;
  return PQgetvalue(result, 0, column);
}

}  // namespace snowflake

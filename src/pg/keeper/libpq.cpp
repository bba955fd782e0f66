// Connects, sends and receives, without blocking; the promises are in libpq.h.
#include "pg/keeper/libpq.h"

#include "libpq-fe.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/resolver.h"
#include "pg/presentable.h"
#include "pg/processes.h"

namespace snowflake {
bool (*remote_give_way)() = nullptr;

namespace {
// How often a wait asks whether to give way.
constexpr int64_t kAskToGiveWayUs = 100 * 1000;
// What each host gets at least, however many others are in the list.
constexpr int64_t kLeastPerHostUs = 500 * 1000;
// If a host does not answer the first packet, a new connection is better than a longer wait: the
// pauses of TCP grow too long to notice soon that a network is back.
constexpr int64_t kReachUs = 1000 * 1000;
// For each answer of a host that was reached, however many it takes to connect.
constexpr int64_t kAnswerUs = 5 * 1000 * 1000;
constexpr int kMostHosts = 16;

// These hold from the first statement on, whatever the role or the database there has as defaults.
// The server gives up no later than the node does, and sends every warning.
constexpr const char *kSettings =
    "-c statement_timeout=5s -c lock_timeout=4s -c idle_session_timeout=0 -c client_min_messages=warning"
    " -c default_transaction_isolation=read\\ committed -c default_transaction_read_only=off";
// A server that does not know the name refuses the connection.
constexpr const char *kSettingsOf17 = " -c transaction_timeout=0";
constexpr int kVersion17 = 170000;

// What this process knows of the endpoint that a connection string leads to. Kept between
// exchanges.
struct Learned {
  char *conninfo;
  uint32_t host;  // of the list, round and round: the one to begin with
  int version;    // of the server that took the last connection; 0: none did
  bool bare;      // a connection pooler in between refuses settings
};
Learned learned;

void LearnEndpoint(const char *conninfo) {
  if (learned.conninfo != nullptr && strcmp(learned.conninfo, conninfo) == 0) return;
  if (learned.conninfo != nullptr) pfree(learned.conninfo);
  learned = {};
  learned.conninfo = MemoryContextStrdup(TopMemoryContext, conninfo);
}

// A text of libpq's or of a registry's, made fit to be shown in one line.
const char *Shown(const char *from) {
  char text[400];
  CopyPresentable(text, sizeof(text), from != nullptr ? from : "");
  for (char *c = text; *c != '\0'; ++c)
    if (*c == '\n') *c = ' ';
  for (size_t length = strlen(text); length > 0 && text[length - 1] == ' ';) text[--length] = '\0';
  return pstrdup(text);
}

[[noreturn]] void ReportConnection(PGconn *connection, const char *what, const char *failure = nullptr) {
  const char *detail = failure != nullptr ? failure : Shown(PQerrorMessage(connection));
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("%s", what),
                  detail[0] != '\0' ? errdetail_internal("%s", detail) : 0, BlameRegistry()));
}

// If only the newest statement has no answer, its session waits for something. The next exchange
// finds that session in its way, and learns from the registry what it waits for.
[[noreturn]] void ReportSilence(Remote *remote, const char *what) {
  remote->hangs = remote->answered;
  ereport(ERROR,
          (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("%s", what),
           errdetail("No answer from \"%s\", port %s%s.", Shown(PQhost(remote->connection)),
                     Shown(PQport(remote->connection)),
                     remote->hangs ? ", which answers other statements. The next request will name the cause" : ""),
           BlameRegistry()));
}

// Of an error, and not of a success or a warning; 0 when it is none.
int ErrorCode(const char *state) {
  if (strlen(state) != 5 || strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5) return 0;
  if (state[0] == '0' && state[1] <= '2') return 0;
  return MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
}

[[noreturn]] void ReportResult(Remote *remote) {
  const PGresult *result = remote->result;
  const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (state == nullptr) ReportConnection(remote->connection, "lost the connection to the registry");
  const char *message = Shown(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  const char *detail = Shown(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
  const int code = ErrorCode(state);
  if (code == 0) ReportMalformed(psprintf("The SQLSTATE of its error \"%s\" is \"%s\".", message, Shown(state)));
  // Another host of the list would decide the same as the registry.
  remote->silent = ERRCODE_TO_CATEGORY(code) != MAKE_SQLSTATE('S', 'F', '0', '0', '0');
  // Distinguishes worker ids that are held back from leased ones.
  const char *column = PQresultErrorField(result, PG_DIAG_COLUMN_NAME);
  ereport(ERROR,
          (errcode(code), errmsg_internal("%s", message), detail[0] != '\0' ? errdetail_internal("%s", detail) : 0,
           column != nullptr ? err_generic_string(PG_DIAG_COLUMN_NAME, Shown(column)) : 0, BlameRegistry()));
}

// Called inside libpq: nothing here may raise an error. A library that is loaded there may warn of
// settings (classes 22 and 42), which does not concern the answer.
void ReceiveNotice(void *argument, const PGresult *notice) {
  Remote *remote = static_cast<Remote *>(argument);
  const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const char *state = PQresultErrorField(notice, PG_DIAG_SQLSTATE);
  const char *message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
  if (severity == nullptr || strcmp(severity, "WARNING") != 0 || remote->warning[0] != '\0') return;
  if (state != nullptr && (strncmp(state, "22", 2) == 0 || strncmp(state, "42", 2) == 0)) return;
  CopyPresentable(remote->warning, sizeof(remote->warning), message != nullptr && message[0] != '\0' ? message : "?");
}

// Waits for the socket. False when the deadline has passed; a cancellation is an ERROR.
bool Await(pgsocket socket, int socket_events, int64_t deadline_us) {
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeRegistry");
  int64_t ask_us = MonotonicUs() + kAskToGiveWayUs;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const int64_t now_us = MonotonicUs();
    if (now_us >= deadline_us) return false;
    if (now_us >= ask_us) {
      ask_us = now_us + kAskToGiveWayUs;
      if (remote_give_way != nullptr && remote_give_way())
        ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("gave up waiting for the registry")));
    }
    const int64_t left_us = Min(deadline_us, ask_us) - now_us;
    const int occurred = WaitLatchOrSocket(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH | socket_events,
                                           socket, static_cast<long>(left_us / 1000) + 1, event);
    if (occurred & WL_LATCH_SET) ResetLatch(MyLatch);
    if (occurred & socket_events) return true;
  }
}

// One host of the list.
struct Host {
  const char *host, *hostaddr, *port;
};

// What string, service file and environment result in.
struct Endpoint {
  const char *conninfo;
  const char *options;
  bool guarded;        // verifies the host by TLS, or names the accepted ways of authentication
  bool knows_methods;  // libpq can name these (16 and later)
  Host hosts[kMostHosts];
  int host_count;
};

// The string overrides these. A host that vanished, or that came back without the connection, is
// noticed within seconds.
constexpr const char *kTimeouts[][2] = {
    {"keepalives_idle", "1"}, {"keepalives_interval", "1"}, {"keepalives_count", "4"}, {"tcp_user_timeout", "2000"}};

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

// libpq combines string, service file and environment only when it connects. So it is asked for an
// impossible connection, which it refuses before it opens one.
Endpoint ParseConnectionString(const char *conninfo) {
  const char *const keywords[] = {"dbname", "target_session_attrs", nullptr};
  const char *const values[] = {conninfo, "none that there is", nullptr};
  PGconn *refused = PQconnectStartParams(keywords, values, 1);
  PQconninfoOption *options = PQconninfo(refused);
  PQfinish(refused);

  const char *names[kMostHosts] = {}, *addresses[kMostHosts] = {}, *ports[kMostHosts] = {};
  int name_count = 0, address_count = 0, port_count = 0;
  Endpoint endpoint = {};
  endpoint.conninfo = conninfo;
  endpoint.options = "";
  for (const PQconninfoOption *option = options; option != nullptr && option->keyword != nullptr; ++option) {
    const bool methods = strcmp(option->keyword, "require_auth") == 0;
    if (methods) endpoint.knows_methods = true;
    if (option->val == nullptr || option->val[0] == '\0') continue;
    if (strcmp(option->keyword, "host") == 0) name_count = Split(pstrdup(option->val), names);
    if (strcmp(option->keyword, "hostaddr") == 0) address_count = Split(pstrdup(option->val), addresses);
    if (strcmp(option->keyword, "port") == 0) port_count = Split(pstrdup(option->val), ports);
    if (methods || (strcmp(option->keyword, "sslmode") == 0 && strncmp(option->val, "verify-", 7) == 0))
      endpoint.guarded = true;
    if (strcmp(option->keyword, "options") == 0) endpoint.options = pstrdup(option->val);
  }
  PQconninfoFree(options);
  endpoint.host_count = Max(Max(name_count, address_count), 1);
  for (int i = 0; i < endpoint.host_count; ++i)
    endpoint.hosts[i] = {names[i], addresses[i], port_count == 1 ? ports[0] : ports[i]};
  return endpoint;
}

PGconn *Start(const Endpoint &endpoint, const Host &host, const char *settings) {
  const char *keywords[13], *values[13];
  int count = 0;
  const auto add = [&](const char *keyword, const char *value) {
    if (value == nullptr) return;
    keywords[count] = keyword;
    values[count++] = value;
  };
  for (const auto &option : kTimeouts) add(option[0], option[1]);
  // A host in the registry's endpoint could ask for the password itself, or for an MD5 hash of it.
  if (!endpoint.guarded && endpoint.knows_methods) add("require_auth", "!password,!md5");
  add("dbname", endpoint.conninfo);
  add("fallback_application_name", "snowflake keeper");
  // Unconverted: an encoding that one of the two cannot convert must not keep a node from its
  // lease.
  add("client_encoding", "SQL_ASCII");
  add("options", settings);
  add("host", host.host);
  add("hostaddr", host.hostaddr);
  add("port", host.port);
  keywords[count] = values[count] = nullptr;
  PGconn *connection = PQconnectStartParams(keywords, values, 1);
  if (connection == nullptr) ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
  return connection;
}

// False when refused or out of time.
bool FinishConnecting(PGconn *connection, int64_t deadline_us) {
  if (PQstatus(connection) == CONNECTION_BAD) return false;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  for (;;) {
    const int64_t wait_us = PQstatus(connection) == CONNECTION_STARTED ? kReachUs : kAnswerUs;
    const int socket_events = next == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE;
    // The socket may be another one each time.
    if (!Await(PQsocket(connection), socket_events, Min(MonotonicUs() + wait_us, deadline_us))) return false;
    next = PQconnectPoll(connection);
    if (next == PGRES_POLLING_OK) return true;
    if (next == PGRES_POLLING_FAILED) return false;
  }
}

// How PgBouncer and others refuse the start-up parameter `options`, or what is in it.
bool RefusesSettings(const PGconn *connection) {
  if (PQstatus(connection) != CONNECTION_BAD) return false;
  const char *message = PQerrorMessage(connection);
  return strstr(message, "startup parameter") != nullptr || strstr(message, "options") != nullptr;
}

// Puts a name's addresses into the host, so that libpq looks up nothing. libpq requires the name
// once for each of them. False if there are none, or not in time; `failure` then says why.
bool FindAddresses(Host *host, int64_t deadline_us, const char **failure) {
  const bool addressed = host->hostaddr != nullptr && host->hostaddr[0] != '\0';
  if (addressed || !IsName(host->host)) return true;
  const char *reason = nullptr;
  host->hostaddr = AddressesOf(host->host, Await, Min(MonotonicUs() + kAnswerUs, deadline_us), &reason);
  if (host->hostaddr == nullptr) {
    *failure = psprintf("Looking up \"%s\" failed: %s.", Shown(host->host), reason);
    return false;
  }
  StringInfoData names;
  initStringInfo(&names);
  appendStringInfoString(&names, host->host);
  for (const char *c = host->hostaddr; *c != '\0'; ++c)
    if (*c == ',') appendStringInfo(&names, ",%s", host->host);
  host->host = names.data;
  return true;
}

// False when not connected. If settings are refused, it connects once more without them.
bool Connect(Remote *remote, const Endpoint &endpoint, Host host, int64_t deadline_us, const char **failure) {
  *failure = nullptr;
  if (!FindAddresses(&host, deadline_us, failure)) return false;
  StringInfoData settings;
  initStringInfo(&settings);
  appendStringInfo(&settings, "%s %s", endpoint.options, kSettings);
  for (const auto &pin : kQuickPlans) appendStringInfo(&settings, " -c %s=%s", pin[0], pin[1]);
  if (learned.version >= kVersion17) appendStringInfoString(&settings, kSettingsOf17);
  for (bool bare = learned.bare;; bare = true) {
    PQfinish(remote->connection);
    remote->connection = nullptr;
    remote->connection = Start(endpoint, host, bare ? nullptr : settings.data);
    PQsetNoticeReceiver(remote->connection, ReceiveNotice, remote);
    if (FinishConnecting(remote->connection, deadline_us)) {
      learned.bare = bare;
      learned.version = PQserverVersion(remote->connection);
      return true;
    }
    learned.version = 0;
    if (bare || !RefusesSettings(remote->connection)) return false;
  }
}

// The last three are libpq's from 18 on; a key of SCRAM is as good as the password.
constexpr const char *kSecrets[] = {"password", "sslpassword", "oauth_client_secret", "scram_client_key",
                                    "scram_server_key"};

// Whether the answer is still to come. What libpq cannot take in ends the connection here.
bool IsBusy(PGconn *connection) {
  const bool busy = PQisBusy(connection) != 0;
  if (PQstatus(connection) == CONNECTION_BAD)
    ReportMalformed(psprintf("A message violates the protocol: %s", Shown(PQerrorMessage(connection))));
  return busy;
}

// Sends what is queued and waits until the answer is there.
void SendAndReceive(Remote *remote) {
  PGconn *connection = remote->connection;
  for (;;) {
    const int left = PQflush(connection);
    if (left < 0) ReportConnection(connection, "could not send to the registry");
    if (left == 0 && !IsBusy(connection)) return;
    const int socket_events = left > 0 ? WL_SOCKET_WRITEABLE | WL_SOCKET_READABLE : WL_SOCKET_READABLE;
    if (!Await(PQsocket(connection), socket_events, remote->answer_us))
      ReportSilence(remote, "the registry did not answer in time");
    if (PQconsumeInput(connection) == 0) ReportConnection(connection, "lost the connection to the registry");
  }
}

// Whether the answer has another row, then in `result`. False at its end, not at its last row: the
// server commits in between.
bool ReceiveRow(Remote *remote) {
  for (;;) {
    SendAndReceive(remote);
    PQclear(remote->result);
    remote->result = PQgetResult(remote->connection);
    if (remote->result == nullptr) return false;
    switch (PQresultStatus(remote->result)) {
      case PGRES_SINGLE_TUPLE: return true;
      case PGRES_TUPLES_OK: break;
      case PGRES_FATAL_ERROR: ReportResult(remote);
      default: ReportMalformed(psprintf("It is %s.", PQresStatus(PQresultStatus(remote->result))));
    }
  }
}

// Whether others may listen at this address, or answer there. A socket has none.
bool IsOverNetwork(const char *address) {
  const auto begins = [address](const char *with) { return strncmp(address, with, strlen(with)) == 0; };
  return address != nullptr && address[0] != '\0' && !begins("127.") && !begins("::ffff:127.") &&
         strcmp(address, "::1") != 0;
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
    for (const char *secret : kSecrets)
      if (option->val != nullptr && option->val[0] != '\0' && strcmp(option->keyword, secret) == 0) password = true;
  PQconninfoFree(options);
  return password ? ConnectionString::kPassword : ConnectionString::kGood;
}

void RemoteOpen(Remote *remote, const char *conninfo, int64_t deadline_us) {
  remote->deadline_us = deadline_us;
  LearnEndpoint(conninfo);
  const Endpoint endpoint = ParseConnectionString(conninfo);
  bool connected = false;
  const char *failure = nullptr;
  for (int left = endpoint.host_count; left > 0 && !connected; --left) {
    const int64_t now_us = MonotonicUs();
    const int64_t share_us = Max((deadline_us - now_us) / left, kLeastPerHostUs);
    const Host &host = endpoint.hosts[learned.host % endpoint.host_count];
    connected = Connect(remote, endpoint, host, Min(now_us + share_us, deadline_us), &failure);
    if (!connected) ++learned.host;
  }
  PGconn *connection = remote->connection;
  if (!connected && failure == nullptr && PQstatus(connection) != CONNECTION_BAD)
    ReportSilence(remote, "could not connect to the registry in time");
  if (!connected || PQsetnonblocking(connection, 1) != 0)
    ReportConnection(connection, "could not connect to the registry", failure);
  remote->silent = true;
  remote->in_clear = PQconnectionUsedPassword(connection) != 0 && IsOverNetwork(PQhostaddr(connection)) &&
                     !endpoint.guarded && !endpoint.knows_methods;
}

void RemoteClose(Remote *remote) {
  PQclear(remote->row);
  PQclear(remote->result);
  PQfinish(remote->connection);
  if (remote->silent) ++learned.host;
}

void RemoteSend(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values) {
  PGconn *connection = remote->connection;
  remote->silent = true;
  remote->warning[0] = '\0';
  if (PQsendQueryParams(connection, statement, count, types, values, nullptr, nullptr, 0) == 0 ||
      PQsetSingleRowMode(connection) == 0)
    ReportConnection(connection, "could not send to the registry");
  remote->answer_us = Min(remote->deadline_us, MonotonicUs() + kAnswerUs);
}

RemoteRow RemoteNext(Remote *remote) {
  if (!ReceiveRow(remote)) ReportMalformed("It has too few rows.");
  PQclear(remote->row);
  remote->row = remote->result;
  remote->result = nullptr;
  return RemoteRow(remote->row);
}

void RemoteEnd(Remote *remote) {
  if (ReceiveRow(remote)) ReportMalformed("It has too many rows.");
  if (remote->warning[0] != '\0')
    ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE), errmsg("the registry did not confirm its answer"),
                    errdetail("It warned: %s.", remote->warning), BlameRegistry()));
  remote->silent = false;
  remote->answered = true;
}

RemoteRow RemoteCall(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values) {
  RemoteSend(remote, statement, count, types, values);
  const RemoteRow row = RemoteNext(remote);
  RemoteEnd(remote);
  return row;
}

bool RemoteHasOurEncoding(const Remote &remote) {
  const char *theirs = PQparameterStatus(remote.connection, "server_encoding");
  return theirs != nullptr && pg_char_to_encoding(theirs) == GetDatabaseEncoding();
}

}  // namespace snowflake

// A connection to a registry on another server. Never blocks inside libpq, which gets addresses and
// no names: every wait is on the process's latch and the socket, with a deadline. Failures are
// ERRORs, with the server's own SQLSTATE if it answered, 08006 if it did not, and 08P01 if its
// answer is malformed.
//
// What a registry returns is input: no more of an answer than its first row is kept, texts are cut
// before they are used, and each value is judged where it is read. But libpq receives a message as a
// whole, however long it is.
#pragma once

#include "pg/keeper/remote_row.h"
#include "pg/settings.h"

typedef struct pg_conn PGconn;

namespace snowflake {
ConnectionString CheckConnectionString(const char *text);

// Called ten times a second during every wait; true ends the exchange with an ERROR of SQLSTATE
// 57014.
extern bool (*remote_give_way)();

// One exchange's connection, with the newest call's answer. All zero until RemoteOpen().
struct Remote {
  PGconn *connection;
  PGresult *row, *result;  // the row, and what was received after it
  int64_t deadline_us;     // monotonic
  bool silent;             // connected, and the newest call has no answer
  bool in_clear;           // a password was sent, and could go in clear to any host
  char warning[256];       // of the newest call
};

// With a list of hosts each gets its share of the time, and 5 s for an answer. The first is the one
// that answered last or, if that has failed since, the next. Opens one connection to the host that
// answers, and another, once, if a pooler refuses settings.
void RemoteOpen(Remote *remote, const char *conninfo, int64_t deadline_us);
// In any state, also after an error.
void RemoteClose(Remote *remote);

// Runs one statement, whose values are parameters of the named types, null where they are nullptr;
// what it did is durable there when this returns. The answer gets 5 s, or less if the deadline is
// sooner. It must be one row, which is valid until the next call. A WARNING with it makes it no
// answer (08006): a wait for a synchronous standby that was cancelled ends with one.
RemoteRow RemoteCall(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values);

// Whether text goes to the registry as it is.
bool RemoteHasOurEncoding(const Remote &remote);

}  // namespace snowflake

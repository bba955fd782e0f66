// A connection to a registry on another server. Never blocks inside libpq, which gets addresses and
// no names: every wait is on the process's latch and the socket, with a deadline. Failures are
// ERRORs, with the server's own SQLSTATE if it answered, 08006 if it did not, and 08P01 if its
// answer is malformed.
//
// What a registry returns is input: one row of an answer is kept at a time, texts are cut before
// they are used, and each value is judged where it is read. But libpq receives a message as a
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
  PGresult *row, *result;  // the newest row, and what was received after it
  int64_t deadline_us;     // monotonic, as the next
  int64_t answer_us;       // when the newest call's answer must be complete
  bool silent;             // connected, and the newest call has no answer
  bool answered;           // a call has had its answer
  bool hangs;              // ... and the newest one has none in time
  bool in_clear;           // a password was sent, and would go in clear over the network to any host
  char warning[256];       // of the newest call
};

// With a list of hosts each gets its share of the time, and 5 s for an answer. The first is the one
// that answered last or, if that has failed since, the next. Opens one connection to the host that
// answers, and another, once, if a pooler refuses settings.
void RemoteOpen(Remote *remote, const char *conninfo, int64_t deadline_us);
// In any state, also after an error.
void RemoteClose(Remote *remote);

// Sends one statement, whose values are parameters of the named types, null where they are nullptr.
// Its answer gets 5 s, or less if the deadline is sooner.
void RemoteSend(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values);

// The answer's next row, which is valid until the one after it. There must be one.
RemoteRow RemoteNext(Remote *remote);

// There must be no further row. What the statement did is durable there when this returns. A
// WARNING makes it no answer (08006): a wait for a synchronous standby that was cancelled ends with
// one.
void RemoteEnd(Remote *remote);

// All three, for an answer of one row, which is valid until the next call.
RemoteRow RemoteCall(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values);

// Whether text goes to the registry as it is.
bool RemoteHasOurEncoding(const Remote &remote);

}  // namespace snowflake

// A connection to a registry on another server. Never blocks inside libpq, which gets addresses and no names: every wait
// is on the process's latch and the socket, with a deadline. Failures are ERRORs, with the server's own SQLSTATE when it
// answered, 08006 when it did not, and 08P01 when its answer is none that can be.
//
// What a registry says is input: no more of an answer than its first row is kept, texts are cut before anything is done with
// them, and each value is judged where it is read. libpq takes in a message as a whole, and gets 32 MB for that in an
// exchange; a longer one is an ERROR (Linux only).
#pragma once

#include "core/lease.h"
#include "pg/pg.h"
#include "pg/settings.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

namespace snowflake {

ConnectionString CheckConnectionString(const char *text);

// Asked once a second during every wait; true ends the exchange with an ERROR of SQLSTATE 57014.
extern bool (*remote_give_way)();

// One exchange's connection, where who opens it keeps it.
struct Remote {
  PGconn *connection;
  int64_t deadline_us;  // monotonic; a host that is silent for 5 s is given up before
  bool answered;        // the newest call
  bool in_clear;        // a password was sent, and nothing kept it from going in clear to any host
  char warning[256];    // of that call
};

// With a list of hosts each gets its share of the time. The first is the one that answered last or, when that has failed
// since, the next. Opens one connection where that answers, and another to a pooler that refuses settings, once.
void RemoteOpen(Remote *remote, const char *conninfo, int64_t deadline_us);
void RemoteClose(Remote *remote);

// Runs one statement, whose values are parameters of the named types, null where they are nullptr; what it did is durable
// there when this returns. The answer gets 5 s, or less when the deadline is sooner. It must be one row, which must be
// given back with RemoteClear(). A WARNING with it makes it no answer (08006): a wait for a synchronous standby that was
// cancelled ends with one.
PGresult *RemoteCall(Remote *remote, const char *statement, int count, const Oid *types, const char *const *values);
void RemoteClear(PGresult *row);

// Whether text goes to the registry as it is.
bool RemoteHasOurEncoding(const Remote &remote);

}  // namespace snowflake

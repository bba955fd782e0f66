// A connection to a registry on another server. Never blocks inside libpq but for the look-up of a host's name: every wait
// is on the process's latch and the socket, with a deadline. Failures are ERRORs, with the server's own SQLSTATE when it
// answered and 08006 when it did not.
#pragma once

#include "pg/pg.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

namespace snowflake {

enum class ConnectionString { kGood, kInvalid, kPassword };
ConnectionString CheckConnectionString(const char *text);

// Asked once a second during every wait; true ends the exchange with an ERROR of SQLSTATE 57014.
extern bool (*remote_give_way)();

// Opens a connection; with a list of hosts each gets its share of the time. `deadline_us` is monotonic; a host that is silent
// for 5 s is given up before.
PGconn *RemoteConnect(const char *conninfo, int64_t deadline_us);
void RemoteClose(PGconn *connection);

// Runs one command string by the simple protocol; what a COMMIT at its end acknowledged is durable there. It gets 5 s, or less
// when the deadline is sooner. Returns the one result with a row, which must be cleared with RemoteClear().
PGresult *RemoteQuery(PGconn *connection, const char *commands, int64_t deadline_us);
void RemoteClear(PGresult *result);

// A literal for a command, quoted for this connection; palloc'd.
char *RemoteLiteral(PGconn *connection, const char *text);

// A value of the first row as text, nullptr when it is null or there is no such column.
const char *RemoteValue(const PGresult *result, int column);

}  // namespace snowflake

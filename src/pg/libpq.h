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

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

namespace snowflake {

enum class ConnectionString { kGood, kInvalid, kPassword };
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

// An answer's row, read from left to right. Errors: 08P01, with what is wrong.
class RemoteRow {
 public:
  explicit RemoteRow(const PGresult *row) : row_(row) {}

  // Whether the next value is null; if so, it is passed.
  bool PassNull();

  int64_t Int8();
  int32_t Int4();
  bool Bool();
  // As the registry spells it, in its own encoding; palloc'd.
  char *Name();
  // At most 1 kB; palloc'd.
  char *Text();
  // Of exactly so many elements.
  void Int8Array(int64_t *values, int count);
  // Likewise of texts, as the registry spells them; palloc'd.
  char **Names(int count);

 private:
  const char *Next(size_t longest, const char *kind);
  int64_t Integer(int64_t lowest, int64_t highest, const char *kind);
  [[noreturn]] void Refuse(const char *value, const char *kind) const;

  const PGresult *row_;
  int column_ = 0;
};

}  // namespace snowflake

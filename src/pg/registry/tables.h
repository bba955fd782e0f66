// The registry's tables, reached over SPI as their owner: what the protocol and settling share.
//
// The tables' owner, and the owner of their schema, may be any role. So:
// 1. SQL runs in the security context of the tables' owner: triggers, rules and operators that were
//    planted get that owner's rights and no more.
// 2. Tables are known by OID. A statement names them, and a schema may be renamed at any moment:
//    what each statement refers to is compared with the OIDs before it runs.
// 3. A value is read only as the type that the extension gave its column.
// 4. Before a statement runs, the tables that it refers to must be permanent, without rules,
//    children and forced policies, and with their guards (guards.cpp).
// 5. A trigger that swallows the protocol's row, or puts the old one back, is noticed. The owner is
//    trusted not to write one that stores other values, nor to exchange the names of columns: no
//    tool and no single mistake does that.
#pragma once

#include "pg/security_context.h"
#include "pg/registry/blockers.h"
#include "pg/spi.h"

namespace snowflake {
// The seven tables of one extension.
struct Tables {
  Oid extension;
  Oid schema;
  const char *schema_sql;  // its name, quoted
  Oid guard;               // the function of their triggers
  Oid owner;
  Oid registry, watermark, layout, origin, segment, range, last_tick;
};

// Locks the extension's tables and the sequence in the order in which a drop does. Neither ends the
// other by a deadlock if this comes before any other lock on them. A lock on the extension itself
// would protect nothing: any role can take it by ALTER INDEX ... DEPENDS ON EXTENSION. False, only
// without `wait`: another transaction has locked one of them.
bool LockTables(Oid extension, LOCKMODE mode, bool wait);

// Locks them against a drop; AccessShareLock is enough to read. Errors: 55000 if one is missing, is
// no table or not the extension's, 42501 if they have several owners.
Tables FindTables(Oid extension, LOCKMODE mode = RowShareLock);

// What the sessions of one role wait for one at a time. So a role delays others by what one session
// may, however many it has.
enum class Queue : uint16 { kRegistry = 1, kSegments = 2 };

// Locks a part of an object, above 0, until the transaction ends. Whoever waits for it gets it in
// the order of arrival.
void LockPart(Oid extension, Oid classid, Oid object, uint16 part);

// Joins the session's role's queue until the transaction ends. It comes before what is waited for
// in it.
void JoinQueue(Oid extension, Queue queue);

// Waits for another transaction that inserts a layout or a segment, and lets none insert until this
// one ends. It comes before a look whether there is one: a look sees only what is committed.
void LockInserts(Oid extension, Oid table);

// The registry's lock, which orders calls: a lock on the table that each of them writes to. With
// ShareUpdateExclusiveLock, one session of a role waits for it at a time.
void LockRegistry(const Tables &tables, LOCKMODE mode = ShareUpdateExclusiveLock);

// Whether the protocol's own statement fired the current trigger, and not what was planted there.
bool FiredByProtocol();

// Runs `body` in the security context of the tables' owner, with SPI connected. An ERROR out of it
// undoes everything with the transaction.
template <typename Body>
void AsOwner(const Tables &tables, Body body) {
  const SecurityContext outer = EnterSecurityContext(tables.owner);
  SPI_connect();
  NamingBlocker(tables.extension, body);
  SPI_finish();
  LeaveSecurityContext(outer);
}

// As AsOwner(), and returns what `body` returns.
template <typename Body>
auto ResultAsOwner(const Tables &tables, Body body) {
  decltype(body()) result = {};
  AsOwner(tables, [&] { result = body(); });
  return result;
}

// Runs one statement. It names tables without their schema; nothing else in it begins with
// snowflake_.
void ExecuteWith(const Tables &tables, const char *command, int count, Oid *types, Datum *values);

template <typename... Values>
void Execute(const Tables &tables, const char *command, Values... values) {
  Oid types[] = {values.type..., InvalidOid};
  Datum datums[] = {values.datum..., Datum{0}};
  ExecuteWith(tables, command, sizeof...(values), types, datums);
}

// 55000: a value is not of the type that the extension gave its column, or is null.
[[noreturn]] void ReportForeignColumn();

// A value of the statement's result. Error: 55000 if it has another type than the extension gave it
// (a number taken for a pointer would be read through), or is null and `is_null` was not passed.
Datum Result(int64_t row, int column, Oid type, bool *is_null = nullptr);

inline int64_t Int8Result(int64_t row, int column) { return DatumGetInt64(Result(row, column, INT8OID)); }
inline bool BoolResult(int64_t row, int column) { return DatumGetBool(Result(row, column, BOOLOID)); }

// After a statement that writes one row of this table. Error: 55000 if a trigger swallowed it.
void CheckWritten(const char *table);

// Also checks a number that must not fall, the statement's first result. Error: 55000 if it is
// below `least`, because a trigger returned the old row.
void CheckWritten(const char *table, int64_t least);

// In Unix microseconds; 0: null.
int64_t TimeResult(int64_t row, int column);

// The number of the next lease, above `floor`. Like every sequence's it is used up even if the
// transaction fails. A sequence that lost numbers, or was set back, goes on above `floor`.
int64_t NextLeaseId(const Tables &tables, int64_t floor);

// Called once per load of the library.
void WatchParsing();

}  // namespace snowflake

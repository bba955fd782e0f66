// The registry's tables, reached over SPI as their owner. What the protocol and settling share.
//
// The tables' owner, and the owner of their schema, may be anybody. So:
// 1. SQL runs as the tables' owner, security-restricted, with a pinned search_path: triggers, rules and operators that
//    were planted get that owner's rights and no more.
// 2. Tables are known by OID. A statement names them, and a schema may be renamed at any moment: what each statement
//    really refers to is compared with the OIDs before it runs.
// 3. A value is read only as the type that the extension gave its column.
// 4. Before a statement runs, the tables that it refers to must be as the extension made them: permanent, without rules, policies
//    or children, and with their guards, which keep out what does not come this way. See guards.cpp.
#pragma once

#include "pg/security_context.h"
#include "pg/registry/blockers.h"
#include "pg/spi.h"

namespace snowflake {

// The six tables of one extension.
struct Tables {
  Oid extension;
  Oid schema;
  Oid guard;  // the function of their triggers
  Oid owner;
  Oid registry;
  Oid watermark;
  Oid layout;
  Oid origin;
  Oid segment;
  Oid range;
  char *registry_name;  // qualified and quoted
  char *watermark_name;
  char *layout_name;
  char *origin_name;
  char *segment_name;
  char *range_name;
};

// Locks the extension's tables and the sequence in the order in which a drop does. So neither ends the other by a deadlock,
// as long as this comes before any other lock on them. The extension itself is no lock for a protocol: any role can take it
// by ALTER INDEX ... DEPENDS ON EXTENSION. False, only without `wait`: somebody has one of them.
bool LockTables(Oid extension, LOCKMODE mode, bool wait);

// Locks them against a drop; AccessShareLock is enough to read. Errors: 55000 when one is missing, is no table or not the extension's, 42501 when they have
// several owners.
Tables FindTables(Oid extension, LOCKMODE mode = RowShareLock);

// The registry's lock, which orders calls: a lock on the table that each of them writes to.
void LockRegistry(const Tables &tables, LOCKMODE mode = ShareUpdateExclusiveLock);

// Whether the trigger that runs now was fired by the protocol's own statement, and not by what somebody planted there.
bool FiredByProtocol();

// Runs `body` in the security context of the tables' owner, with SPI connected. An ERROR out of it undoes everything with the transaction.
template <typename Body>
void AsOwner(const Tables &tables, Body body) {
  const SecurityContext outer = EnterSecurityContext(tables.owner);
  SPI_connect();
  NamingBlocker(tables.extension, body);
  SPI_finish();
  LeaveSecurityContext(outer);
}

// One statement, and what it gave.
void ExecuteWith(const Tables &tables, const char *command, int count, const Value *values);

template <typename... Values>
void Execute(const Tables &tables, const char *command, Values... values) {
  const Value all[] = {values..., Value{}};
  ExecuteWith(tables, command, static_cast<int>(sizeof...(values)), all);
}

// 55000: a value is not of the type that the extension gave its column, or is null.
[[noreturn]] void ReportForeignColumn();

// A value of the result. Error: 55000 when it has another type than the extension gave it; a number taken for a pointer
// would be read through.
Datum Result(int64_t row, int column, Oid type, bool *is_null);

// The same where null is as wrong as a foreign type.
int64_t Int8Result(int64_t row, int column);
bool BoolResult(int64_t row, int column);

// The number of the next lease, above `floor`. Like every sequence's, it is used up even when the transaction fails; one that came
// back, or was set back, goes on above.
int64_t NextLeaseId(const Tables &tables, int64_t floor);

// Called once per load of the library.
void WatchParsing();

}  // namespace snowflake

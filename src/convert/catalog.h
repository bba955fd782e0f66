// What snowflake_convert() reads from the catalogs. All of it runs between SPI_connect() and
// SPI_finish(), whose memory holds the results, and sees what was committed up to then.
#pragma once

#include "convert/query.h"
#include "pg/security_context.h"
#include "pg/spi.h"
#include "pg/catalogs.h"

namespace snowflake {
struct Attempts;

// What a transaction changes. snowflake_convert_defaults() changes the default in one, and drops a
// serial column's sequence in the next: those who have called nextval() may wait for the table.
enum class Part { kAll, kDefault, kSequence };

// The number of snowflake_convert()'s arguments, and all but the first two as they are by default.
constexpr int16_t kArgumentsOfConvert = 10;
constexpr char kUsualArgumentsOfConvert[] =
    "false, false, false, 'ids'::pg_catalog.text, '100 ms'::pg_catalog.interval, '10 min'::pg_catalog.interval, "
    "'{}'::pg_catalog.regclass[], false";

// What is to be converted.
struct Conversion {
  Oid extension;  // this one, snowflake_convert
  bool dry_run;
  bool online;
  Oid table;
  Oid owner;  // known once the table is locked
  const char *column;
  List *excluded;       // tables whose columns need not take new ids
  bool is_switch;       // the call that began the conversion has looked at what refers to the column
  const char *target;   // "ids", or "bigint": the column is only widened
  bool keep_sequence;   // a serial column's stays, unlocked; false if the column is only widened
  const char *nextval;  // the SQL of the new default, qualified
  Oid nextval_oid;      // and its function
  Part part;
  Attempts *attempts;  // null: locks are awaited as the session's settings say
  const char *budget;  // the SQL of the arguments of snowflake_try(), if online
};

// What plans or changes the tables runs code that belongs to them: checks, expressions of indexes,
// operators. So it runs in their owner's security context; a caller who bypasses policies still
// does. An ERROR out of `body` undoes everything with the transaction.
template <typename Body>
void AsTableOwner(const Conversion &conversion, Body body) {
  const bool over_policies = has_bypassrls_privilege(GetUserId());
  const SecurityContext outer = EnterSecurityContext(conversion.owner, over_policies ? SECURITY_NOFORCE_RLS : 0);
  body();
  LeaveSecurityContext(outer);
}

// A column that holds the ids: the one that is converted, those that inherit it, and those that
// refer to one of these by a foreign key, over any number of steps, with their parents and
// children.
struct IdColumn {
  Oid table;
  int16 number;
  const char *table_sql;  // qualified and quoted
  const char *name_sql;
  const char *described;  // "column id of table public.orders", for messages
  const char *roots;      // the tables at the top that it is inherited from, described
  int64_t root_count;
  Oid type;
  const char *type_name;
  bool own;   // is converted, not only widened
  bool root;  // is inherited from nowhere
  bool generated;
  bool typed_table;
  const char *value;          // its default, as it is stored
  const char *new_sql;        // what an online conversion calls the column that is to replace it
  bool narrow = false;        // becomes bigint
  bool issues = false;        // it has the new default
  bool gets_default = false;  // it is set here, and passed on, because it or a column below lacks it

  static IdColumn Read(const Row &row);
};

inline bool IsInteger(Oid type) { return type == INT2OID || type == INT4OID || type == INT8OID; }

// The one that is converted first, then by table.
struct IdColumns : RowsOf<IdColumn> {
  int64_t narrow_count;
  ColumnSet every;
  ColumnSet own;
  ColumnSet narrow;
  ColumnSet keep;  // narrow, and with the default that they have
  Value tables;    // of all that change
};

// Fills the sets of columns from the columns.
void MakeSets(const Conversion &conversion, IdColumns *columns);

inline bool OnlyWidens(const Conversion &conversion) { return strcmp(conversion.target, "bigint") == 0; }

// A function of an extension. Error: 55000.
struct Function {
  Oid oid;
  const char *name_sql;  // qualified

  static Function Read(const Row &row) { return row.As<Function>("oid", "name_sql"); }
};
Function FindFunction(Oid extension, const char *name, int16_t arguments);

// The extension snowflake. Error: 42704.
Oid Snowflake();

// The default that snowflake gives. Error: 55000.
void FindNextval(Conversion *conversion);

// The columns at this moment; none if there is no such column.
IdColumns FindColumns(const Conversion &conversion);

// What LockColumns() locks, to change it or only to read. Sets the owner. Errors as there.
struct Locks {
  List *changed, *read;
};
Locks FindLocksOf(Conversion *conversion);

// Locks them in the order of InOrder(), and returns them so. `attempts` as in LockInTurn().
List *LockInOrder(Attempts *attempts, List *relations, LOCKMODE mode);

// Finds the columns, and locks every table that changes or is rebuilt, and every sequence that is
// dropped, in the order of InOrder(). Locks nothing that is not the caller's, but for tables whose
// foreign keys ALTER TABLE has to rebuild. Errors: 42P01 and 42703; 42501, 42809 and 55000 if what
// was named is no table of users that holds ids.
IdColumns LockColumns(Conversion *conversion);

// A relation to be locked; and an array of OIDs of them, in the order that is tried first.
struct ToLock {
  Oid relation;
  const char *name_sql;

  static ToLock Read(const Row &row) { return row.As<ToLock>("relation", "name"); }
};
RowsOf<ToLock> InOrder(Value relations);

// The tables that change, the named one first.
struct FoundTable {
  Oid oid, owner;
  char *described, *owner_name, *lacking, *grants, *extension, *detached;
  bool named, own;  // by the caller; the caller's
  char kind, persistence;

  static FoundTable Read(const Row &row) {
    return row.As<FoundTable>("oid", "owner", "described", "owner_name", "lacking", "grants", "extension", "detached",
                              "named", "own", "kind", "persistence");
  }
};
RowsOf<FoundTable> FindTables(const Conversion &conversion, const IdColumns &columns);

// What has to be locked.
struct FoundLock {
  Oid oid;
  const char *of_other;  // null, or that it belongs to another owner than the named table; it is not locked
  bool serial;           // the sequence of a serial column

  static FoundLock Read(const Row &row) { return row.As<FoundLock>("oid", "of_other", "serial"); }
};
RowsOf<FoundLock> FindLocks(const Conversion &conversion, const IdColumns &columns);

// Statements before and after a change of type, for tables that inherit a NOT NULL beside one of
// their own; and the column of a partition that does, for which there are none.
struct NotNulls {
  List *apart;
  List *together;
  const char *of_partition;
};
NotNulls FindNotNulls(const IdColumns &columns);

}  // namespace snowflake

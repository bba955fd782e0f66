// What snowflake_convert() reads from the catalogs. All of it runs between SPI_connect() and
// SPI_finish(), whose memory holds the results, and sees what was committed up to then.
#pragma once

#include "convert/query.h"
#include "pg/security_context.h"
#include "pg/spi.h"
#include "pg/catalogs.h"

namespace snowflake {
// What is to be converted.
struct Conversion {
  Oid extension;  // this one, snowflake_convert
  bool dry_run;
  bool online;  // tables of others are left to CheckOnline(), and not locked
  Oid table;
  Oid owner;  // known once the table is locked
  const char *column;
  const char *target;   // "ids", or "bigint": the column is only widened
  const char *nextval;  // the SQL of the new default, qualified
  Oid nextval_oid;      // and its function
};

[[noreturn]] void CannotConvert(int code, const char *described, const char *detail, const char *hint);

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
  bool narrow;  // becomes bigint
  const char *type_name;
  bool own;   // is converted, not only widened
  bool root;  // is inherited from nowhere
  bool generated;
  bool typed_table;
  const char *value;    // its default, as it is stored
  bool issues;          // it has the new default
  const char *new_sql;  // what an online conversion calls the column that is to replace it
  bool gets_default;    // it is set here, and passed on, because it or a column below lacks it

  static IdColumn Read(const Row &row);
};

inline bool IsInteger(Oid type) { return type == INT2OID || type == INT4OID || type == INT8OID; }

// IdColumns as queries take them: two arrays of one length.
struct ColumnSet {
  Value tables, numbers;
};

// The one that is converted first, then by table.
struct IdColumns : RowsOf<IdColumn> {
  int64_t narrow_count;
  ColumnSet every;
  ColumnSet own;
  ColumnSet narrow;
  ColumnSet keep;  // narrow, and with the default that they have
  Value tables;    // of all that change
  bool of_others;  // some of these, or what refers to them, belong to others; only if online
};

// Fills the sets of columns from the columns.
void MakeSets(const Conversion &conversion, IdColumns *columns);

inline bool OnlyWidens(const Conversion &conversion) { return strcmp(conversion.target, "bigint") == 0; }

// A function of an extension. Error: 55000.
struct Function {
  Oid oid;
  const char *name_sql;  // qualified

  static Function Read(const Row &row);
};
Function FindFunction(Oid extension, const char *name, int16_t arguments);

// The extension snowflake. Error: 42704.
Oid Snowflake();

// The default that snowflake gives. Error: 55000.
void FindNextval(Conversion *conversion);

// The columns at this moment; none if there is no such column.
IdColumns FindColumns(const Conversion &conversion);

// The same, with every table locked that changes or is rebuilt, and every sequence that is dropped:
// the table itself first, then by OID. Locks nothing that is not the caller's, but for tables whose
// foreign keys ALTER TABLE has to rebuild. Errors: 42P01, 42501, 42809, 55000.
IdColumns LockColumns(Conversion *conversion);

// What would stop ALTER TABLE, or lose its sequence: a line for each, null if there is nothing.
char *ObjectsOnNarrow(const IdColumns &columns);
// Lines for functions and operators that are looked up again where others may make better matches.
List *OthersMayCreate(const IdColumns &columns);
// Constraints whose triggers are disabled, which a change of type would enable.
char *DisabledKeys(const IdColumns &columns);
// Tables that PostgreSQL does not rewrite, because they are used as catalog tables.
char *CatalogTables(const IdColumns &columns);
// Indexes of partitions with something of their own that a change of type would lose.
char *OwnOfPartitions(const IdColumns &columns);
// Constraints that ALTER TABLE would not make again as they are.
char *OwnChecks(const IdColumns &columns);
// Lines for indexes whose operator class does not accept bigint.
List *OperatorClasses(const IdColumns &columns, bool online);
// Other than columns that are converted together with these.
char *OtherUsersOfSequences(const IdColumns &columns, const ColumnSet &together);

// The foreign key that takes the ids from another table, and from what column; nullptr: none does.
struct Elsewhere {
  const char *foreign_key, *from;

  static Elsewhere Read(const Row &row);
};
const Elsewhere *FindElsewhere(const IdColumns &columns);

// Statements before and after a change of type, for tables that inherit a NOT NULL beside one of
// their own; and the column of a partition that does, for which there are none.
struct NotNulls {
  List *apart;
  List *together;
  const char *of_partition;
};
NotNulls FindNotNulls(const IdColumns &columns);

// Statements that make identities plain columns, and that drop the sequences of serial columns.
List *IdentityStatements(const IdColumns &columns);
List *SequenceStatements(const IdColumns &columns);

// Statements that widen the sequences of serial columns.
List *SequenceTypeStatements(const IdColumns &columns);

// Statements that follow a change of type, and give indexes and statistics objects back what it
// takes from them.
List *KeptProperties(const IdColumns &columns);

// The largest id in the table and in what inherits from it; false if there is none.
bool LargestId(const Conversion &conversion, const IdColumn &column, int64_t *id);

}  // namespace snowflake

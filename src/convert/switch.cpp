// Every object on an old column goes with it, and comes again on the new column under its old name.
//
// 1. What refers to other tables or shows rows is dropped first: foreign keys, views, publications.
// 2. After the columns have changed their names, whatever PostgreSQL can replace by its definition
//    is replaced: triggers and policies. Their comments stay.
// 3. The old column is dropped with its indexes, constraints and statistics.
// 4. The indexes and constraints that the steps before have made get the names that are free now.
#include "convert/switch.h"

#include "convert/queries.h"

namespace snowflake {
List *SwitchStatements(const IdColumns &columns, List *defaults) {
  List *statements = NIL;
  const auto add = [&](const QueryParts &query, const ColumnSet &set) {
    statements = list_concat(statements, Texts(query, set.tables, set.numbers));
  };
  add(kDropViews, columns.narrow);
  add(kDropKeys, columns.narrow);
  add(kUnpublish, columns.narrow);
  add(kRename, columns.narrow);
  add(kReplaceTriggers, columns.narrow);
  add(kReplacePolicies, columns.narrow);
  add(kKeepSequences, columns.keep);
  add(kDropColumns, columns.narrow);
  add(kNotNull, columns.narrow);
  add(kDropFilled, columns.narrow);
  add(kMakeIdentities, columns.keep);
  add(kDefaults, columns.keep);
  statements = list_concat(statements, defaults);
  add(kNameIndexes, columns.narrow);
  add(kIndexProperties, columns.narrow);
  add(kConstraints, columns.narrow);
  add(kColumnProperties, columns.narrow);
  add(kStatistics, columns.narrow);
  add(kMakeViews, columns.narrow);
  add(kTouchFunctions, columns.narrow);
  add(kPublish, columns.narrow);
  return statements;
}

List *TablesOfSwitch(const IdColumns &columns) {
  return Texts(kSwitchTables, columns.narrow.tables, columns.narrow.numbers);
}

}  // namespace snowflake

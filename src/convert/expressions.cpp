// PostgreSQL itself writes the expressions, with a mark in the place of each narrow column. The
// type bigint finds its own operators when the text is parsed.
#include "convert/expressions.h"

#include "pg/execution.h"

namespace snowflake {
namespace {
// nullptr: the column stays as it is.
const IdColumn *NarrowColumn(const IdColumns &columns, Oid table, AttrNumber number) {
  for (const IdColumn &column : columns)
    if (column.narrow && column.table == table && column.number == number) return &column;
  return nullptr;
}

// Expressions of tables have no parameters. So the parameter mark + n can stand for column n.
struct Marking {
  const IdColumns *columns;
  Oid table;
  int mark;
};

Node *MarkColumns(Node *node, void *context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Var)) return MutateTree(node, MarkColumns, context);
  const Marking *marking = static_cast<Marking *>(context);
  const Var *var = castNode(Var, node);
  if (NarrowColumn(*marking->columns, marking->table, var->varattno) == nullptr)
    return static_cast<Node *>(copyObjectImpl(node));
  Param *param = makeNode(Param);
  param->paramkind = PARAM_EXTERN;
  param->paramid = marking->mark + var->varattno;
  param->paramtype = var->vartype;
  param->paramtypmod = var->vartypmod;
  param->paramcollid = var->varcollid;
  param->location = -1;
  return reinterpret_cast<Node *>(param);
}

const char *Replaced(const char *text, const char *from, const char *to) {
  StringInfoData all;
  initStringInfo(&all);
  while (const char *found = strstr(text, from)) {
    appendBinaryStringInfo(&all, text, static_cast<int>(found - text));
    appendStringInfoString(&all, to);
    text = found + strlen(from);
  }
  appendStringInfoString(&all, text);
  return all.data;
}

}  // namespace

const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table);
  Marking marking = {&columns, table, 100 * 10000};
  // A literal may look like the mark of a column, which has up to four digits.
  const char *before = deparse_expression(expression, context, false, false);
  while (strstr(before, psprintf("$%d", marking.mark / 10000)) != nullptr) marking.mark += 10000;
  const char *sql = deparse_expression(MarkColumns(expression, &marking), context, false, false);
  for (const IdColumn &column : columns)
    if (column.narrow && column.table == table)
      sql = Replaced(sql, psprintf("$%d", marking.mark + column.number), column.new_sql);
  return sql;
}

}  // namespace snowflake

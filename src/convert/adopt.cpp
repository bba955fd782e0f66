// snowflake_convert.adopt_keys: in CREATE TABLE, a bigint column that is serial or an identity
// becomes bigint NOT NULL DEFAULT snowflake_nextval().
//
// 1. The event trigger _snowflake_adopt_keys calls this before the command, and this changes the
//    command's parse tree. The rest is as if the command had been written so: rights, errors, what
//    dumps and replicas get. The tree belongs to this execution, because ProcessUtility() copies
//    the tree of a plan that is kept.
// 2. What is not a key by the tree keeps what it has: nothing is widened. A narrow column that
//    refers to an adopted key would refuse each id, so it is an error now. Catalogs are read only
//    for the tables that such columns name.
// 3. Dumps add sequences by ALTER TABLE, so they are restored as they are.
// 4. The event is ddl_command_start. Triggers for ddl_command_end and sql_drop would let PostgreSQL
//    collect the objects of each command, also of others. A hook would need the library in every
//    session.
#include "convert/adopt.h"

#include "pg/catalogs.h"
#include "pg/execution.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
bool adopt_keys = false;

struct Command {
  List *tables;   // CreateStmt
  Oid schema;     // of the tables; InvalidOid: the command creates it
  List *adopted;  // ColumnDef
};

// InvalidOid: the column is not serial.
Oid SerialType(const ColumnDef &column) {
  const TypeName *type = column.typeName;
  if (type == nullptr || list_length(type->names) != 1 || type->pct_type || type->arrayBounds != NIL) return InvalidOid;
  const char *name = strVal(linitial(type->names));
  const auto is = [&](const char *one, const char *other) {
    return strcmp(name, one) == 0 || strcmp(name, other) == 0;
  };
  if (is("bigserial", "serial8")) return INT8OID;
  if (is("serial", "serial4")) return INT4OID;
  return is("smallserial", "serial2") ? INT2OID : InvalidOid;
}

// InvalidOid: the tree does not say it, or there is no such type.
Oid TypeOf(const ColumnDef &column) {
  const Oid serial = SerialType(column);
  if (OidIsValid(serial) || column.typeName == nullptr) return serial;
  return LookupTypeNameOid(nullptr, column.typeName, true);
}

Constraint *FindConstraint(const ColumnDef &column, ConstrType type) {
  for (Constraint *constraint : Each<Constraint *>(column.constraints))
    if (constraint->contype == type) return constraint;
  return nullptr;
}

ColumnDef *FindColumn(const CreateStmt &table, const char *name) {
  for (ColumnDef *column : Each<ColumnDef *>(table.tableElts))
    if (IsA(column, ColumnDef) && strcmp(column->colname, name) == 0) return column;
  return nullptr;
}

// Calls visit(constraint, names of its columns) for each constraint of that type.
template <typename Visit>
void ForEachConstraint(const CreateStmt &table, ConstrType type, Visit visit) {
  for (const Node *element : Each<Node *>(table.tableElts)) {
    if (IsA(element, Constraint)) {
      const Constraint &constraint = *reinterpret_cast<const Constraint *>(element);
      if (constraint.contype == type) visit(constraint, type == CONSTR_FOREIGN ? constraint.fk_attrs : constraint.keys);
    } else if (IsA(element, ColumnDef)) {
      const ColumnDef &column = *reinterpret_cast<const ColumnDef *>(element);
      for (const Constraint &constraint : Each<Constraint>(column.constraints))
        if (constraint.contype == type) visit(constraint, list_make1(makeString(column.colname)));
    }
  }
}

// The table of this command that a name means; nullptr: it means another one. A name without a
// schema that is also a table's of the command is taken for that table.
const CreateStmt *FindTable(const Command &command, const RangeVar &name) {
  if (name.schemaname != nullptr && get_namespace_oid(name.schemaname, true) != command.schema) return nullptr;
  for (const CreateStmt *table : Each<CreateStmt *>(command.tables))
    if (strcmp(table->relation->relname, name.relname) == 0) return table;
  return nullptr;
}

// A column that refers to another table takes its values from there.
bool IsKey(const Command &command, const CreateStmt &table, const ColumnDef &column) {
  if (TypeOf(column) != INT8OID || (!OidIsValid(SerialType(column)) && !FindConstraint(column, CONSTR_IDENTITY)))
    return false;
  bool refers = false;
  ForEachConstraint(table, CONSTR_FOREIGN, [&](const Constraint &key, const List *columns) {
    for (Node *name : Each<Node *>(columns))
      refers |= strcmp(strVal(name), column.colname) == 0 && FindTable(command, *key.pktable) != &table;
  });
  return !refers;
}

Oid ExtensionSchema() { return SchemaOfExtension(get_extension_oid("snowflake", false)); }

// What PostgreSQL itself does with a serial column, with another function.
void AdoptKey(const CreateStmt &table, ColumnDef *column) {
  // The event trigger's memory ends before the command.
  MemoryContext outer = MemoryContextSwitchTo(GetMemoryChunkContext(column));
  Constraint *value = nullptr;
  if (OidIsValid(SerialType(*column))) {
    column->typeName->names = NIL;
    column->typeName->typeOid = INT8OID;
    value = makeNode(Constraint);
    value->location = -1;
    column->constraints = lappend(column->constraints, value);
  } else {
    value = FindConstraint(*column, CONSTR_IDENTITY);
  }
  value->contype = CONSTR_DEFAULT;
  value->raw_expr = reinterpret_cast<Node *>(makeFuncCall(
      list_make2(makeString(get_namespace_name(ExtensionSchema())), makeString(pstrdup("snowflake_nextval"))), NIL,
      COERCE_EXPLICIT_CALL, -1));
  column->constraints = lappend(column->constraints, NotNullConstraint());
  MemoryContextSwitchTo(outer);

  StringInfoData options;
  initStringInfo(&options);
  for (const DefElem &option : Each<DefElem>(value->options))
    appendStringInfo(&options, "%s%s", options.len > 0 ? ", " : "", option.defname);
  const bool always = value->generated_when == ATTRIBUTE_IDENTITY_ALWAYS;
  ereport(NOTICE,
          (errmsg("column \"%s\" of table \"%s\" now takes its ids from snowflake_nextval()", column->colname,
                  table.relation->relname),
           options.len > 0 ? errdetail("It has no sequence, so these options have no effect: %s.", options.data) : 0,
           always ? errhint("It accepts explicit ids, although it is GENERATED ALWAYS.") : 0));
}

List *PrimaryKey(const CreateStmt &table) {
  List *names = NIL;
  ForEachConstraint(table, CONSTR_PRIMARY, [&](const Constraint &, List *columns) { names = columns; });
  return names;
}

List *PrimaryKey(Relation table) {
  RelationGetIndexList(table);  // which sets rd_pkindex
  if (!OidIsValid(table->rd_pkindex)) return NIL;
  List *names = NIL;
  Relation index = index_open(table->rd_pkindex, AccessShareLock);
  for (int i = 0; i < index->rd_index->indnkeyatts; ++i)
    names = lappend(names, makeString(get_attname(RelationGetRelid(table), index->rd_index->indkey.values[i], false)));
  index_close(index, AccessShareLock);
  return names;
}

// The function whose result a default is; InvalidOid: it is something else.
Oid FunctionOf(const Node *value) {
  return value != nullptr && IsA(value, FuncExpr) ? reinterpret_cast<const FuncExpr *>(value)->funcid : InvalidOid;
}

bool TakesIds(Relation table, const char *column) {
  const AttrNumber number = get_attnum(RelationGetRelid(table), column);
  const Oid function = number > 0 ? FunctionOf(build_column_default(table, number)) : InvalidOid;
  return OidIsValid(function) && get_func_namespace(function) == ExtensionSchema() &&
         strcmp(get_func_name(function), "snowflake_nextval") == 0;
}

bool IsNarrow(const ColumnDef *column) {
  Oid type = column != nullptr ? TypeOf(*column) : InvalidOid;
  if (OidIsValid(type)) type = getBaseType(type);
  return type == INT2OID || type == INT4OID;
}

void CheckForeignKey(const Command &command, const CreateStmt &table, const Constraint &key, const List *columns) {
  bool narrow = false;
  ListCell *cell = nullptr, *other = nullptr;
  foreach (cell, columns) narrow |= IsNarrow(FindColumn(table, strVal(lfirst(cell))));
  if (!narrow) return;
  const CreateStmt *own = FindTable(command, *key.pktable);
  // If there is no such table, the command fails.
  Relation there = own == nullptr ? relation_openrv_extended(key.pktable, AccessShareLock, true) : nullptr;
  if (own == nullptr && there == nullptr) return;
  const List *referred = key.pk_attrs != NIL ? key.pk_attrs : own != nullptr ? PrimaryKey(*own) : PrimaryKey(there);
  forboth(cell, columns, other, referred) {
    const ColumnDef *column = FindColumn(table, strVal(lfirst(cell)));
    const char *name = strVal(lfirst(other));
    if (!IsNarrow(column)) continue;
    if (own != nullptr ? list_member_ptr(command.adopted, FindColumn(*own, name)) : TakesIds(there, name))
      ereport(ERROR,
              (errcode(ERRCODE_DATATYPE_MISMATCH),
               errmsg("column \"%s\" of table \"%s\" is too narrow for ids", column->colname, table.relation->relname),
               errdetail("It is of type %s and refers to column \"%s\" of table \"%s\", which takes its ids from "
                         "snowflake_nextval().",
                         format_type_be(TypeOf(*column)), name, key.pktable->relname),
               errhint("Make it bigint.")));
  }
  if (there != nullptr) relation_close(there, AccessShareLock);
}

// PostgreSQL makes the columns of LIKE after this.
void NoteCopies(const CreateStmt &table, const TableLikeClause &like) {
  if ((like.options & (CREATE_TABLE_LIKE_IDENTITY | CREATE_TABLE_LIKE_DEFAULTS)) == 0) return;
  Relation source = relation_openrv_extended(like.relation, AccessShareLock, true);
  if (source == nullptr) return;
  for (int i = 0; i < source->rd_att->natts; ++i) {
    const FormData_pg_attribute &column = *TupleDescAttr(source->rd_att, i);
    if (column.attisdropped || column.atttypid != INT8OID) continue;
    const Node *value = build_column_default(source, column.attnum);
    if (value == nullptr) continue;
    const bool identity = IsA(value, NextValueExpr) && (like.options & CREATE_TABLE_LIKE_IDENTITY) != 0;
    const bool copied = FunctionOf(value) == F_NEXTVAL && (like.options & CREATE_TABLE_LIKE_DEFAULTS) != 0;
    if (identity || copied)
      ereport(NOTICE, (errmsg("column \"%s\" of table \"%s\" takes its numbers from a sequence",
                              NameStr(column.attname), table.relation->relname),
                       errdetail("LIKE copies it from table \"%s\".", like.relation->relname),
                       errhint("snowflake_convert() can convert it.")));
  }
  relation_close(source, AccessShareLock);
}

void AdoptKeys(Command *command) {
  for (const CreateStmt &table : Each<CreateStmt>(command->tables)) {
    for (Node *node : Each<Node *>(table.tableElts)) {
      if (IsA(node, TableLikeClause)) NoteCopies(table, *castNode(TableLikeClause, node));
      if (!IsA(node, ColumnDef) || !IsKey(*command, table, *castNode(ColumnDef, node))) continue;
      AdoptKey(table, castNode(ColumnDef, node));
      command->adopted = lappend(command->adopted, node);
    }
  }
  for (const CreateStmt &table : Each<CreateStmt>(command->tables)) {
    ForEachConstraint(table, CONSTR_FOREIGN, [&](const Constraint &key, const List *columns) {
      CheckForeignKey(*command, table, key, columns);
    });
  }
}

bool IsTemporary(const CreateStmt &table) { return table.relation->relpersistence == RELPERSISTENCE_TEMP; }

void AdoptKeysOf(Node *tree) {
  Command command = {};
  if (IsA(tree, CreateStmt)) {
    CreateStmt *table = castNode(CreateStmt, tree);
    // Also finds out whether the table is in pg_temp.
    Oid existing = InvalidOid;
    command.schema = RangeVarGetAndCheckCreationNamespace(table->relation, NoLock, &existing);
    if (!OidIsValid(existing) && !IsTemporary(*table)) command.tables = list_make1(table);
  } else if (IsA(tree, CreateSchemaStmt)) {
    for (Node *element : Each<Node *>(castNode(CreateSchemaStmt, tree)->schemaElts))
      if (IsA(element, CreateStmt) && !IsTemporary(*castNode(CreateStmt, element)))
        command.tables = lappend(command.tables, element);
  }
  AdoptKeys(&command);
}

}  // namespace

void DefineAdoption() {
  DefineCustomBoolVariable("snowflake_convert.adopt_keys", "Keys of new tables take ids.",
                           "CREATE TABLE gives serial and identity columns of type bigint the default "
                           "snowflake_nextval().",
                           &adopt_keys, false, PGC_USERSET, GUC_ALLOW_IN_PARALLEL, nullptr, nullptr, nullptr);
}

SNOWFLAKE_FUNCTION(snowflake_adopt_keys) {
  if (!CALLED_AS_EVENT_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_adopt_keys");
  if (adopt_keys && !creating_extension)
    AdoptKeysOf(reinterpret_cast<const EventTriggerData *>(fcinfo->context)->parsetree);
  return Datum{0};
}

}  // namespace snowflake

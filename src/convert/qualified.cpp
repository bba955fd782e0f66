// A writer of expressions. It knows the kinds that indexes mostly consist of and that can be
// written with qualified names, and read in every session as they were written. IS DISTINCT FROM,
// NULLIF, CASE with an operand and comparisons of rows find an operator called = or < by the
// search_path, so they are not among them.
#include "convert/qualified.h"

#include "pg/execution.h"

extern "C" {
#include "catalog/pg_operator.h"
}

namespace snowflake {
namespace {
// nullptr: the column stays as it is.
const IdColumn *NarrowColumn(const IdColumns &columns, Oid table, AttrNumber number) {
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (column.narrow && column.table == table && column.number == number) return &column;
  }
  return nullptr;
}

struct Writer {
  const IdColumns *columns;
  Oid table;
  StringInfoData sql;
  const char *part;  // what cannot be written
};

void Write(Writer *writer, Node *node);

void Put(Writer *writer, const char *text) { appendStringInfoString(&writer->sql, text); }

void PutName(Writer *writer, Oid schema, const char *name) {
  Put(writer, quote_qualified_identifier(get_namespace_name(schema), name));
}

void WriteList(Writer *writer, List *nodes, const char *before_last = "") {
  ListCell *cell = nullptr;
  foreach (cell, nodes) {
    if (foreach_current_index(cell) > 0) Put(writer, ", ");
    if (lnext(nodes, cell) == nullptr) Put(writer, before_last);
    Write(writer, static_cast<Node *>(lfirst(cell)));
  }
}

void PutType(Writer *writer, Oid type, int32 typmod) {
  Put(writer, format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

// A cast that nobody wrote is found again.
void WriteCast(Writer *writer, Expr *argument, CoercionForm form, Oid type, int32 typmod) {
  if (form == COERCE_IMPLICIT_CAST) return Write(writer, reinterpret_cast<Node *>(argument));
  Put(writer, "(");
  Write(writer, reinterpret_cast<Node *>(argument));
  Put(writer, ")::");
  PutType(writer, type, typmod);
}

void WriteVar(Writer *writer, const Var &var) {
  if (var.varattno <= 0) {
    writer->part = "a system column or a whole row";
    return;
  }
  const IdColumn *narrow = NarrowColumn(*writer->columns, writer->table, var.varattno);
  Put(writer, narrow != nullptr ? narrow->new_sql : quote_identifier(get_attname(writer->table, var.varattno, false)));
}

// Whether the text of its values means the same in every session: not with another lc_monetary,
// xmloption or, for the parts of a row, array_nulls.
bool IsReadAlike(Oid type) {
  type = getBaseType(type);
  if (const Oid element = get_element_type(type)) return IsReadAlike(element);
  if (const Oid subtype = get_range_subtype(type)) return IsReadAlike(subtype);
  return type != MONEYOID && type != XMLOID && !type_is_rowtype(type);
}

void WriteConst(Writer *writer, const Const &constant) {
  if (constant.constisnull) {
    Put(writer, "NULL::");
    return PutType(writer, constant.consttype, constant.consttypmod);
  }
  if (!IsReadAlike(constant.consttype)) {
    writer->part = psprintf("a constant of type %s", format_type_be(constant.consttype));
    return;
  }
  if (OidIsValid(get_base_element_type(constant.consttype)) &&
      array_contains_nulls(DatumGetArrayTypeP(constant.constvalue))) {
    writer->part = "an array with a null";
    return;
  }
  if (constant.consttype == BOOLOID) return Put(writer, DatumGetBool(constant.constvalue) ? "true" : "false");
  Oid output = InvalidOid;
  bool is_varlena = false;
  getTypeOutputInfo(constant.consttype, &output, &is_varlena);
  const char *text = OidOutputFunctionCall(output, constant.constvalue);
  if (constant.consttype == INT4OID && DatumGetInt32(constant.constvalue) >= 0) return Put(writer, text);
  Put(writer, quote_literal_cstr(text));
  Put(writer, "::");
  PutType(writer, constant.consttype, constant.consttypmod);
}

void PutOperator(Writer *writer, Oid oid) {
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for operator %u", oid);
  const Form_pg_operator form = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
  appendStringInfo(&writer->sql, "OPERATOR(%s.%s)", quote_identifier(get_namespace_name(form->oprnamespace)),
                   NameStr(form->oprname));
  ReleaseSysCache(tuple);
}

// `after` the operator, before the last operand.
void WriteOperator(Writer *writer, Oid oid, List *operands, const char *after, const char *end) {
  Put(writer, "(");
  if (list_length(operands) == 2) {
    Write(writer, static_cast<Node *>(linitial(operands)));
    Put(writer, " ");
  }
  PutOperator(writer, oid);
  Put(writer, after);
  Write(writer, static_cast<Node *>(llast(operands)));
  Put(writer, end);
}

void WriteFunction(Writer *writer, FuncExpr *call) {
  if (call->funcformat == COERCE_SQL_SYNTAX) {
    writer->part = "a function in a syntax of its own";
    return;
  }
  if (call->funcformat != COERCE_EXPLICIT_CALL) {
    int32 typmod = -1;
    exprIsLengthCoercion(reinterpret_cast<Node *>(call), &typmod);
    return WriteCast(writer, static_cast<Expr *>(linitial(call->args)), call->funcformat, call->funcresulttype, typmod);
  }
  PutName(writer, get_func_namespace(call->funcid), get_func_name(call->funcid));
  Put(writer, "(");
  WriteList(writer, call->args, call->funcvariadic ? "VARIADIC " : "");
  Put(writer, ")");
}

void WriteBool(Writer *writer, BoolExpr *expression) {
  Put(writer, expression->boolop == NOT_EXPR ? "(NOT " : "(");
  ListCell *cell = nullptr;
  foreach (cell, expression->args) {
    if (foreach_current_index(cell) > 0) Put(writer, expression->boolop == AND_EXPR ? " AND " : " OR ");
    Write(writer, static_cast<Node *>(lfirst(cell)));
  }
  Put(writer, ")");
}

void WriteCase(Writer *writer, CaseExpr *expression) {
  if (expression->arg != nullptr) {
    writer->part = "CASE with an operand";
    return;
  }
  Put(writer, "CASE");
  ListCell *cell = nullptr;
  foreach (cell, expression->args) {
    CaseWhen *when = castNode(CaseWhen, lfirst(cell));
    Put(writer, " WHEN ");
    Write(writer, reinterpret_cast<Node *>(when->expr));
    Put(writer, " THEN ");
    Write(writer, reinterpret_cast<Node *>(when->result));
  }
  if (expression->defresult != nullptr) {
    Put(writer, " ELSE ");
    Write(writer, reinterpret_cast<Node *>(expression->defresult));
  }
  Put(writer, " END");
}

void WriteTest(Writer *writer, Expr *argument, const char *test) {
  Put(writer, "(");
  Write(writer, reinterpret_cast<Node *>(argument));
  Put(writer, test);
}

const char *TestOf(BoolTestType type) {
  switch (type) {
    case IS_TRUE: return " IS TRUE)";
    case IS_NOT_TRUE: return " IS NOT TRUE)";
    case IS_FALSE: return " IS FALSE)";
    case IS_NOT_FALSE: return " IS NOT FALSE)";
    case IS_UNKNOWN: return " IS UNKNOWN)";
    default: return " IS NOT UNKNOWN)";
  }
}

void WriteArray(Writer *writer, ArrayExpr *array) {
  Put(writer, "ARRAY[");
  WriteList(writer, array->elements);
  Put(writer, "]");
  if (array->elements != NIL) return;
  Put(writer, "::");
  PutType(writer, array->array_typeid, -1);
}

void WriteCollation(Writer *writer, CollateExpr *expression) {
  HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(expression->collOid));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for collation %u", expression->collOid);
  const Form_pg_collation form = reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple));
  WriteTest(writer, expression->arg, " COLLATE ");
  PutName(writer, form->collnamespace, NameStr(form->collname));
  Put(writer, ")");
  ReleaseSysCache(tuple);
}

void Write(Writer *writer, Node *node) {
  check_stack_depth();
  switch (nodeTag(node)) {
    case T_Var: return WriteVar(writer, *castNode(Var, node));
    case T_Const: return WriteConst(writer, *castNode(Const, node));
    case T_OpExpr: return WriteOperator(writer, castNode(OpExpr, node)->opno, castNode(OpExpr, node)->args, " ", ")");
    case T_ScalarArrayOpExpr: {
      ScalarArrayOpExpr *expression = castNode(ScalarArrayOpExpr, node);
      return WriteOperator(writer, expression->opno, expression->args, expression->useOr ? " ANY (" : " ALL (", "))");
    }
    case T_FuncExpr: return WriteFunction(writer, castNode(FuncExpr, node));
    case T_BoolExpr: return WriteBool(writer, castNode(BoolExpr, node));
    case T_CaseExpr: return WriteCase(writer, castNode(CaseExpr, node));
    case T_CollateExpr: return WriteCollation(writer, castNode(CollateExpr, node));
    case T_NullTest: {
      NullTest *test = castNode(NullTest, node);
      return WriteTest(writer, test->arg, test->nulltesttype == IS_NULL ? " IS NULL)" : " IS NOT NULL)");
    }
    case T_BooleanTest:
      return WriteTest(writer, castNode(BooleanTest, node)->arg, TestOf(castNode(BooleanTest, node)->booltesttype));
    case T_RelabelType: {
      RelabelType *cast = castNode(RelabelType, node);
      return WriteCast(writer, cast->arg, cast->relabelformat, cast->resulttype, cast->resulttypmod);
    }
    case T_CoerceViaIO: {
      CoerceViaIO *cast = castNode(CoerceViaIO, node);
      return WriteCast(writer, cast->arg, cast->coerceformat, cast->resulttype, -1);
    }
    case T_ArrayCoerceExpr: {
      ArrayCoerceExpr *cast = castNode(ArrayCoerceExpr, node);
      return WriteCast(writer, cast->arg, cast->coerceformat, cast->resulttype, cast->resulttypmod);
    }
    case T_ArrayExpr: return WriteArray(writer, castNode(ArrayExpr, node));
    case T_CoalesceExpr:
      Put(writer, "COALESCE(");
      WriteList(writer, castNode(CoalesceExpr, node)->args);
      return Put(writer, ")");
    case T_DistinctExpr: writer->part = "IS DISTINCT FROM"; return;
    case T_NullIfExpr: writer->part = "NULLIF"; return;
    case T_RowCompareExpr: writer->part = "a comparison of rows"; return;
    default: writer->part = "an expression of another kind than those that are known";
  }
}

// --- PostgreSQL's own writer ---

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

const char *QualifiedSql(const IdColumns &columns, Oid table, Node *expression, const char **part) {
  Writer writer = {&columns, table, {}, nullptr};
  initStringInfo(&writer.sql);
  Write(&writer, expression);
  *part = writer.part;
  return writer.part == nullptr ? writer.sql.data : nullptr;
}

const char *OnNewColumns(const IdColumns &columns, Oid table, Node *expression) {
  List *context = deparse_context_for(get_rel_name(table), table);
  Marking marking = {&columns, table, 100 * 10000};
  // A literal may look like the mark of a column, which has up to four digits.
  const char *before = deparse_expression(expression, context, false, false);
  while (strstr(before, psprintf("$%d", marking.mark / 10000)) != nullptr) marking.mark += 10000;
  const char *sql = deparse_expression(MarkColumns(expression, &marking), context, false, false);
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (column.narrow && column.table == table)
      sql = Replaced(sql, psprintf("$%d", marking.mark + column.number), column.new_sql);
  }
  return sql;
}

}  // namespace snowflake

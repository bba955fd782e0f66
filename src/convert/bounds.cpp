// Which tables refuse new ids is asked of the planner, which knows whether `id >= least` excludes a
// condition. For that, it only compares constants of PostgreSQL's integer types, by operators of
// PostgreSQL. Conditions are not evaluated: they may call functions of others. What calls functions
// of PostgreSQL only is evaluated as far as it depends on the id alone: a value may be too large.
#include "convert/bounds.h"

#include "convert/queries.h"
#include "convert/subtransaction.h"
#include "pg/report.h"

extern "C" {
#include "catalog/pg_opfamily.h"
#include "utils/partcache.h"
}

namespace snowflake {
namespace {
struct BoundRow {
  Oid relation, type, by, top_relation;
  int16 number;
  const char *top, *described, *by_sql, *strategy, *expression, *constraint, *drop, *definition;
  bool bounded, is_partition, plain;

  static BoundRow Read(const Row &row) {
    BoundRow found =
        row.As<BoundRow>("relation", "type", "by", "top_relation", "number", "top", "described", "by_sql", "strategy",
                         "expression", "name", "drop", "definition", "bounded", "is_partition", "plain");
    if (IsBinaryCoercible(found.type, INT8OID)) found.type = INT8OID;
    return found;
  }
};

// A table, and what keeps new ids out of it.
struct Judged {
  const BoundRow *row;
  bool out_of_bounds;
  List *checks;  // BoundRow
};

List *ValuesOf(const Const &array) {
  const Oid type = get_element_type(array.consttype);
  int16 length = 0;
  bool by_value = false;
  char align = 0;
  get_typlenbyvalalign(type, &length, &by_value, &align);
  Datum *datums = nullptr;
  bool *nulls = nullptr;
  int count = 0;
  deconstruct_array(DatumGetArrayTypeP(array.constvalue), type, length, by_value, align, &datums, &nulls, &count);
  List *values = NIL;
  for (int i = 0; i < count; ++i)
    values = lappend(values, makeConst(type, -1, InvalidOid, length, datums[i], nulls[i], by_value));
  return values;
}

// The planner does not look into arrays of more than 100 values. An array is the same as OR, or as
// AND, of comparisons with each value.
Node *WithoutArrays(Node *node, void *) {
  if (node == nullptr || !IsA(node, ScalarArrayOpExpr)) return MutateTree(node, WithoutArrays, nullptr);
  const ScalarArrayOpExpr *all = castNode(ScalarArrayOpExpr, node);
  Node *array = static_cast<Node *>(lsecond(all->args));
  List *values = NIL, *comparisons = NIL;
  if (IsA(array, ArrayExpr) && !castNode(ArrayExpr, array)->multidims)
    values = castNode(ArrayExpr, array)->elements;
  else if (IsA(array, Const) && !castNode(Const, array)->constisnull)
    values = ValuesOf(*castNode(Const, array));
  if (values == NIL) return node;
  Expr *left = static_cast<Expr *>(linitial(all->args));
  for (Expr *value : Each<Expr *>(values)) {
    comparisons =
        lappend(comparisons, make_opclause(all->opno, BOOLOID, false, left, value, InvalidOid, all->inputcollid));
  }
  return reinterpret_cast<Node *>(all->useOr ? make_orclause(comparisons) : make_andclause(comparisons));
}

Expr *AtLeast(Expr *value, Oid type, int64_t least) {
  Const *id = makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(least), false, FLOAT8PASSBYVAL);
  const Oid at_least = get_opfamily_member(INTEGER_BTREE_FAM_OID, type, INT8OID, BTGreaterEqualStrategyNumber);
  return make_opclause(at_least, BOOLOID, false, value, reinterpret_cast<Expr *>(id), InvalidOid, InvalidOid);
}

struct Cast {
  Oid from, function, to;
};

// They change no value.
constexpr Cast kWidening[] = {
    {INT2OID, F_INT4_INT2, INT4OID}, {INT2OID, F_INT8_INT2, INT8OID}, {INT4OID, F_INT8_INT4, INT8OID}};

bool Excludes(const BoundRow &row, Node *condition, int64_t least) {
  if (condition == nullptr || !IsInteger(row.type)) return false;
  Expr *column = reinterpret_cast<Expr *>(makeVar(1, row.number, row.type, -1, InvalidOid, 0));
  List *clauses = list_make1(AtLeast(column, row.type, least));
  for (const Cast &cast : kWidening) {
    if (cast.from != row.type) continue;
    FuncExpr *wide =
        makeFuncExpr(cast.function, cast.to, list_make1(column), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
    clauses = lappend(clauses, AtLeast(reinterpret_cast<Expr *>(wide), cast.to, least));
  }
  return predicate_refuted_by(list_make1(WithoutArrays(condition, nullptr)), clauses, false);
}

// A value of a domain, or of another type over bigint, is one of the type of ids.
Node *OfPlainType(Node *node, void *context) {
  const BoundRow &row = *static_cast<const BoundRow *>(context);
  if (node != nullptr &&
      (IsA(node, CoerceToDomainValue) || (IsA(node, Var) && castNode(Var, node)->varattno == row.number)))
    return reinterpret_cast<Node *>(makeVar(1, row.number, row.type, -1, InvalidOid, 0));
  Node *changed = MutateTree(node, OfPlainType, context);
  if (changed == nullptr || !IsA(changed, RelabelType)) return changed;
  const RelabelType &relabelled = *castNode(RelabelType, changed);
  Node *value = reinterpret_cast<Node *>(relabelled.arg);
  return relabelled.resulttype == row.type && exprType(value) == row.type ? value : changed;
}

// Constants are computed only if that calls no function of others.
Node *CheckOf(const BoundRow &row) {
  if (row.expression == nullptr) return nullptr;
  Node *check = OfPlainType(static_cast<Node *>(stringToNode(row.expression)), const_cast<BoundRow *>(&row));
  if (row.plain) check = eval_const_expressions(nullptr, check);
  return reinterpret_cast<Node *>(canonicalize_qual(reinterpret_cast<Expr *>(check), true));
}

bool IsOutOfBounds(const BoundRow &row, int64_t least) {
  return row.bounded && Excludes(row, reinterpret_cast<Node *>(get_partition_qual_relid(row.relation)), least);
}

Bound *OfCheck(const BoundRow &row, const char *object, bool whole) {
  return CopyOf(Bound{row.top_relation, object,
                      psprintf("Constraint %s refuses new ids: %s.", row.constraint, row.definition),
                      psprintf("Run %s first.", row.drop), whole});
}

Bound *OfPartitions(const BoundRow &row, int64_t least) {
  const char *values =
      strcmp(row.strategy, "r") == 0 ? psprintf("FOR VALUES FROM (%lld) TO (MAXVALUE)", Long(least)) : "DEFAULT";
  return CopyOf(Bound{row.top_relation, row.top, psprintf("No partition of table %s takes new ids.", row.by_sql),
                      psprintf("Run CREATE TABLE ... PARTITION OF %s %s first.", row.by_sql, values), true});
}

bool AreOfOneTable(const BoundRow &a, const BoundRow &b) {
  return a.relation == b.relation && strcmp(a.top, b.top) == 0;
}

bool AreTogether(const BoundRow &a, const BoundRow &b) { return a.by == b.by && strcmp(a.top, b.top) == 0; }

List *JudgeTables(const RowsOf<BoundRow> &rows, int64_t least) {
  List *tables = NIL;
  for (const BoundRow &row : rows) {
    Judged *table = tables != NIL ? static_cast<Judged *>(llast(tables)) : nullptr;
    if (table == nullptr || !AreOfOneTable(*table->row, row)) {
      table = CopyOf(Judged{&row, IsOutOfBounds(row, least), NIL});
      tables = lappend(tables, table);
    }
    if (!table->out_of_bounds && Excludes(row, CheckOf(row), least))
      table->checks = lappend(table->checks, const_cast<BoundRow *>(&row));
  }
  return tables;
}

// Tables below inherit a check, and one statement drops it.
bool IsFirst(const BoundRow &check, const List *checks) {
  for (const BoundRow &other : Each<BoundRow>(checks))
    if (strcmp(other.drop, check.drop) == 0) return false;
  return true;
}

// Of tables of which one must take new ids. A closed partition is in order, another table is not.
List *BoundsOf(List *tables, int64_t least) {
  const BoundRow &first = *static_cast<const Judged *>(linitial(tables))->row;
  List *apart = NIL, *all = NIL;
  bool any = false;
  for (const Judged &table : Each<Judged>(tables)) {
    any |= !table.out_of_bounds && table.checks == NIL;
    for (const BoundRow &check : Each<BoundRow>(table.checks)) {
      // A table that is the top one itself takes the ids that are inserted into it.
      const bool whole = check.relation == check.by;
      if (!check.is_partition) apart = lappend(apart, OfCheck(check, check.described, whole));
      if (IsFirst(check, all)) all = lappend(all, const_cast<BoundRow *>(&check));
    }
  }
  if (any) return apart;
  List *bounds = NIL;
  for (const BoundRow &check : Each<BoundRow>(all)) bounds = lappend(bounds, OfCheck(check, first.top, true));
  return bounds != NIL ? bounds : list_make1(OfPartitions(first, least));
}

struct Expression {
  Oid table, type;
  int16 number;
  const char *top, *expression, *described;

  static Expression Read(const Row &row) {
    return row.As<Expression>("relation", "type", "number", "top", "expression", "described");
  }
};

struct NewId {
  int16 number;
  Oid type;
  int64_t value;

  bool Is(const void *node) const { return IsA(node, Var) && static_cast<const Var *>(node)->varattno == number; }
  Const *Value() const {
    return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false, FLOAT8PASSBYVAL);
  }
};

// Casts of a narrow column, and what they are when it is bigint.
constexpr Oid kCasts[][2] = {{F_INT4_INT2, F_INT4_INT8},       {F_INT2_INT4, F_INT2_INT8},
                             {F_NUMERIC_INT2, F_NUMERIC_INT8}, {F_NUMERIC_INT4, F_NUMERIC_INT8},
                             {F_FLOAT8_INT2, F_FLOAT8_INT8},   {F_FLOAT8_INT4, F_FLOAT8_INT8}};

// Of a narrow column, only these casts are known afterwards. Conditions that come before them are
// not computed, so what depends on one is left out.
Node *WithNewId(Node *node, void *context) {
  const NewId &id = *static_cast<NewId *>(context);
  if (node == nullptr) return nullptr;
  if (id.type == INT8OID && id.Is(node)) return reinterpret_cast<Node *>(id.Value());
  if (id.type != INT8OID && (IsA(node, CaseExpr) || IsA(node, CoalesceExpr) || IsA(node, BoolExpr))) return node;
  if (IsA(node, FuncExpr)) {
    const FuncExpr &cast = *castNode(FuncExpr, node);
    for (const auto &[before, after] : kCasts)
      if (cast.funcid == before && id.Is(linitial(cast.args)))
        return reinterpret_cast<Node *>(makeFuncExpr(after, cast.funcresulttype, list_make1(id.Value()), InvalidOid,
                                                     InvalidOid, COERCE_EXPLICIT_CAST));
  }
  return MutateTree(node, WithNewId, context);
}

List *TooNarrow(const ColumnSet &columns, int64_t least) {
  List *bounds = NIL;
  for (const Expression &each : Read<Expression>(kExpressions, columns)) {
    ErrorData *error = Attempted([&] {
      NewId id = {each.number, each.type, least};
      eval_const_expressions(nullptr, WithNewId(static_cast<Node *>(stringToNode(each.expression)), &id));
    });
    if (error != nullptr && error->sqlerrcode == ERRCODE_QUERY_CANCELED) ReThrowError(error);
    if (error == nullptr || (error->sqlerrcode != ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE &&
                             error->sqlerrcode != ERRCODE_DATETIME_VALUE_OUT_OF_RANGE))
      continue;
    bounds = lappend(
        bounds, CopyOf(Bound{each.table, each.top,
                             psprintf("New ids are too large for %s: %s.", each.described, error->message),
                             psprintf("Drop %s first, or create it again with a wider type.", each.described), true}));
  }
  return bounds;
}

}  // namespace

int64_t LeastNewId() {
  return DatumGetInt64(OidFunctionCall0(FindFunction(Snowflake(), "snowflake_least_new_id", 0).oid));
}

List *FindBounds(const ColumnSet &columns, int64_t least) {
  List *bounds = NIL, *together = NIL;
  List *tables = JudgeTables(Read<BoundRow>(kBounds, columns), least);
  for (int i = 0; i < list_length(tables); ++i) {
    const Judged &table = *static_cast<const Judged *>(list_nth(tables, i));
    together = lappend(together, const_cast<Judged *>(&table));
    if (i + 1 < list_length(tables) &&
        AreTogether(*table.row, *static_cast<const Judged *>(list_nth(tables, i + 1))->row))
      continue;
    bounds = list_concat(bounds, BoundsOf(together, least));
    together = NIL;
  }
  return list_concat(bounds, TooNarrow(columns, least));
}

}  // namespace snowflake

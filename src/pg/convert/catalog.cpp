// The queries about what is to be converted, and the locks that keep their results true.
#include "pg/convert/catalog.h"

#include "pg/convert/query.h"
#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The queries rely on the search_path that snowflake_convert() has: pg_catalog.

// $1: the extension, $2: the function's name, $3: how many arguments it has.
constexpr char kFunction[] = R"(
SELECT p.oid, format('%I.%I', n.nspname, p.proname)
FROM pg_depend d
JOIN pg_proc p ON p.oid = d.objid AND p.proname = $2 AND p.pronargs = $3 JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND d.refobjid = $1
    AND d.deptype = 'e')";

// $1: the table, $2: the column, $3: whether to leave out what is only widened. An inherited column
// has the same name at both ends.
constexpr char kColumns[] = R"(
WITH RECURSIVE held(relation, number, own) AS (
    SELECT attrelid, attnum, true FROM pg_attribute
    WHERE attrelid = $1 AND attname = $2 AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT step.* FROM held h JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number,
    LATERAL (
        SELECT f.conrelid, k.referring, false
        FROM pg_constraint f, unnest(f.conkey, f.confkey) AS k(referring, referred)
        WHERE f.contype = 'f' AND f.confrelid = h.relation AND k.referred = h.number
        UNION ALL
        SELECT i.inhrelid, c.attnum, h.own FROM pg_inherits i
        JOIN pg_attribute c ON c.attrelid = i.inhrelid AND c.attname = a.attname
        WHERE i.inhparent = h.relation
        UNION ALL
        SELECT i.inhparent, p.attnum, false FROM pg_inherits i
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0
        WHERE i.inhrelid = h.relation) AS step)
SELECT h.relation, h.number, format('%I.%I', n.nspname, c.relname), quote_ident(a.attname),
    pg_describe_object('pg_class'::regclass, h.relation, h.number), up.roots, up.root_count,
    a.atttypid, format_type(a.atttypid, a.atttypmod), h.own, up.root, a.attgenerated <> '', c.reloftype <> 0,
    d.adbin::text, quote_ident()" SNOWFLAKE_NEW("a.attname") R"()
FROM (SELECT relation, number, bool_or(own) AS own FROM held GROUP BY 1, 2 HAVING bool_or(own) OR NOT $3) AS h
JOIN pg_class c ON c.oid = h.relation JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
LEFT JOIN pg_attrdef d ON d.adrelid = h.relation AND d.adnum = h.number,
LATERAL (
    WITH RECURSIVE up(relation) AS (
        SELECT h.relation
        UNION
        SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.relation
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0)
    SELECT string_agg(pg_describe_object('pg_class'::regclass, up.relation, 0), ', ' ORDER BY up.relation),
        count(*), bool_or(up.relation = h.relation)
    FROM up WHERE NOT EXISTS (
        SELECT FROM pg_inherits i
        JOIN pg_attribute p ON p.attrelid = i.inhparent AND p.attname = a.attname AND p.attnum > 0
        WHERE i.inhrelid = up.relation)) AS up(roots, root_count, root)
ORDER BY h.relation <> $1, h.relation, a.attname <> $2, h.number)";

// $1: the table, $2: other tables that change.
constexpr char kTables[] = R"(
SELECT c.oid, c.oid = $1, c.relkind, c.relpersistence, e.extname, pg_has_role(c.relowner, 'USAGE'),
    pg_describe_object('pg_class'::regclass, c.oid, 0), c.relowner
FROM pg_class c
LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.objsubid = 0
    AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
WHERE c.oid = $1 OR c.oid = ANY ($2)
ORDER BY c.oid <> $1, c.oid)";

// $1: the table, $2 and $3: the converted columns, $4 and $5: the narrow ones, $6: the table's
// owner. ALTER TABLE drops a foreign key of a column that changes its type and adds it again, which
// locks and reads both of its tables. Reading is enough to run code, as in an expression of an
// index. But an owner who has the other owner's rights gains none.
constexpr char kLocks[] = R"(
SELECT c.oid, pg_describe_object('pg_class'::regclass, c.oid, 0), pg_get_userbyid(c.relowner), pg_get_userbyid($6),
    c.relowner <> $6 AND (c.oid = ANY ($2 || $4) OR NOT pg_has_role(c.relowner, $6, 'USAGE'))
FROM (
    SELECT $1
    UNION
    SELECT unnest($2 || $4)
    UNION
    SELECT unnest(ARRAY[f.conrelid, f.confrelid]) FROM unnest($4, $5) AS h(relation, number)
    JOIN pg_constraint f ON f.contype = 'f' AND (f.conrelid = h.relation AND h.number = ANY (f.conkey)
        OR f.confrelid = h.relation AND h.number = ANY (f.confkey))
    UNION
    SELECT s.oid FROM unnest($2, $3) AS h(relation, number)
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
        AND d.classid = 'pg_class'::regclass
    JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S') AS l(lock)
JOIN pg_class c ON c.oid = l.lock
ORDER BY c.oid <> $1, c.oid)";

// $1 and $2: the narrow columns. All but what ALTER TABLE rebuilds by itself. It cannot rebuild a
// foreign key that refers to a partition if the partition has its unique index from above. The
// columns of a partition key depend on its table.
constexpr char kObjects[] = R"(
WITH narrow AS (SELECT * FROM unnest($1, $2) AS n(relation, number)),
objects AS (
    SELECT n.*, CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
        WHEN x.oid IS NOT NULL THEN 'generated ' || pg_describe_object('pg_class'::regclass, x.adrelid, x.adnum)
        ELSE pg_describe_object(d.classid, d.objid, d.objsubid) END AS object
    FROM narrow n
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = n.relation AND d.refobjsubid = n.number
    LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    LEFT JOIN pg_attrdef x ON d.classid = 'pg_attrdef'::regclass AND x.oid = d.objid
    WHERE x.adnum IS DISTINCT FROM n.number
        AND d.classid NOT IN ('pg_class'::regclass, 'pg_constraint'::regclass, 'pg_statistic_ext'::regclass)
    UNION
    SELECT n.*, pg_describe_object('pg_constraint'::regclass, f.oid, 0)
    FROM narrow n
    JOIN pg_constraint f ON f.contype = 'f' AND f.confrelid = n.relation AND n.number = ANY (f.confkey)
        AND f.conparentid = 0
    JOIN pg_class x ON x.oid = f.conindid AND x.relispartition
    UNION
    SELECT n.*, 'partition key of ' || pg_describe_object(d.classid, d.objid, 0)
    FROM narrow n
    JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = n.relation AND d.objsubid = n.number
        AND d.refclassid = d.classid AND d.refobjid = d.objid AND d.refobjsubid = 0)
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C")
FROM (SELECT object || ' depends on ' || pg_describe_object('pg_class'::regclass, relation, number)
      FROM objects) AS l(line))";

// $1 and $2: the narrow columns. From 18 on each NOT NULL is a constraint with a name. If a type
// changes, ALTER TABLE drops them all, adds those at the top again and with them what is inherited,
// and then fails to add what a table below has of its own under another name. So: the constraints
// that nothing may inherit meanwhile, the topmost first. Partitions cannot be kept from inheriting:
// then also the partition's column.
constexpr char kNotNulls[] = R"(
WITH RECURSIVE held AS (
    SELECT h.*, a.attname, f.conname, f.conislocal AS own FROM unnest($1, $2) AS h(relation, number)
    JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
    JOIN pg_constraint f ON f.contype = 'n' AND f.conrelid = h.relation AND f.conkey = ARRAY[h.number]
        AND NOT f.connoinherit),
above(relation, parent) AS (
    SELECT i.inhrelid, i.inhparent FROM held h JOIN pg_inherits i ON i.inhrelid = h.relation
    UNION
    SELECT a.relation, i.inhparent FROM above a JOIN pg_inherits i ON i.inhrelid = a.parent),
pairs AS (
    SELECT high.relation, high.conname, pg_describe_object('pg_class'::regclass, low.relation, low.number) AS low,
        bool_or(low.own AND low.conname <> high.conname) OVER (PARTITION BY low.relation, low.number) AS clash
    FROM above a JOIN held low ON low.relation = a.relation
    JOIN held high ON high.relation = a.parent AND high.attname = low.attname)
SELECT format('ALTER TABLE %I.%I ALTER CONSTRAINT %I ', n.nspname, c.relname, p.conname),
    min(p.low) FILTER (WHERE c.relkind = 'p')
FROM pairs p
JOIN pg_class c ON c.oid = p.relation JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE p.clash GROUP BY p.relation, 1
ORDER BY (SELECT count(*) FROM above a WHERE a.relation = p.relation), p.relation, 1)";

// $1 and $2: the converted columns.
constexpr char kOtherUsers[] = R"(
SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C")
FROM (SELECT CASE WHEN r.rulename = '_RETURN' THEN pg_describe_object('pg_class'::regclass, r.ev_class, 0)
          ELSE pg_describe_object(u.classid, u.objid, u.objsubid) END
          || ' depends on ' || pg_describe_object(u.refclassid, u.refobjid, 0)
      FROM unnest($1, $2) AS h(relation, number)
      JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
          AND d.classid = 'pg_class'::regclass
      JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
      JOIN pg_depend u ON u.refclassid = 'pg_class'::regclass AND u.refobjid = s.oid AND u.deptype = 'n'
      LEFT JOIN pg_rewrite r ON u.classid = 'pg_rewrite'::regclass AND r.oid = u.objid
      LEFT JOIN pg_attrdef x ON u.classid = 'pg_attrdef'::regclass AND x.oid = u.objid
      WHERE NOT EXISTS (SELECT FROM unnest($1, $2) AS o(relation, number)
                        WHERE o.relation = x.adrelid AND o.number = x.adnum)) AS l(line))";

// $1 and $2: the converted columns, $3: 'i' for sequences of identities, 'a' for those of serial
// columns. The statement that drops it, and its name.
constexpr char kSequences[] = R"(
SELECT CASE d.deptype
    WHEN 'i' THEN format('ALTER TABLE %I.%I ALTER COLUMN %I DROP IDENTITY;', cn.nspname, c.relname, a.attname)
    ELSE format('DROP SEQUENCE %I.%I;', sn.nspname, s.relname) END, format('%I.%I', sn.nspname, s.relname)
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_class c ON c.oid = h.relation JOIN pg_namespace cn ON cn.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = h.relation AND a.attnum = h.number
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
    AND d.classid = 'pg_class'::regclass AND d.deptype = $3
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_namespace sn ON sn.oid = s.relnamespace
ORDER BY h.relation, s.oid)";

// $1 and $2: the converted columns.
constexpr char kNarrowSequences[] = R"(
SELECT format('ALTER SEQUENCE %s AS bigint;', s.seqrelid::regclass)
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = h.relation AND d.refobjsubid = h.number
    AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
JOIN pg_sequence s ON s.seqrelid = d.objid AND s.seqtypid <> 'bigint'::regtype
ORDER BY h.relation, s.seqrelid)";

// $1 and $2: the converted columns. The partitions' copies of a foreign key come last.
constexpr char kElsewhere[] = R"(
SELECT f.conname, pg_describe_object('pg_class'::regclass, f.confrelid, k.referred)
FROM unnest($1, $2) AS h(relation, number)
JOIN pg_constraint f ON f.contype = 'f' AND f.conrelid = h.relation,
unnest(f.conkey, f.confkey) AS k(referring, referred)
WHERE k.referring = h.number AND NOT EXISTS (
    SELECT FROM unnest($1, $2) AS o(relation, number) WHERE o.relation = f.confrelid AND o.number = k.referred)
ORDER BY f.conparentid <> 0, f.conname LIMIT 1)";

// `field`: of kSequences.
List *SequencesOf(const IdColumns &columns, char dependency, int field) {
  Query(kSequences, columns.own.tables, columns.own.numbers, Of(CHAROID, CharGetDatum(dependency)));
  return Texts(field);
}

// Whether a default, as it is stored, is a call of the function that the conversion sets.
bool IsOurs(const Conversion &conversion, const char *expression) {
  if (expression == nullptr) return false;
  const Node *node = strip_implicit_coercions(static_cast<Node *>(stringToNode(expression)));
  if (!IsA(node, FuncExpr)) return false;
  const FuncExpr *call = castNode(FuncExpr, const_cast<Node *>(node));
  if (call->funcid != conversion.nextval_oid) return false;
  if (conversion.segment == nullptr) return true;
  const Node *argument = static_cast<Node *>(linitial(call->args));
  if (!IsA(argument, Const)) return false;
  const Const *name = castNode(Const, const_cast<Node *>(argument));
  return !name->constisnull && strcmp(TextDatumGetCString(name->constvalue), conversion.segment) == 0;
}

// The one number that a query of the tables returns; false if it returns none.
bool Number(const Conversion &conversion, const char *query, int64_t *number) {
  AsTableOwner(conversion, [&] { Query(query); });
  if (Rows() == 0 || Text(0, 1) == nullptr) return false;
  *number = DatumGetInt64(Field(0, 1));
  return true;
}

template <typename Select>
ColumnSet SetOf(const IdColumns &columns, Select select) {
  Datum *tables = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  Datum *numbers = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.count + 1)));
  int count = 0;
  for (int64_t i = 0; i < columns.count; ++i) {
    const IdColumn &column = columns.all[i];
    if (!select(column)) continue;
    tables[count] = ObjectIdGetDatum(column.table);
    numbers[count++] = Int16GetDatum(column.number);
  }
  ArrayType *all_tables = construct_array(tables, count, OIDOID, sizeof(Oid), true, TYPALIGN_INT);
  ArrayType *all_numbers = construct_array(numbers, count, INT2OID, sizeof(int16), true, TYPALIGN_SHORT);
  return {Of(OIDARRAYOID, PointerGetDatum(all_tables)), Of(INT2ARRAYOID, PointerGetDatum(all_numbers))};
}

// Refuses what is no table, or not the caller's. Returns the owner of the one that was named.
Oid CheckTables(const Conversion &conversion, const IdColumns &columns) {
  const auto changes = [](const IdColumn &column) { return column.own || column.narrow; };
  Query(kTables, OidValue(conversion.table), SetOf(columns, changes).tables);
  if (Rows() == 0 || OidField(0, 1) != conversion.table) ReportNoRelation(conversion.table);
  for (int64_t row = 0; row < Rows(); ++row) {
    const bool other = !BoolField(row, 2);
    const char kind = DatumGetChar(Field(row, 3));
    const char *extension = Text(row, 5);
    const char *described = Text(row, 7);
    const auto refuse = [&](int code, const char *detail, const char *hint) {
      if (other) hint = "It inherits or refers to the converted column. Detach it or drop its foreign key first.";
      CannotConvert(code, described, detail, hint);
    };
    if (OidField(row, 1) < FirstNormalObjectId)
      refuse(ERRCODE_INSUFFICIENT_PRIVILEGE, "It belongs to PostgreSQL itself.", "Name a table of your own.");
    if (kind == RELKIND_FOREIGN_TABLE)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "Its rows are on another server.", "Convert the table there.");
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "It is not a table that holds ids of its own.",
             "Name the table that the rows are in.");
    if (DatumGetChar(Field(row, 4)) == RELPERSISTENCE_TEMP)
      refuse(ERRCODE_WRONG_OBJECT_TYPE, "A temporary table is dropped at the end of its session.",
             "Create the table with that default instead.");
    if (extension != nullptr)
      refuse(
          ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
          psprintf("It belongs to the extension \"%s\", and a dump does not contain changes to an extension's tables.",
                   extension),
          "Only the extension itself should change it.");
    if (!BoolField(row, 6))
      ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of %s", described),
                      other ? errdetail("It inherits or refers to the converted column and changes with it.") : 0,
                      errhint("Call the function as a role that owns all affected tables.")));
  }
  return OidField(0, 8);
}

// Refuses tables of others. Returns whether it locked something that was not locked when read.
bool LockFurther(const Conversion &conversion, const IdColumns &columns, List **locked) {
  Query(kLocks, OidValue(conversion.table), columns.own.tables, columns.own.numbers, columns.narrow.tables,
        columns.narrow.numbers, OidValue(conversion.owner));
  for (int64_t row = 0; row < Rows(); ++row)
    if (BoolField(row, 5))
      ereport(ERROR,
              (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("cannot convert a table together with %s", Text(row, 2)),
               errdetail("It belongs to %s, and the converted table to %s. Code attached to one of them would run with "
                         "the rights of the other's owner.",
                         Text(row, 3), Text(row, 4)),
               errhint("Detach it or drop its foreign key first, or give both tables the same owner with ALTER TABLE "
                       "... OWNER TO.")));
  const int before = list_length(*locked);
  for (int64_t row = 0; row < Rows(); ++row) {
    LockRelationOid(OidField(row, 1), conversion.dry_run ? AccessShareLock : AccessExclusiveLock);
    *locked = list_append_unique_oid(*locked, OidField(row, 1));
  }
  return list_length(*locked) > before;
}

char *OneText(const char *query, const ColumnSet &set) {
  Query(query, set.tables, set.numbers);
  return Text(0, 1);
}

}  // namespace

void CannotConvert(int code, const char *described, const char *detail, const char *hint) {
  ereport(ERROR, (errcode(code), errmsg("cannot convert %s", described), errdetail("%s", detail), errhint("%s", hint)));
}

Function FindFunction(const Conversion &conversion, const char *name, int16_t arguments) {
  Query(kFunction, OidValue(ExtensionOfFunction(conversion.fn_oid)),
        Of(NAMEOID, DirectFunctionCall1(namein, CStringGetDatum(name))), Of(INT2OID, Int16GetDatum(arguments)));
  if (Rows() != 1) ReportNoExtension(conversion.fn_oid);
  return {OidField(0, 1), Text(0, 2)};
}

void FindNextval(Conversion *conversion) {
  const bool ids = conversion->segment == nullptr;
  const Function nextval =
      FindFunction(*conversion, ids ? "snowflake_nextval" : "snowflake_segment_nextval", ids ? 0 : 1);
  conversion->nextval_oid = nextval.oid;
  conversion->nextval = psprintf("%s(%s)", nextval.name_sql, ids ? "" : quote_literal_cstr(conversion->segment));
}

IdColumns FindColumns(const Conversion &conversion) {
  Query(kColumns, OidValue(conversion.table), Of(NAMEOID, CStringGetDatum(conversion.column)),
        Bool(conversion.segment != nullptr));
  IdColumns columns = {};
  columns.count = Rows();
  columns.all = static_cast<IdColumn *>(palloc(sizeof(IdColumn) * (columns.count + 1)));
  for (int64_t row = 0; row < columns.count; ++row) {
    const auto text = [&](int field) { return Text(row, field); };
    const auto flag = [&](int field) { return BoolField(row, field); };
    const Oid type = OidField(row, 8);
    const bool narrow = conversion.segment == nullptr && IsInteger(type) && type != INT8OID;
    const int16 number = DatumGetInt16(Field(row, 2));
    const int64_t roots = DatumGetInt64(Field(row, 7));
    const bool issues = IsOurs(conversion, text(14));
    columns.all[row] = {OidField(row, 1), number,  text(3),  text(4),  text(5),  text(6),  roots,  type,
                        narrow,           text(9), flag(10), flag(11), flag(12), flag(13), issues, text(15)};
  }
  columns.own = SetOf(columns, [](const IdColumn &column) { return column.own; });
  columns.narrow = SetOf(columns, [](const IdColumn &column) { return column.narrow; });
  const bool all = OnlyWidens(conversion);
  columns.keep = SetOf(columns, [all](const IdColumn &column) { return column.narrow && (all || !column.own); });
  for (int64_t i = 0; i < columns.count; ++i) columns.narrow_count += columns.all[i].narrow;
  return columns;
}

IdColumns LockColumns(Conversion *conversion) {
  List *locked = NIL;
  IdColumns columns;
  do {
    columns = FindColumns(*conversion);
    conversion->owner = CheckTables(*conversion, columns);
  } while (LockFurther(*conversion, columns, &locked));
  return columns;
}

char *ObjectsOnNarrow(const IdColumns &columns) { return OneText(kObjects, columns.narrow); }

char *OtherUsersOfSequences(const IdColumns &columns) { return OneText(kOtherUsers, columns.own); }

bool TakesIdsFromElsewhere(const IdColumns &columns, char **foreign_key, char **from) {
  Query(kElsewhere, columns.own.tables, columns.own.numbers);
  if (Rows() == 0) return false;
  *foreign_key = Text(0, 1);
  *from = Text(0, 2);
  return true;
}

NotNulls FindNotNulls(const IdColumns &columns) {
  Query(kNotNulls, columns.narrow.tables, columns.narrow.numbers);
  NotNulls found = {};
  for (int64_t row = 0; row < Rows(); ++row) {
    const char *constraint = Text(row, 1);
    found.apart = lappend(found.apart, psprintf("%sNO INHERIT;", constraint));
    found.together = lcons(psprintf("%sINHERIT;", constraint), found.together);
    if (found.of_partition == nullptr) found.of_partition = Text(row, 2);
  }
  return found;
}

List *IdentityStatements(const IdColumns &columns) { return SequencesOf(columns, 'i', 1); }
List *SequenceStatements(const IdColumns &columns) { return SequencesOf(columns, 'a', 1); }

List *SequenceTypeStatements(const IdColumns &columns) {
  Query(kNarrowSequences, columns.own.tables, columns.own.numbers);
  return Texts(1);
}

bool LargestId(const Conversion &conversion, const IdColumn &column, int64_t *id) {
  return Number(conversion, psprintf("SELECT max(%s)::pg_catalog.int8 FROM %s", column.name_sql, column.table_sql), id);
}

bool SmallestPositive(const Conversion &conversion, const IdColumn &column, int64_t *id) {
  return Number(conversion,
                psprintf("SELECT min(%s)::pg_catalog.int8 FROM %s WHERE %s > 0", column.name_sql, column.table_sql,
                         column.name_sql),
                id);
}

int64_t LastOfSequences(const Conversion &conversion, const IdColumns &columns) {
  int64_t last = 0, number = 0;
  List *sequences = list_concat(SequencesOf(columns, 'i', 2), SequencesOf(columns, 'a', 2));
  ListCell *cell = nullptr;
  foreach (cell, sequences) {
    const char *query = psprintf("SELECT last_value FROM %s WHERE is_called", static_cast<char *>(lfirst(cell)));
    if (Number(conversion, query, &number)) last = Max(last, number);
  }
  return last;
}

}  // namespace snowflake

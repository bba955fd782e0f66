// Finds and shows the warnings: what may stop working after a conversion although nothing depends
// on the columns. All of it is in the catalogs, but for pg_partman's table. No code of others than
// the caller and superusers is executed.
#include "convert/warnings.h"

#include "convert/bounds.h"
#include "convert/queries.h"
#include "pg/report.h"
#include "pg/rows.h"

namespace snowflake {
namespace {
// The most notices that leave the statements in sight.
constexpr int kShown = 20;

struct Warning {
  const char *kind, *object, *message, *detail, *hint;

  static Warning Read(const Row &row) { return row.As<Warning>("kind", "object", "message", "detail", "hint"); }
};

// Without an object it was dropped meanwhile.
List *Add(List *warnings, const Warning &warning) {
  return warning.object != nullptr ? lappend(warnings, CopyOf(warning)) : warnings;
}

template <typename Parts, typename... More>
List *Found(List *warnings, const Parts &query, const ColumnSet &set, More... more) {
  for (const Warning &warning : Read<Warning>(query, set, more...)) warnings = Add(warnings, warning);
  return warnings;
}

List *Bounds(List *warnings, const ColumnSet &columns) {
  for (const Bound &bound : Each<Bound>(FindBounds(columns, LeastNewId())))
    warnings =
        Add(warnings, {"bound", bound.object, psprintf("%s takes no new ids", bound.object), bound.detail, bound.hint});
  return warnings;
}

// Partitions that pg_partman makes. Its table is in the schema of that extension.
List *Managed(List *warnings, const ColumnSet &columns) {
  const List *tables = Texts(kPartman, Of(NAMEOID, DirectFunctionCall1(namein, CStringGetDatum("pg_partman"))));
  if (tables == NIL) return warnings;
  return Found(warnings,
               psprintf("SELECT 'bound' AS kind, o.described AS object, "
                        "o.described || ' is divided by pg_partman in ranges of integers' AS message, "
                        "format('The setting partition_interval is %%s.', m.partition_interval) AS detail, "
                        "'Set partition_interval to ids of some time, such as a day, and make the partitions for new "
                        "ids.' AS hint FROM unnest($1, $2) AS u(relation, number) "
                        "JOIN pg_class c ON c.oid = u.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
                        "JOIN pg_attribute a ON a.attrelid = u.relation AND a.attnum = u.number "
                        "JOIN %s m ON m.parent_table = n.nspname || '.' || c.relname AND m.control = a.attname, "
                        "pg_describe_object('pg_class'::regclass, c.oid, 0) AS o(described)",
                        static_cast<const char *>(linitial(tables))),
               columns);
}

// What is certain to fail comes first, then what concerns a schema as a whole: no call for one key
// returns it. `unlikely`: also what is false more often than not.
List *FindWarnings(const Conversion &conversion, const IdColumns &columns, bool online, bool unlikely) {
  const bool widens = OnlyWidens(conversion), whole = conversion.column == nullptr;
  if (widens && columns.narrow_count == 0) return NIL;
  List *warnings = NIL;
  if (!widens) warnings = Managed(Bounds(warnings, columns.every), columns.every);
  const auto add_of_columns = [&] {
    if (!widens) warnings = Found(warnings, kWarningsIdentities, columns.own, Bool(whole));
    warnings = Found(warnings, kWarningsColumns, columns.every, Bool(whole), Bool(unlikely));
  };
  if (whole) add_of_columns();
  warnings = Found(warnings, kWarningsPublications, columns.narrow);
  if (online) warnings = Found(Found(warnings, kWarningsPlans, columns.narrow), kWarningsOrder, columns.narrow);
  warnings = Found(warnings, kWarningsFunctions, columns.every);
  if (!whole) add_of_columns();
  return warnings;
}

// What is narrower than a converted key, such as what a schema tool has narrowed back. A conversion
// widens it, so it is none of its warnings.
List *NarrowNow(const Conversion &conversion, const IdColumns &columns) {
  List *warnings = NIL;
  const IdColumn &key = columns.all[0];
  const bool converted = key.issues || (OnlyWidens(conversion) && !key.narrow);
  for (const IdColumn &column : columns)
    if (column.narrow && (column.own ? column.issues : converted))
      warnings =
          Add(warnings, {"narrow", column.described, psprintf("%s is too narrow for new ids", column.described),
                         psprintf("It is of type %s.", column.type_name),
                         "Widen it by snowflake_convert(), and declare it as bigint where a tool changes it back."});
  return warnings;
}

// The query that returns the warnings of all converted columns.
const char *QueryOfAll(const Conversion &conversion, const IdColumns &columns, bool online) {
  StringInfoData keys;
  initStringInfo(&keys);
  for (const IdColumn &column : columns)
    if (column.own && column.root)
      appendStringInfo(&keys, "%s(%s::pg_catalog.regclass, %s::pg_catalog.name)", keys.len > 0 ? ", " : "",
                       quote_literal_cstr(column.table_sql),
                       quote_literal_cstr(get_attname(column.table, column.number, false)));
  return psprintf(
      "SELECT kind, object, message, detail, hint FROM (VALUES %s) AS k(t, c), %s(k.t, k.c, %s, "
      "%s::pg_catalog.text) WITH ORDINALITY AS w(kind, object, message, detail, hint, n) "
      "GROUP BY 1, 2, 3, 4, 5 ORDER BY kind OPERATOR(pg_catalog.<>) 'bound', pg_catalog.min(n);",
      keys.data, FindFunction(conversion.extension, "snowflake_convert_warnings", 4).name_sql,
      online ? "true" : "false", quote_literal_cstr(conversion.target));
}

}  // namespace

void NoticeWarnings(const Conversion &conversion, const IdColumns &columns, bool online) {
  List *warnings = FindWarnings(conversion, columns, online, false);
  if (conversion.keep_sequence) warnings = list_concat(Found(NIL, kWarningsSequences, columns.own), warnings);
  const int count = list_length(warnings);
  for (int i = 0; i < Min(count, kShown); ++i) {
    const Warning &warning = *static_cast<Warning *>(list_nth(warnings, i));
    ereport(NOTICE, (errmsg_internal("%s", warning.message), errdetail_internal("%s", warning.detail),
                     errhint("%s", warning.hint)));
  }
  if (count > kShown)
    ereport(NOTICE, (errmsg("%d more warnings are not shown", count - kShown),
                     errhint("To see all, run %s", QueryOfAll(conversion, columns, online))));
}

void ReturnWarnings(FunctionCallInfo fcinfo, const Conversion &conversion, const IdColumns &columns, bool online) {
  List *now = NarrowNow(conversion, columns);
  if (columns.all[0].issues) now = Found(now, kWarningsSequences, columns.own);
  for (const Warning &warning : Each<Warning>(list_concat(now, FindWarnings(conversion, columns, online, true)))) {
    Datum values[] = {CStringGetTextDatum(warning.kind), CStringGetTextDatum(warning.object),
                      CStringGetTextDatum(warning.message), CStringGetTextDatum(warning.detail),
                      CStringGetTextDatum(warning.hint)};
    bool nulls[lengthof(values)] = {};
    AddRow(fcinfo, values, nulls);
  }
}

}  // namespace snowflake

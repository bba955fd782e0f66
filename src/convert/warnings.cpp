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

  static Warning Read(const Row &row) {
    return {row.Text("kind"), row.Text("object"), row.Text("message"), row.Text("detail"), row.Text("hint")};
  }
};

List *Add(List *warnings, const Warning &warning) {
  Warning *copy = static_cast<Warning *>(palloc(sizeof(Warning)));
  *copy = warning;
  return lappend(warnings, copy);
}

template <typename Parts, typename... More>
List *Found(List *warnings, const Parts &query, const ColumnSet &set, More... more) {
  for (const Warning &warning : Read<Warning>(query, set.tables, set.numbers, more...))
    warnings = Add(warnings, warning);
  return warnings;
}

List *Bounds(List *warnings, const ColumnSet &columns) {
  ListCell *cell = nullptr;
  foreach (cell, FindBounds(columns, LeastNewId())) {
    const Bound &bound = *static_cast<const Bound *>(lfirst(cell));
    warnings =
        Add(warnings, {"bound", bound.object, psprintf("%s takes no new ids", bound.object), bound.detail, bound.hint});
  }
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

List *FindWarnings(const Conversion &conversion, const IdColumns &columns, bool online) {
  const bool widens = OnlyWidens(conversion);
  if (widens && columns.narrow_count == 0) return NIL;
  List *warnings = NIL;
  if (online) warnings = Found(Found(warnings, kWarningsOrder, columns.narrow), kWarningsPlans, columns.narrow);
  warnings = Found(warnings, kWarningsPublications, columns.narrow);
  if (!widens) warnings = Managed(Bounds(warnings, columns.every), columns.every);
  warnings = Found(warnings, kWarningsColumns, columns.every, Bool(conversion.column == nullptr));
  warnings = Found(warnings, kWarningsFunctions, columns.every);
  return warnings;
}

}  // namespace

void NoticeWarnings(const Conversion &conversion, const IdColumns &columns, bool online) {
  List *warnings = FindWarnings(conversion, columns, online);
  const int count = list_length(warnings);
  for (int i = 0; i < Min(count, kShown); ++i) {
    const Warning &warning = *static_cast<Warning *>(list_nth(warnings, i));
    ereport(NOTICE, (errmsg_internal("%s", warning.message), errdetail_internal("%s", warning.detail),
                     errhint("%s", warning.hint)));
  }
  if (count <= kShown) return;
  if (conversion.column == nullptr)
    ereport(NOTICE, (errmsg("%d more warnings are not shown", count - kShown),
                     errhint("%s() returns those of one key.",
                             FindFunction(conversion.extension, "snowflake_convert_warnings", 4).name_sql)));
  else
    ereport(NOTICE, (errmsg("%d more warnings are not shown", count - kShown),
                     errhint("To see them, run SELECT * FROM %s(%s::pg_catalog.regclass, %s::pg_catalog.name, %s, "
                             "%s::pg_catalog.text);",
                             FindFunction(conversion.extension, "snowflake_convert_warnings", 4).name_sql,
                             quote_literal_cstr(columns.all[0].table_sql), quote_literal_cstr(conversion.column),
                             online ? "true" : "false", quote_literal_cstr(conversion.target))));
}

void ReturnWarnings(FunctionCallInfo fcinfo, const Conversion &conversion, const IdColumns &columns, bool online) {
  ListCell *cell = nullptr;
  foreach (cell, FindWarnings(conversion, columns, online)) {
    const Warning &warning = *static_cast<Warning *>(lfirst(cell));
    Datum values[] = {CStringGetTextDatum(warning.kind), CStringGetTextDatum(warning.object),
                      CStringGetTextDatum(warning.message), CStringGetTextDatum(warning.detail),
                      CStringGetTextDatum(warning.hint)};
    bool nulls[lengthof(values)] = {};
    AddRow(fcinfo, values, nulls);
  }
}

}  // namespace snowflake

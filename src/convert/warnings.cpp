// Finds and shows the warnings: what may stop working after a conversion although nothing depends
// on the columns. The queries judge by names, by statistics and by the texts of functions, so they
// err in both directions. They read only catalogs, as the caller, and execute no code that belongs
// to tables.
#include "convert/warnings.h"

#include "convert/queries.h"
#include "pg/report.h"
#include "pg/rows.h"

namespace snowflake {
namespace {
// The most notices that leave the statements in sight.
constexpr int kShown = 20;

struct Warning {
  const char *kind, *object, *message, *detail, *hint;
};

List *Found(List *warnings, const QueryParts &query, const ColumnSet &set) {
  Query(query, set.tables, set.numbers);
  for (int64_t row = 0; row < Rows(); ++row) {
    Warning *warning = static_cast<Warning *>(palloc(sizeof(Warning)));
    *warning = {Text(row, 1), Text(row, 2), Text(row, 3), Text(row, 4), Text(row, 5)};
    warnings = lappend(warnings, warning);
  }
  return warnings;
}

List *FindWarnings(const Conversion &conversion, const IdColumns &columns, bool online) {
  const bool widens = OnlyWidens(conversion);
  if (widens && columns.narrow_count == 0) return NIL;
  List *warnings = NIL;
  if (online) warnings = Found(warnings, kWarningsOrder, columns.narrow);
  warnings = Found(warnings, kWarningsPublications, columns.narrow);
  if (!widens) warnings = Found(warnings, kWarningsSequences, columns.own);
  warnings = Found(warnings, kWarningsColumns, columns.every);
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

// Keeps the plans of queries: to plan them takes longer than to run them, and the switch of an
// online conversion runs many of them while it holds its locks.
#include "convert/query.h"

#include "pg/security_context.h"

namespace snowflake {
namespace {
struct KeptPlan {
  const QueryParts *query;
  SPIPlanPtr plan;
};
List *kept_plans = NIL;

SPIPlanPtr PlanOf(const QueryParts &query, Parameters *parameters) {
  for (const KeptPlan &kept : Each<KeptPlan>(kept_plans))
    if (kept.query == &query) return kept.plan;
  StringInfoData text;
  initStringInfo(&text);
  for (const char *part : query.texts)
    if (part != nullptr) appendStringInfoString(&text, part);
  SPIPlanPtr plan = SPI_prepare_cursor(text.data, parameters->count, parameters->types, CURSOR_OPT_GENERIC_PLAN);
  if (plan == nullptr) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(SPI_result), text.data);
  if (SPI_keepplan(plan) != 0) elog(ERROR, "SPI_keepplan failed");
  MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);
  kept_plans = lappend(kept_plans, CopyOf(KeptPlan{&query, plan}));
  MemoryContextSwitchTo(outer);
  return plan;
}

}  // namespace

int Field::Number() const {
  const int number = SPI_fnumber(SPI_tuptable->tupdesc, column_);
  if (number == SPI_ERROR_NOATTRIBUTE) elog(ERROR, "a query has no column %s", column_);
  return number;
}

Datum Field::NotNull() const {
  bool is_null = false;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[row_], SPI_tuptable->tupdesc, Number(), &is_null);
  if (is_null) elog(ERROR, "column %s of a query is null", column_);
  return value;
}

void PinSettings() {
  constexpr const char *kPinned[][2] = {{"search_path", "pg_catalog, pg_temp"},
                                        {"standard_conforming_strings", "on"},
                                        {"transform_null_equals", "off"},
                                        {"array_nulls", "on"},
                                        {"xmloption", "content"},
                                        {"quote_all_identifiers", "off"},
                                        {"DateStyle", "ISO"},
                                        {"IntervalStyle", "postgres"},
                                        {"extra_float_digits", "1"},
                                        {"bytea_output", "hex"}};
  for (const auto &[name, value] : kPinned) SetForLevel(name, value);
}

void RunQuery(const char *query, Parameters parameters) {
  const int rc = SPI_execute_with_args(query, parameters.count, parameters.types, parameters.datums, nullptr, false, 0);
  if (rc != SPI_OK_SELECT) elog(ERROR, "SPI failed: %s: %s", SPI_result_code_string(rc), query);
}

void RunQuery(const QueryParts &query, Parameters parameters) {
  // The planner overestimates the queries. To compile them would take longer than to run them.
  const int guc_level = NewGUCNestLevel();
  PinSettings();
  SetForLevel("jit", "off");
  const int rc = SPI_execute_plan(PlanOf(query, &parameters), parameters.datums, nullptr, false, 0);
  if (rc != SPI_OK_SELECT) elog(ERROR, "SPI failed: %s", SPI_result_code_string(rc));
  AtEOXact_GUC(false, guc_level);
}

}  // namespace snowflake

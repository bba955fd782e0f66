// Reads snowflake_layout by its access method, and keeps the layout until the relation changes.
#include "pg/database_layout.h"

#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// Behind the column that keeps the table to one row.
constexpr int kDefinition = 2;

struct {
  bool valid;
  bool watching;
  Oid relation;
  Layout layout;
  void (*on_change)();
} cache;

void Forget(Datum, Oid relation) {
  if (OidIsValid(relation) && relation != cache.relation) return;
  cache.valid = false;
  if (cache.on_change) cache.on_change();
}

void RegisterCallback() {
  if (cache.watching) return;
  CacheRegisterRelcacheCallback(Forget, Datum{0});
  cache.watching = true;
}

bool HasShape(Relation table) {
  if (table->rd_rel->relkind != RELKIND_RELATION || RelationGetNumberOfAttributes(table) < kDefinition) return false;
  const Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), kDefinition - 1);
  return !attribute->attisdropped && attribute->atttypid == TEXTOID &&
         strcmp(NameStr(attribute->attname), "definition") == 0;
}

// Copied. nullptr: it is longer than any canonical text, or not stored as it is.
const char *TextOfRow(HeapTuple tuple, TupleDesc descriptor) {
  bool is_null = false;
  const Datum value = heap_getattr(tuple, kDefinition, descriptor, &is_null);
  if (is_null) return nullptr;
  const varlena *stored = reinterpret_cast<varlena *>(DatumGetPointer(value));
  if (VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored) || VARSIZE_ANY_EXHDR(stored) >= kMaxDefinition)
    return nullptr;
  return pnstrdup(VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored));
}

// nullptr: the table is not as the extension made it, or was dropped during the wait for its lock.
const char *ReadTable(Oid relation) {
  Relation table = try_table_open(relation, AccessShareLock);
  if (table == nullptr) return nullptr;
  const char *text = nullptr;
  if (HasShape(table)) {
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
    HeapTuple tuple = systable_getnext(scan);
    text = HeapTupleIsValid(tuple) ? TextOfRow(tuple, RelationGetDescr(table)) : TextOfLayout(kDefaultLayout);
    systable_endscan(scan);
  }
  table_close(table, AccessShareLock);
  return text;
}

// The extension was dropped meanwhile, or its table was changed.
[[noreturn]] void ReportNoLayout(Oid fn_oid) {
  ExtensionOfFunction(fn_oid);
  ReportForeignTable("snowflake_layout");
}

Oid LayoutTable(Oid fn_oid) {
  const Oid relation = get_relname_relid("snowflake_layout", get_func_namespace(fn_oid));
  if (!OidIsValid(relation)) ReportNoLayout(fn_oid);
  return relation;
}

const char *WhatIsWrong(const DefinitionReading &reading) {
  const char *word = pnstrdup(reading.word.data(), reading.word.size());
  switch (reading.fault) {
    case DefinitionFault::kNone: break;
    case DefinitionFault::kUnknown:
      return psprintf(
          "The word \"%s\" begins with none of epoch=, tick=, time=, sec=, ms=, datacenter=, worker=, seq= "
          "and skip=.",
          word);
    case DefinitionFault::kNumber:
      return psprintf(
          "The word \"%s\" has no number within its limits: an epoch has 0 to %lld milliseconds, or is a day such as "
          "2025-01-01, a tick 1us to 86400s, a field 1 to 63 bits.",
          word, Long(kMaxEpochMs));
    case DefinitionFault::kTwice: return psprintf("The word \"%s\" says something for the second time.", word);
    case DefinitionFault::kMissing: return psprintf("The word \"%s=\" is missing.", word);
    case DefinitionFault::kSplit:
      return "Of a time that is split, sec= and ms= come both, without time= and tick=, and ms= has at least 10 bits.";
    case DefinitionFault::kTooMany: return psprintf("The word \"%s\" begins more than %d fields.", word, kMaxFields);
    case DefinitionFault::kTooWide:
      return psprintf("The fields sum to %d bits, but an id has 64.", reading.definition.total_bits());
    case DefinitionFault::kLayout:
      return reading.definition.layout.Fault(false) == LayoutFault::kEndsTooLate
                 ? "Its last tick is beyond what a timestamp can hold."
                 : "A datacenter takes up to 10 bits, datacenter and worker together up to 31, a sequence up to 31.";
  }
  return "";
}

}  // namespace

Layout ReadLayout(Oid relation) {
  const char *text = ReadTable(relation);
  if (text == nullptr) ReportForeignTable("snowflake_layout");
  return LayoutOfText(text);
}

bool ReadLayoutQuietly(Oid relation, Layout *layout) {
  const char *text = ReadTable(relation);
  if (text == nullptr) return false;
  const DefinitionReading reading = ReadDefinition(text);
  *layout = reading.definition.layout;
  return reading.fault == DefinitionFault::kNone && reading.definition.IsPlain();
}

const Layout &DatabaseLayout(Oid fn_oid) {
  RegisterCallback();
  if (!cache.valid) {
    const Oid relation = LayoutTable(fn_oid);
    const char *text = ReadTable(relation);
    if (text == nullptr) ReportNoLayout(fn_oid);
    cache.layout = LayoutOfText(text);
    cache.relation = relation;
    cache.valid = true;
  }
  return cache.layout;
}

void WatchLayout(Oid fn_oid) {
  RegisterCallback();
  cache.relation = LayoutTable(fn_oid);
}

void OnLayoutChange(void (*on_change)()) { cache.on_change = on_change; }

void CheckLayoutRow(HeapTuple tuple, TupleDesc descriptor) {
  const char *text = TextOfRow(tuple, descriptor);
  if (text == nullptr)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
             errdetail("A definition is not null, has at most %d bytes and is not compressed.", kMaxDefinition - 1),
             errhint("Use snowflake_set_layout(layout).")));
  const char *canonical = TextOfLayout(LayoutOfText(text));
  if (strcmp(text, canonical) != 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                    errdetail("The table stores \"%s\" as \"%s\".", text, canonical),
                    errhint("Use snowflake_set_layout(layout).")));
}

bool IsRowToIssueBy(HeapTuple tuple, TupleDesc descriptor) {
  const char *text = TextOfRow(tuple, descriptor);
  if (text == nullptr) return false;
  const DefinitionReading reading = ReadDefinition(text);
  return IsCanonical(text, reading) && reading.definition.layout.Fault(true) == LayoutFault::kNone;
}

char *TextOfLayout(const Layout &layout) {
  char *text = static_cast<char *>(palloc(kMaxDefinition));
  WriteDefinition(layout, text);
  return text;
}

const LayoutDefinition *DefinitionOf(std::string_view text) {
  DefinitionReading *reading = static_cast<DefinitionReading *>(palloc(sizeof(DefinitionReading)));
  *reading = ReadDefinition(text);
  if (unlikely(reading->fault != DefinitionFault::kNone))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("invalid definition of a layout: \"%s\"", pnstrdup(text.data(), text.size())),
             errdetail("%s", WhatIsWrong(*reading)),
             errhint("Name the fields from the highest bits down, as in \"%s\".", TextOfLayout(kDefaultLayout))));
  return &reading->definition;
}

Layout LayoutOfText(const char *text) {
  const LayoutDefinition *definition = DefinitionOf(text);
  if (!definition->IsPlain())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                    errdetail("Ids with the fields of \"%s\" can be read but not issued.", text),
                    errhint("A database has the fields time, datacenter, worker, seq or time, seq, datacenter, worker, "
                            "in this order.")));
  return definition->layout;
}

void CheckIssuable(const Layout &layout) {
  if (layout.Fault(true) == LayoutFault::kNone) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("Without worker bits or sequence bits, ids can be read but not issued. It is \"%s\".",
                            TextOfLayout(layout)),
                  errhint("Set another with snowflake_set_layout(); the view snowflake_layouts has examples.")));
}

void ReportLayoutInUse() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout can no longer be changed"),
                  errdetail("A worker id was leased under it, so ids may have been issued."),
                  errhint("Drop the extension and create it again to begin with another layout.")));
}

}  // namespace snowflake

// Named layouts, and a database's first layout. COMMENT ON has arguments, results and errors.
#include "pg/sql/layouts.h"

#include "core/named_layouts.h"
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/state/state_block.h"
#include "pg/registry/protocol.h"
#include "pg/report.h"
#include "pg/rows.h"

namespace snowflake {
namespace {
const Layout &NamedLayoutOf(const text *name) {
  const NamedLayout *named = FindNamedLayout(View(name));
  if (unlikely(named == nullptr)) {
    StringInfoData names;
    initStringInfo(&names);
    for (const NamedLayout &known : kNamedLayouts)
      appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", known.name.data());
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown layout \"%s\"", text_to_cstring(name)),
                    errdetail("It is not one of the %d named layouts.", static_cast<int>(lengthof(kNamedLayouts))),
                    errhint("The names are: %s.", names.data)));
  }
  return named->layout;
}

void SetLayout(FunctionCallInfo fcinfo, const Layout &layout) {
  CheckIssuable(layout);
  const int64_t now_us = NowUnixUs();
  if (layout.epoch_us() > now_us)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
             errdetail("Its epoch %s is in the future; the clock shows %s.", Time(layout.epoch_us()), Time(now_us)),
             errhint("Ids count from the epoch. Choose one in the past.")));
  if (!layout.MayBegin(now_us)) {
    const int64_t left_us = layout.UsLeft(now_us) > 0 ? layout.UsLeft(now_us) : 0;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                    errdetail("Its time is used up at %s: %.1f years are left, but at least %d are required.",
                              Time(layout.UnixUsAt(layout.max_tick() + 1)),
                              static_cast<double>(left_us / (kUsPerYear / 10)) / 10,  // 9.99 are not 10.0
                              static_cast<int>(kMinYearsLeft)),
                    errhint("Choose a later epoch, more timestamp bits or a longer tick.")));
  }
  ProtocolSetLayout(ExtensionOfFunction(fcinfo->flinfo->fn_oid), layout);
}

// Whether the last lease of this database's node, of this extension, has another layout.
bool HoldsOtherLayout(Oid extension, const Layout &layout) {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) return false;
  bool other = false;
  WithLock(node, LW_SHARED, [&] {
    const Generator &g = node->state.generator;
    other = node->extension == extension && g.lease.lease_id != 0 && g.layout != layout;
  });
  return other;
}

[[noreturn]] void ReportForeignId(int64_t id, const ChosenLayout &chosen) {
  const int32_t bits = chosen.definition != nullptr ? chosen.definition->total_bits() : chosen.layout->total_bits();
  const bool fits = bits >= 64 || static_cast<uint64_t>(id) >> bits == 0;
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                  fits ? errdetail("%s has up to 999 milliseconds of a second; this id has more.", NameOfLayout(chosen))
                       : errdetail("%s has ids of %d bits, not negative.", NameOfLayout(chosen), bits),
                  errhint("Check where the id comes from; an id of another system needs that system's layout.")));
}

// Without a name it is this database's.
void AddLayout(FunctionCallInfo fcinfo, const char *name, const Layout &layout) {
  const int64_t now_us = UnixUsFromTimestamp(GetCurrentTransactionStartTimestamp());
  Datum values[] = {name != nullptr ? CStringGetTextDatum(name) : Datum{0},
                    TimeDatum(layout.epoch_us()),
                    IntervalDatum(layout.tick_us),
                    Int32GetDatum(layout.timestamp_bits),
                    Int32GetDatum(layout.datacenter_bits),
                    Int32GetDatum(layout.worker_bits),
                    Int32GetDatum(layout.sequence_bits),
                    BoolGetDatum(layout.sequence_first),
                    Int32GetDatum(layout.total_bits()),
                    BoolGetDatum(layout.MayBegin(now_us)),
                    TimeDatum(layout.UnixUsAt(layout.max_tick() + 1)),
                    TimeDatum(layout.UnixUsAt(layout.max_readable_tick() + 1)),
                    CStringGetTextDatum(TextOfLayout(layout))};
  bool nulls[lengthof(values)] = {name == nullptr};
  nulls[lengthof(values) - 2] = layout.max_readable_tick() == layout.max_tick();
  AddRow(fcinfo, values, nulls);
}

}  // namespace

ChosenLayout LayoutArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_NARGS() <= argument) return {&DatabaseLayout(fcinfo->flinfo->fn_oid), nullptr, nullptr};
  const text *name = PG_GETARG_TEXT_PP(argument);
  if (!IsDefinition(View(name))) return {&NamedLayoutOf(name), nullptr, name};
  const LayoutDefinition *definition = DefinitionOf(View(name));
  return {&definition->layout, definition->IsPlain() ? nullptr : definition, name};
}

Parts PartsOf(const ChosenLayout &chosen, int64_t id) {
  Parts parts = {};
  if (chosen.definition == nullptr ? chosen.layout->HasRoomFor(id) : chosen.definition->Unpack(id, &parts))
    return chosen.definition == nullptr ? chosen.layout->Unpack(id) : parts;
  ReportForeignId(id, chosen);
}

const char *NameOfLayout(const ChosenLayout &chosen) {
  return chosen.name != nullptr ? psprintf("Layout \"%s\"", text_to_cstring(chosen.name)) : "This database's layout";
}

void ReportForeignId(int64_t id, const Layout &layout) { ReportForeignId(id, {&layout, nullptr, nullptr}); }

SNOWFLAKE_FUNCTION(snowflake_get_layouts) {
  InitMaterializedSRF(fcinfo, 0);
  for (const NamedLayout &named : kNamedLayouts) AddLayout(fcinfo, named.name.data(), named.layout);
  AddLayout(fcinfo, nullptr, DatabaseLayout(fcinfo->flinfo->fn_oid));
  return Datum{0};
}

SNOWFLAKE_FUNCTION(snowflake_get_layout) {
  PG_RETURN_DATUM(CStringGetTextDatum(TextOfLayout(DatabaseLayout(fcinfo->flinfo->fn_oid))));
}

SNOWFLAKE_FUNCTION(snowflake_set_layout) {
  CheckNotNull(fcinfo, "snowflake_set_layout", {"layout"});
  const text *layout = PG_GETARG_TEXT_PP(0);
  SetLayout(fcinfo, IsDefinition(View(layout)) ? LayoutOfText(text_to_cstring(layout)) : NamedLayoutOf(layout));
  PG_RETURN_VOID();
}

SNOWFLAKE_FUNCTION(snowflake_least_new_id) {
  const Layout &layout = DatabaseLayout(fcinfo->flinfo->fn_oid);
  CheckIssuable(layout);
  const int64_t now_us = NowUnixUs();
  const Tick now = layout.TickAt(now_us);
  if (now > layout.max_tick()) ReportTimeUsedUp(layout, now_us);
  PG_RETURN_INT64(layout.Pack({now < 0 ? 0 : now, 0, 0}));
}

// The statement trigger of snowflake_layout: plain DML does not invalidate other sessions' caches.
// The install script fires it to have the origin written, before there can be a lease.
SNOWFLAKE_FUNCTION(snowflake_layout_changed) {
  if (!CALLED_AS_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_layout_changed");
  const TriggerData *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
  // The guard lets replication write nothing but a first layout.
  const bool replicated =
      SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA && !TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event);
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  if (RunsScriptOf(extension)) {
    ProtocolMakeOrigin(extension);
  } else if (!replicated) {
    CheckLayoutMayChange(extension);
    // If the registry is elsewhere, its tables are empty here; the lease's layout may be stored.
    const Layout layout = ReadLayout(RelationGetRelid(trigger->tg_relation));
    if (HoldsOtherLayout(extension, layout)) ReportLayoutInUse();
  }
  CacheInvalidateRelcacheByRelid(RelationGetRelid(trigger->tg_relation));
  return Datum{0};
}

}  // namespace snowflake

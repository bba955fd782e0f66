#include "pg/sql/report.h"

#include "core/named_layouts.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// At the beginning of a sentence. A named layout is known by its address.
const char *NameOf(const Layout &layout) {
  for (const NamedLayout &named : kNamedLayouts)
    if (&named.layout == &layout) return psprintf("Layout \"%s\"", named.name.data());
  return "This database's layout";
}

}  // namespace

void ReportLeasesHeld(int64_t leases, int64_t until_us) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("cannot drop the registry of snowflake while nodes hold leases"),
           errdetail_plural("%lld lease of another node may be in use until %s, or longer if it is extended.",
                            "%lld leases of other nodes may be in use, the last until %s, or longer if it is"
                            " extended.",
                            static_cast<unsigned long>(leases), Long(leases), Time(until_us)),
           errhint("Stop these nodes, or wait until their windows are over. snowflake_evict(worker_id, dead_since)"
                   " ends the lease of a node that is certainly dead.")));
  pg_unreachable();
}

void ReportRangesHeld(int64_t ranges, const char *shown) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("cannot drop the registry of snowflake while nodes hold ranges of segments"),
           errdetail_plural("%lld range is held: %s.", "%lld ranges are held: %s.", static_cast<unsigned long>(ranges),
                            Long(ranges), shown),
           errhint("Stop these nodes, which then give their numbers back. If a node does not exist any more, delete its"
                   " rows of snowflake_range.")));
  pg_unreachable();
}

void ReportRaiseAhead(int64_t tick_us, int64_t now_us) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("the id lies %.3f s ahead of the clock", Seconds(tick_us) - Seconds(now_us)),
           errdetail("It is of %s, the clock shows %s; snowflake.max_clock_skew is %d ms, and nobody waits for longer.",
                     Time(tick_us), Time(now_us), settings.max_clock_skew_ms),
           errhint("Set the clock right if it is wrong; otherwise begin to issue ids after that time.")));
  pg_unreachable();
}

void NoticeRaisedHere() {
  ereport(
      NOTICE,
      (errmsg("only the ids of this node are larger from now on"), errdetail("Its registry is in another database."),
       errhint("For all nodes of that registry call snowflake_raise() there. If the setting leads to this database, ask"
               " for an id before.")));
}

void ReportCheckedColumn(const char *column, Oid type, bool stored) {
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" cannot be checked", column),
                  stored ? errdetail("It is of type %s; ids are bigint.", format_type_be(type))
                         : errdetail("It is computed when it is read."),
                  errhint("Name a column that holds ids.")));
  pg_unreachable();
}

void ReportCheckedTable(const char *table) {
  ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("relation \"%s\" cannot be checked", table),
                  errdetail("Only a table's own rows are read, and those of its partitions."),
                  errhint("Name a table, or those of its partitions that are on this server.")));
  pg_unreachable();
}

void ReportUnknownLayout(const char *name) {
  StringInfoData names;
  initStringInfo(&names);
  for (const NamedLayout &named : kNamedLayouts)
    appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", named.name.data());
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown layout \"%s\"", name),
           errdetail("It is none of the %d layouts that have a name.", static_cast<int>(lengthof(kNamedLayouts))),
           errhint("The names are: %s.", names.data)));
  pg_unreachable();
}

void ReportForeignId(int64_t id, const Layout &layout) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                  errdetail("%s has ids of %d bits, not negative.", NameOf(layout), layout.total_bits()),
                  errhint("Check where the id comes from; an id of another system needs that system's layout.")));
  pg_unreachable();
}

void ReportPartsFault(TimestampTz ts, const Parts &parts, const Layout &layout, PartsFault fault) {
  switch (fault) {
    case PartsFault::kNone:
      break;
    case PartsFault::kTick:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("timestamp %s is out of range", timestamptz_to_str(ts)),
                      errdetail("%s holds times from %s to before %s.", NameOf(layout), Time(layout.epoch_us()),
                                Time(layout.UnixUsAt(layout.max_readable_tick() + 1))),
                      errhint("Use a time within these, or a layout that holds it.")));
      break;
    case PartsFault::kWorker:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("worker id %d is out of range", parts.worker),
                      errdetail("%s has %d datacenter and worker bits: 0 to %lld.", NameOf(layout), layout.node_bits(),
                                Long(layout.worker_count() - 1)),
                      errhint("Datacenter and worker together are the worker id.")));
      break;
    case PartsFault::kSequence:
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("sequence number %d is out of range", parts.sequence),
                      errdetail("%s has %d sequence bits: 0 to %lld.", NameOf(layout), layout.sequence_bits,
                                Long(layout.sequence_count() - 1)),
                      errhint("Give further ids the next tick.")));
      break;
  }
  pg_unreachable();
}

void ReportNoIdAt(TimestampTz ts, const Layout &layout) {
  const bool has_negative = layout.max_readable_tick() > layout.max_tick();
  ereport(
      ERROR,
      (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("no id stands for the timestamp %s", timestamptz_to_str(ts)),
       has_negative
           ? errdetail("%s has negative ids from %s on, which are smaller than all earlier ones.", NameOf(layout),
                       Time(layout.UnixUsAt(layout.max_tick() + 1)))
           : errdetail("%s has ids up to the timestamp %s.", NameOf(layout), Time(layout.UnixUsAt(layout.max_tick()))),
       has_negative ? errhint("Compare snowflake_timestamp(id) instead.")
                    : errhint("Leave the condition out, or use snowflake_range(), which leaves such a bound open.")));
  pg_unreachable();
}

void ReportEpoch(TimestampTz epoch) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
           errdetail("An epoch is a whole number of milliseconds, and finite: %s is not.", timestamptz_to_str(epoch)),
           errhint("The default layout's is 2025-01-01 00:00 UTC.")));
  pg_unreachable();
}

void ReportEpochAhead(const Layout &layout, int64_t now_us) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
           errdetail("Its epoch %s lies in the future; the clock shows %s.", Time(layout.epoch_us()), Time(now_us)),
           errhint("Ids count from the epoch: choose one that is past.")));
  pg_unreachable();
}

void ReportTick(const Interval *tick) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("A tick lasts 1 microsecond to 1 day, and has no months: \"%s\" is no such interval.",
                            DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(tick)))),
                  errhint("The default layout's ticks last 1 millisecond.")));
  pg_unreachable();
}

void ReportEndsTooSoon(const Layout &layout, int64_t now_us) {
  const int64_t left_us = layout.UsLeft(now_us) > 0 ? layout.UsLeft(now_us) : 0;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("Its time is used up at %s: %.1f years are left, and %d must be.",
                            Time(layout.UnixUsAt(layout.max_tick() + 1)),
                            static_cast<double>(left_us / (kUsPerYear / 10)) / 10,  // 9.99 are not 10.0
                            static_cast<int>(kMinYearsLeft)),
                  errhint("Choose a later epoch, more timestamp bits or a longer tick.")));
  pg_unreachable();
}

void ReportCount(int32_t count) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count must be positive"),
                  errdetail("%d ids were asked for.", count), errhint("Ask for at least 1.")));
  pg_unreachable();
}

void ReportNoCurrval() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("snowflake_currval is not yet defined in this session"),
                  errdetail("This session has not issued an id; those of its parallel workers do not count."),
                  errhint("Call snowflake_nextval() first.")));
  pg_unreachable();
}

void ReportNoSegmentCurrval(const char *segment) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("this session has had no number of segment \"%s\" yet", segment),
                  errhint("Call snowflake_segment_nextval() first.")));
  pg_unreachable();
}

void ReportSegmentElsewhere() {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry is in another database"),
           errdetail("This database's segments are that registry's (snowflake.registry)."),
           errhint("Call the function there. If the setting leads to this database, ask for an id or a number of a"
                   " segment first: then the node finds that out.")));
  pg_unreachable();
}

void ReportUnknownEncoding(const char *name) {
  StringInfoData names;
  initStringInfo(&names);
  for (const TextEncoding &encoding : kTextEncodings)
    appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", encoding.name);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown encoding \"%s\"", name),
                  errdetail("Names are written in lower case."), errhint("The encodings are: %s.", names.data)));
  pg_unreachable();
}

void ReportNegativeId(int64_t id) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("snowflake id %lld is out of range", Long(id)),
                  errdetail("A negative id has no place among texts of one width that are in the order of the ids."),
                  errhint("Check where the id comes from: ids that were issued here are not negative.")));
  pg_unreachable();
}

void ReportTextFault(const TextEncoding &encoding, const char *input, const TextReading &reading) {
  const char *name = encoding.name;
  switch (reading.fault) {
    case TextFault::kNone:
      break;
    case TextFault::kForeign: {
      const char *at = input + reading.at;
      const int bytes = pg_encoding_mblen(GetDatabaseEncoding(), at);
      ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
                      errdetail("Character \"%.*s\" at position %d is not a digit of %s.",
                                static_cast<int>(strnlen(at, static_cast<size_t>(bytes))), at,
                                pg_mbstrlen_with_len(input, static_cast<int>(reading.at)) + 1, name),
                      errhint("The digits of %s are %s%s.", name, encoding.digits,
                              encoding.any_case ? ", in upper or lower case" : "")));
      break;
    }
    case TextFault::kWidth:
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid %s text \"%s\"", name, input),
               errdetail_plural("It has %lld digit instead of %d.", "It has %lld digits instead of %d.",
                                static_cast<unsigned long>(reading.digits), Long(reading.digits), encoding.width),
               reading.digits < encoding.width
                   ? errhint("Fetch it again from where it comes: filled up, a text that was cut off is another id.")
                   : errhint("Check that it is one id, and which encoding it is in.")));
      break;
    case TextFault::kTooBig: {
      char largest[kMaxTextWidth];
      WriteText(encoding, PG_INT64_MAX, largest);
      ereport(ERROR,
              (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("%s text \"%s\" is out of range", name, input),
               errdetail("It stands for a number above %lld, the largest id, which is written \"%.*s\".",
                         Long(PG_INT64_MAX), encoding.width, largest),
               errhint("Check where the text comes from, and which encoding it is in.")));
      break;
    }
  }
  pg_unreachable();
}

}  // namespace snowflake

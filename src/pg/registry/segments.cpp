// The calls about segments, and the SQL by which they read and write segments and ranges.
#include "pg/registry/segments.h"

#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/registry/calls.h"
#include "pg/registry/clocks.h"
#include "pg/registry/protocol.h"
#include "pg/registry/tables.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {
namespace {
constexpr int kNamesShown = 20;

struct SegmentRow {
  int64_t segment_id;  // 0: it does not exist
  int32_t skips;
  char usage_role[kMaxRoleName + 1];
  Segment segment;
};

uint32 NameHash(const char *name) {
  return hash_bytes(reinterpret_cast<const unsigned char *>(name), static_cast<int>(strlen(name)));
}

SegmentRow ReadSegmentRow(const Tables &tables, const char *name, bool lock) {
  Execute(tables,
          psprintf("SELECT segment_id, last_value, max_value, step::bigint, max_step::bigint, period_at, allocated,"
                   " allocated_before, newest, skips::bigint, usage_role FROM snowflake_segment"
                   " WHERE name = $1 AND dropped_at IS NULL%s",
                   lock ? " FOR UPDATE" : ""),
          TextValue(name));
  if (Rows() == 0) return {};
  SegmentRow row = {Int8Result(0, 1), static_cast<int32_t>(Int8Result(0, 10)), {}, {}};
  row.segment = {Int8Result(0, 2), Int8Result(0, 3), Int8Result(0, 4), Int8Result(0, 5),
                 TimeResult(0, 6), Int8Result(0, 7), Int8Result(0, 8), Int8Result(0, 9)};
  bool is_null = false;
  const Datum usage_role = Result(0, 11, NAMEOID, &is_null);
  if (!is_null) strlcpy(row.usage_role, NameStr(*DatumGetName(usage_role)), sizeof(row.usage_role));
  const Segment &s = row.segment;
  const bool sound = row.segment_id > 0 && s.last_value >= 0 && s.last_value <= s.max_value && s.step >= 1 &&
                     s.step <= s.max_step && s.allocated >= 0 && s.allocated_before >= 0 && s.newest >= 0 &&
                     row.skips >= 0;
  if (!sound) ReportForeignTable("snowflake_segment");
  return row;
}

// `elsewhere`: a range was allocated to another node than this database's own.
void WriteSegmentRow(const Tables &tables, const SegmentRow &row, bool elsewhere = false) {
  const Segment &s = row.segment;
  Execute(tables,
          "UPDATE snowflake_segment SET last_value = $2, period_at = $3, allocated = $4, allocated_before = $5,"
          " newest = $6, skips = $7, allocated_elsewhere = allocated_elsewhere OR $8 WHERE segment_id = $1 RETURNING last_value",
          Int8(row.segment_id), Int8(s.last_value), TimeValue(s.period_us), Int8(s.allocated), Int8(s.allocated_before),
          Int8(s.newest), Int4(row.skips), Bool(elsewhere));
  CheckWritten("snowflake_segment", s.last_value);
}

// What the node holds under this secret; a role does not see another's.
Holding ReadHolding(const Tables &tables, int64_t segment_id, const RangesRequest &request, const RangeAsk &ask) {
  Execute(tables,
          "SELECT held_from, newest_from, held_to FROM snowflake_segment_range"
          " WHERE segment_id = $1 AND here = $2 AND role = $3 AND node = $4 AND secret_hash = $5 FOR UPDATE",
          Int8(segment_id), Bool(request.here), SessionRole(), TextValue(request.node), HashValue(ask.secret.hash));
  if (Rows() == 0) return {};
  return {Int8Result(0, 1), Int8Result(0, 2), Int8Result(0, 3)};
}

void WriteHolding(const Tables &tables, int64_t segment_id, const RangesRequest &request, const RangeAsk &ask,
                  const Holding &holding) {
  Execute(tables,
          "INSERT INTO snowflake_segment_range (segment_id, here, role, node, secret_hash, held_from, newest_from,"
          " held_to, acquired_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp())"
          " ON CONFLICT (segment_id, here, role, node) DO UPDATE SET secret_hash = excluded.secret_hash,"
          " held_from = excluded.held_from, newest_from = excluded.newest_from, held_to = excluded.held_to,"
          " acquired_at = excluded.acquired_at",
          Int8(segment_id), Bool(request.here), SessionRole(), TextValue(request.node), HashValue(ask.secret.hash),
          Int8(holding.from), Int8(holding.newest), Int8(holding.to));
  CheckWritten("snowflake_segment_range");
}

// The node has no numbers left, and its secret is invalid: what it did not return is a gap.
void DropHolding(const Tables &tables, int64_t segment_id, const RangesRequest &request, const RangeAsk &ask) {
  Execute(tables,
          "DELETE FROM snowflake_segment_range"
          " WHERE segment_id = $1 AND here = $2 AND role = $3 AND node = $4 AND secret_hash = $5",
          Int8(segment_id), Bool(request.here), SessionRole(), TextValue(request.node), HashValue(ask.secret.hash));
}

// Of what nodes hold, no number below `value` comes back.
void KeepRangesFrom(const Tables &tables, int64_t segment_id, int64_t value) {
  Execute(tables,
          "UPDATE snowflake_segment_range"
          " SET held_from = greatest(held_from, $2), newest_from = greatest(newest_from, $2)"
          " WHERE segment_id = $1 AND held_to >= $2 - 1",
          Int8(segment_id), Int8(value));
}

// The highest number that the node has issued, or keeps: what it names, without what it returns.
int64_t HeldUpTo(const RangeAsk &ask) {
  return ask.unused > 0 && ask.unused <= ask.highest ? ask.highest - ask.unused : ask.highest;
}

RangeAnswer ExchangeRange(const Tables &tables, const RangesRequest &request, const RangeAsk &ask, int64_t now_us) {
  SegmentRow row = ReadSegmentRow(tables, ask.name, true);
  if (row.segment_id == 0) return {};
  Segment *segment = &row.segment;
  // What it had of an earlier segment of that name is not this one's.
  const bool same = ask.segment_id == row.segment_id;
  if (same && IsEvidence(*segment, HeldUpTo(ask))) {
    Admit(segment, HeldUpTo(ask));
    row.skips = Max(row.skips, 1);
  }
  if (row.skips > 0) SkipLost(segment, row.skips);
  row.skips = 0;
  Holding holding = ReadHolding(tables, row.segment_id, request, ask);
  Range range = {};
  // For at most a lease's duration commits may be under way to a standby.
  if (ask.wanted >= 0) range = Allocate(segment, ask.wanted, now_us, settings.lease_duration_ms * kUsPerMs);
  const bool closes = ask.wanted < 0 && same && holding.to > 0, back = closes && ask.secret != Secret{};
  if (back) TakeBack(segment, &holding, {ask.highest, ask.unused});
  if (closes && !back) KeepFrom(&holding, Plus(HeldUpTo(ask), 1));
  if (range.left > 0) HoldRange(&holding, range);
  WriteSegmentRow(tables, row, range.left > 0 && !request.here);
  if (back)
    DropHolding(tables, row.segment_id, request, ask);
  else if (closes || range.left > 0)
    WriteHolding(tables, row.segment_id, request, ask, holding);
  RangeAnswer answer = {row.segment_id, range, {}};
  memcpy(answer.usage_role, row.usage_role, sizeof(answer.usage_role));
  return answer;
}

// Whether commits are lost: a node names a number that was never allocated.
bool HasEvidence(const Tables &tables, const RangesRequest &request) {
  bool evidence = false;
  for (int i = 0; i < request.count; ++i) {
    const RangeAsk &ask = request.asks[i];
    if (ask.segment_id == 0) continue;
    const SegmentRow row = ReadSegmentRow(tables, ask.name, false);
    if (row.segment_id != ask.segment_id || !IsEvidence(row.segment, HeldUpTo(ask))) continue;
    if (!IsNumberBelieved(row.segment, HeldUpTo(ask)))
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("a node has numbers of segment \"%s\" that the registry never allocated", ask.name),
               errdetail("The node has had %lld; the last number that was allocated is %lld.", Long(HeldUpTo(ask)),
                         Long(row.segment.last_value)),
               errhint("If the registry has lost commits, call snowflake_raise_segment() there with a number above all"
                       " that are in use.")));
    evidence = true;
  }
  return evidence;
}

// The names of segments, for an error: as many as an answer has room for.
char *KnownSegments(const Tables &tables) {
  constexpr int kRoom = sizeof(RangesAnswer::known);
  Execute(tables, psprintf("SELECT name FROM snowflake_segment WHERE dropped_at IS NULL ORDER BY name LIMIT %d",
                           kNamesShown + 1));
  StringInfoData names;
  initStringInfo(&names);
  for (int64_t i = 0; i < Rows(); ++i) {
    if (i == kNamesShown)
      appendStringInfoString(&names, ", ...");
    else
      appendStringInfo(&names, "%s\"%s\"", i > 0 ? ", " : "", TextDatumGetCString(Result(i, 1, TEXTOID)));
  }
  if (names.len >= kRoom) strlcpy(names.data + pg_mbcliplen(names.data, names.len, kRoom - 4), "...", 4);
  return names.data;
}

// Error: 42704 if it does not exist. It is the error of `caller`, not of the tables' owner.
SegmentRow LockSegment(const Tables &tables, const char *name, Oid caller) {
  const SegmentRow row = ReadSegmentRow(tables, name, true);
  if (row.segment_id != 0) return row;
  ReportNoSegment(name, MaySeeSegments(tables.extension, caller) ? KnownSegments(tables) : nullptr);
}

// By what is locked.
int CompareHashes(const void *a, const void *b) {
  const uint32 first = NameHash((*static_cast<const RangeAsk *const *>(a))->name);
  const uint32 second = NameHash((*static_cast<const RangeAsk *const *>(b))->name);
  return first < second ? -1 : first > second;
}

int64_t NewSegmentId() {
  uint64_t random = 0;
  if (!pg_strong_random(&random, sizeof(random)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random number")));
  return static_cast<int64_t>(random >> 1 | 1);
}

// Runs `body` as the tables' owner, after what happened to the registry as a whole. `lock` locks
// what nobody waits for who has the registry's lock.
template <typename Body, typename Lock>
void RunCall(const char *function, Oid extension, Body body, Lock lock) {
  // MarkClean() waits for this lock, and a call that it does not wait for sees its mark.
  const Tables tables = BeginCall(function, extension, RowExclusiveLock);
  lock(tables);
  AsOwner(tables, [&] {
    const Origin origin = DetectLoss(tables, ReadLayout(tables.layout), {});
    NoticeActivity(tables, origin);
    body(tables, origin);
  });
}

template <typename Body>
void RunCall(const char *function, Oid extension, Body body) {
  RunCall(function, extension, body, [](const Tables &) {});
}

}  // namespace

void ProtocolCreateSegment(Oid extension, const char *name, int64_t start, int64_t step, int64_t max_value,
                           int64_t max_step, Name usage_role) {
  CheckSegmentName(strlen(name));
  if (start < 1 || start > max_value || step < 1 || step > max_step)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid segment"),
                    errdetail("start is %lld, max_value %lld, step %lld, max_step %lld.", Long(start), Long(max_value),
                              Long(step), Long(max_step)),
                    errhint("start must be at least 1 and at most max_value, step at least 1 and at most max_step.")));
  NameData nobody = {};
  RunCall("snowflake_create_segment", extension, [&](const Tables &tables, const Origin &) {
    Execute(tables, "SELECT segment_id FROM snowflake_segment WHERE name = $1 AND dropped_at IS NOT NULL FOR UPDATE",
            TextValue(name));
    const int64_t dropped = Rows() > 0 ? Int8Result(0, 1) : 0;
    const int64_t segment_id = NewSegmentId();
    // A dropped segment goes on where it ended.
    Execute(tables,
            "INSERT INTO snowflake_segment AS s"
            " (name, segment_id, last_value, max_value, step, max_step, usage_role)"
            " VALUES ($1, $2, $3, $4, $5::integer, $6::integer, CASE WHEN $7 THEN $8 END)"
            " ON CONFLICT (name) DO UPDATE"
            " SET segment_id = excluded.segment_id, last_value = greatest(s.last_value, excluded.last_value),"
            " max_value = greatest(s.last_value, excluded.max_value), step = excluded.step,"
            " max_step = excluded.max_step, usage_role = excluded.usage_role, dropped_at = NULL"
            " WHERE s.dropped_at IS NOT NULL RETURNING last_value",
            TextValue(name), Int8(segment_id), Int8(start - 1), Int8(max_value), Int8(step), Int8(max_step),
            Bool(usage_role != nullptr), Of(NAMEOID, NameGetDatum(usage_role != nullptr ? usage_role : &nobody)));
    if (Rows() == 0) ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("segment \"%s\" already exists", name)));
    const int64_t last_value = Int8Result(0, 1);
    if (last_value >= max_value)
      ereport(ERROR,
              (errcode(kSegmentUsedUp), errmsg("segment \"%s\" would have no numbers left", name),
               errdetail("A segment of that name was dropped after %lld had been allocated, and max_value is %lld.",
                         Long(last_value), Long(max_value)),
               errhint("Use another name or a higher max_value; nodes may hold numbers of the dropped segment.")));
    if (last_value >= start)
      ereport(NOTICE, (errmsg("segment \"%s\" continues at %lld", name, Long(last_value + 1)),
                       errdetail("Nodes may hold numbers of the dropped segment of that name.")));
    // Nodes keep the numbers that they have of it.
    if (dropped != 0)
      Execute(tables, "UPDATE snowflake_segment_range SET segment_id = $2 WHERE segment_id = $1", Int8(dropped),
              Int8(segment_id));
  });
}

void ProtocolDropSegment(Oid extension, const char *name) {
  const Oid caller = GetUserId();
  RunCall("snowflake_drop_segment", extension, [&](const Tables &tables, const Origin &) {
    const Value segment_id = Int8(LockSegment(tables, name, caller).segment_id);
    Execute(tables, "SELECT allocated_elsewhere FROM snowflake_segment WHERE segment_id = $1", segment_id);
    const bool held = BoolResult(0, 1);
    // Other nodes that have numbers of it keep them.
    Execute(tables, "DELETE FROM snowflake_segment_range WHERE segment_id = $1 AND here", segment_id);
    Execute(tables,
            held ? "UPDATE snowflake_segment SET dropped_at = clock_timestamp() WHERE segment_id = $1"
                 : "DELETE FROM snowflake_segment WHERE segment_id = $1",
            segment_id);
    CheckWritten("snowflake_segment");
  });
}

int64_t ProtocolRaiseSegment(Oid extension, const char *name, int64_t value) {
  int64_t next = 0;
  const Oid caller = GetUserId();
  RunCall("snowflake_raise_segment", extension, [&](const Tables &tables, const Origin &) {
    SegmentRow row = LockSegment(tables, name, caller);
    if (value < 1 || value > row.segment.max_value)
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("segment \"%s\" has no number %lld", name, Long(value)),
               errdetail("Its numbers are 1 to %lld.", Long(row.segment.max_value))));
    RaiseTo(&row.segment, value);
    WriteSegmentRow(tables, row);
    KeepRangesFrom(tables, row.segment_id, value);
    next = Plus(row.segment.last_value, 1);
  });
  return next;
}

void (*restored_segment)(Oid extension, const char *name, int64_t last_value) = nullptr;

bool ProtocolRestoreSegment(Oid extension, const char *name, int64_t last_value) {
  const Tables tables = FindTables(extension);
  const bool restored = ResultAsOwner(tables, [&] {
    Execute(tables,
            "UPDATE snowflake_segment SET last_value = least(greatest(last_value, $2), max_value), dropped_at = NULL"
            " WHERE name = $1 RETURNING segment_id",
            TextValue(name), Int8(last_value));
    if (Rows() == 0) return false;
    KeepRangesFrom(tables, Int8Result(0, 1), Plus(last_value, 1));
    return true;
  });
  if (restored) restored_segment(extension, name, last_value);
  return restored;
}

void ProtocolRanges(Oid extension, const RangesRequest &request, RangesAnswer *answer) {
  const RangeAsk **asks = static_cast<const RangeAsk **>(palloc(sizeof(RangeAsk *) * (request.count + 1)));
  for (int i = 0; i < request.count; ++i) asks[i] = &request.asks[i];
  // So that no two nodes wait for each other.
  qsort(asks, static_cast<size_t>(request.count), sizeof(RangeAsk *), CompareHashes);
  // A call keeps its segments locked until its commit. So before it locks anything:
  CheckCall("snowflake_segment_ranges");
  if (!request.here) JoinQueue(extension, Queue::kSegments);
  // A row's lock goes to whoever comes first when it is released, and not to those who wait.
  const auto lock = [&](const Tables &tables) {
    for (int i = 0; i < request.count; ++i) LockPart(extension, tables.segment, NameHash(asks[i]->name), 1);
  };
  const auto exchange = [&](const Tables &tables, const Origin &origin) {
    if (HasEvidence(tables, request)) NoticeLoss(tables, Loss::kRange);
    answer->standing = StandingOf(origin);
    bool missing = false;
    for (int i = 0; i < request.count; ++i) {
      RangeAnswer *range = &answer->answers[asks[i] - request.asks];
      *range = ExchangeRange(tables, request, *asks[i], EarliestNowUs(origin));
      missing |= range->segment_id == 0;
    }
    strlcpy(answer->known, missing ? KnownSegments(tables) : "", sizeof(answer->known));
  };
  RunCall("snowflake_segment_ranges", extension, exchange, lock);
}

}  // namespace snowflake

// Layouts and the generator, from arbitrary bytes. If Check() accepts a layout, whatever its
// fields, then: packing and unpacking ids are inverses, times and ticks are in the same order, the
// ids for a time are exactly those with that time, and a generator under the layout keeps its
// invariants whatever the clock does. Also definitions of layouts.
#include "core/layout.h"

#include <limits>

#include "core/layout_text.h"
#include "core/node.h"
#include "core/named_layouts.h"
#include "core/time_range.h"
#include "input.h"

namespace snowflake {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// The first time that a server's clock can show: timestamps begin in 4714 BC.
constexpr int64_t kFirstUnixUs = -210866803200000000;

// Arbitrary fields, a named layout, or fields that are likely to be valid.
Layout NextLayout(Input *input) {
  const uint8_t kind = input->Next<uint8_t>();
  if (kind % 8 == 0)
    return kNamedLayouts[input->Next<uint8_t>() % (sizeof kNamedLayouts / sizeof kNamedLayouts[0])].layout;
  if (kind % 4 == 1)
    return {input->Next<int64_t>(), input->Next<int64_t>(), input->Next<int32_t>(),           input->Next<int32_t>(),
            input->Next<int32_t>(), input->Next<int32_t>(), (input->Next<uint8_t>() & 1) != 0};
  const int64_t ticks_us[] = {1, 10, 1000, 10000, 1000000, kMaxTickUs, 0, kMaxTickUs + 1};
  const int64_t epochs_ms[] = {0, 1288834974657, 1735689600000, kMaxEpochMs, -1, kMaxEpochMs + 1};
  const uint8_t epoch = input->Next<uint8_t>();
  return {epoch % 8 < 6 ? epochs_ms[epoch % 8] : input->Below(kMaxEpochMs),
          ticks_us[input->Next<uint8_t>() % 8],
          input->Next<int8_t>() % 65,
          input->Next<int8_t>() % 13,
          input->Next<int8_t>() % 33,
          input->Next<int8_t>() % 33,
          (input->Next<uint8_t>() & 1) != 0};
}

void CheckIds(const Layout &layout, int64_t id) {
  if (!layout.HasRoomFor(id)) {
    // A bit above the timestamp is set, and packing cannot bring it back.
    REQUIRE(layout.total_bits() < 64);
    id &= static_cast<int64_t>((uint64_t{1} << layout.total_bits()) - 1);
    REQUIRE(layout.HasRoomFor(id));
  }
  const Parts parts = layout.Unpack(id);
  REQUIRE(layout.Pack(parts) == id);
  REQUIRE(layout.Fits(parts) == PartsFault::kNone);
  REQUIRE((parts.tick <= layout.max_tick()) == (id >= 0));
  // The last id of a tick is below the first id of the next tick.
  if (parts.tick < layout.max_tick()) {
    const int64_t last = layout.Pack({parts.tick, static_cast<int32_t>(layout.worker_count() - 1),
                                      static_cast<int32_t>(layout.sequence_count() - 1)});
    REQUIRE(id <= last);
    REQUIRE(last < layout.Pack({parts.tick + 1, 0, 0}));
  }
  // Every tick that an id can have is a different time.
  REQUIRE(layout.TickAt(layout.UnixUsAt(parts.tick)) == parts.tick);
  REQUIRE(layout.UnixUsAt(parts.tick) < layout.UnixUsAt(parts.tick + 1));
}

// Arbitrary parts: exactly those that fit come back.
void CheckParts(const Layout &layout, const Parts &parts) {
  const Parts most = layout.Unpack(static_cast<int64_t>(~uint64_t{0} >> (64 - layout.total_bits())));
  switch (layout.Fits(parts)) {
    case PartsFault::kNone:
      REQUIRE(layout.HasRoomFor(layout.Pack(parts)));
      REQUIRE(layout.Unpack(layout.Pack(parts)) == parts);
      break;
    case PartsFault::kTick:
      REQUIRE(parts.tick < 0 || parts.tick > most.tick);
      break;
    case PartsFault::kWorker:
      REQUIRE(parts.worker < 0 || parts.worker > most.worker);
      break;
    case PartsFault::kSequence:
      REQUIRE(parts.sequence < 0 || parts.sequence > most.sequence);
      break;
  }
}

void CheckTimes(const Layout &layout, int64_t a, int64_t b) {
  if (a > b) return CheckTimes(layout, b, a);
  REQUIRE(layout.TickAt(a) <= layout.TickAt(b));
  REQUIRE(layout.UnixUsAt(a) <= layout.UnixUsAt(b));
  // A tick contains the times from its beginning to the beginning of the next tick, if both can be
  // represented.
  if (a < kMin + layout.epoch_us()) return;
  const Tick tick = layout.TickAt(a);
  REQUIRE(layout.UnixUsAt(tick) <= a);
  REQUIRE(tick == kMax || layout.UnixUsAt(tick + 1) > a || layout.UnixUsAt(tick + 1) == kMax);
}

// A time near a given time, or any time.
int64_t TimeNear(int64_t unix_us, Input *input) {
  const uint8_t kind = input->Next<uint8_t>();
  if (kind % 4 == 0) return input->Next<int64_t>();
  int64_t near = 0;
  const int64_t away = kind % 4 == 1 ? input->Next<int8_t>() : input->Next<int32_t>();
  return __builtin_add_overflow(unix_us, away, &near) ? unix_us : near;
}

// To compare an id with the bounds of a time range is to compare its time with the times.
void CheckSpans(const Layout &layout, Input *input) {
  const int32_t bits = layout.total_bits() < 63 ? layout.total_bits() : 63;
  const int64_t id = static_cast<int64_t>(input->Next<uint64_t>() & ((uint64_t{1} << bits) - 1));
  const int64_t time = layout.UnixUsAt(layout.Unpack(id).tick);

  const int64_t since = TimeNear(time, input);
  int64_t first = -1;
  if (FirstIdAt(layout, since, &first)) {
    REQUIRE(first >= 0);
    REQUIRE((id >= first) == (time >= since));
  } else {
    REQUIRE(time < since);
  }

  const Cut lower = {TimeNear(time, input), (input->Next<uint8_t>() & 1) != 0};
  const Cut upper = {TimeNear(time, input), (input->Next<uint8_t>() & 1) != 0};
  const bool inside = (lower.after ? time > lower.unix_us : time >= lower.unix_us) &&
                      (upper.after ? time <= upper.unix_us : time < upper.unix_us);
  const IdSpan span = IdsBetween(layout, lower, upper);
  switch (span.kind) {
    case SpanKind::kEmpty:
      REQUIRE(!inside);
      break;
    case SpanKind::kBounded:
      REQUIRE(span.first >= 0 && span.first < span.end);
      REQUIRE(inside == (id >= span.first && id < span.end));
      break;
    case SpanKind::kOpen:
      REQUIRE(span.first >= 0);
      REQUIRE(inside == (id >= span.first));
      break;
    case SpanKind::kLowerNegative:
      REQUIRE(layout.total_bits() == 64 && !inside);
      REQUIRE(lower.unix_us + (lower.after ? 1 : 0) > layout.UnixUsAt(layout.max_tick()));
      break;
    case SpanKind::kUpperNegative:
      REQUIRE(layout.total_bits() == 64);
      REQUIRE(upper.unix_us + (upper.after ? 1 : 0) > layout.UnixUsAt(layout.max_tick() + 1));
      break;
  }
}

// One generator with changing leases and clocks; every number that it issues is above the previous
// number.
class Issuing {
 public:
  Issuing(const Layout &layout, Input *input) : layout_(layout), input_(input) {}

  void Go() {
    clock_ = layout_.TickAt(kFirstUnixUs);
    Jump();
    Acquire();
    while (input_->left() > 0) {
      const uint8_t operation = input_->Next<uint8_t>();
      if (operation < 160)
        TakeOnce();
      else if (operation < 200)
        clock_ = Shown(clock_, input_->Next<int8_t>());
      else if (operation < 215)
        Jump();
      else if (operation < 235)
        MoveEnd();
      else if (operation < 250)
        Acquire();
      else
        CloseOnce();
    }
  }

 private:
  // A tick that a clock can show, and that the layout may be unable to store.
  Tick Shown(Tick tick, int8_t moved) const {
    if (__builtin_add_overflow(tick, moved, &tick)) tick = moved < 0 ? kMin : kMax;
    const Tick first = layout_.TickAt(kFirstUnixUs), last = layout_.TickAt(kMax);
    return tick < first ? first : tick > last ? last : tick;
  }

  // Moves the clock near a tick at which the behaviour changes.
  void Jump() {
    const Tick places[] = {g_.last_tick,
                           g_.lease.window_start,
                           g_.lease.window_end,
                           layout_.max_tick(),
                           0,
                           layout_.TickAt(input_->Next<int64_t>())};
    const Tick place = places[input_->Next<uint8_t>() % 6];
    clock_ = Shown(place, input_->Next<int8_t>());
  }

  // A possible answer of a registry: any window above the ticks used under this worker id.
  void Acquire() {
    if (g_.open) CloseOnce();
    Lease lease = {};
    lease.lease_id = ++leases_;
    lease.worker = static_cast<int32_t>(input_->Below(layout_.worker_count()));
    lease.window_start = WindowStart(clock_, watermark_);
    const int64_t duration_us = static_cast<int64_t>(input_->Next<uint32_t>()) * 100;
    lease.window_end = WindowEnd(layout_, lease.window_start, duration_us);
    if (lease.window_start > layout_.max_tick() + 1) return;
    const auto datacenter = static_cast<int32_t>(lease.worker / layout_.workers_per_datacenter());
    const AnswerFault fault = Judge(layout_, datacenter, lease, clock_, clock_, duration_us);
    REQUIRE(fault == (lease.window_start <= layout_.max_tick() ? AnswerFault::kNone : AnswerFault::kWindow));
    REQUIRE(lease.window_end > lease.window_start || lease.window_start > layout_.max_tick());
    if (fault != AnswerFault::kNone) return;
    Open(&g_, layout_, lease);
    REQUIRE(LastTickOfLease(g_) == lease.window_start - 1);
    last_id_ = -1;
  }

  void CloseOnce() {
    if (!g_.open) return;
    const Retired retired = Close(&g_);
    REQUIRE(!g_.open);
    REQUIRE(retired.last_tick >= g_.lease.window_start - 1 && retired.last_tick < g_.lease.window_end);
    REQUIRE(retired.last_tick <= layout_.max_tick());
    watermark_ = retired.last_tick;
  }

  // The registry's answer to an extend, sometimes for the previous lease.
  void MoveEnd() {
    const Tick before = g_.lease.window_end;
    const Tick from = ExtendFrom(g_, clock_, max_lead_);
    REQUIRE(from >= clock_);
    const int64_t lease_id = leases_ - (input_->Next<uint8_t>() % 4 == 0 ? 1 : 0);
    MoveWindowEnd(&g_, lease_id, WindowEnd(layout_, from > 0 ? from : 0, input_->Next<uint32_t>()));
    REQUIRE(g_.lease.window_end >= before);
    REQUIRE(g_.lease.window_end == before || (g_.open && lease_id == leases_));
    REQUIRE(g_.lease.window_end <= layout_.max_tick() + 1);
  }

  void TakeOnce() {
    max_lead_ = MaxLead(layout_, input_->Next<uint8_t>() * kUsPerMs);
    const int64_t want = 1 + input_->Next<uint16_t>() % 300;
    const int64_t first = static_cast<int64_t>(input_->Next<uint16_t>()) % FreshLimit(layout_);
    const Generator before = g_;
    const Decision d = Take(&g_, clock_, want, {max_lead_, first});
    if (d.outcome != Outcome::kRun) {
      // A refusal changes nothing.
      REQUIRE(g_.last_tick == before.last_tick && g_.next_sequence == before.next_sequence && g_.open == before.open);
      REQUIRE(g_.lease.window_end == before.lease.window_end);
      CheckRefusal(d);
      return;
    }
    REQUIRE(g_.open);
    const Run &run = d.run;
    REQUIRE(run.worker == g_.lease.worker);
    REQUIRE(run.tick >= g_.lease.window_start && run.tick < g_.lease.window_end && run.tick <= layout_.max_tick());
    REQUIRE(run.tick >= clock_ && run.tick - clock_ <= max_lead_ && d.lead == run.tick - clock_);
    REQUIRE(run.count >= 1 && run.count <= want);
    REQUIRE(run.sequence >= 0 && run.sequence + run.count <= layout_.sequence_count());
    REQUIRE(g_.last_tick == run.tick && g_.next_sequence == run.sequence + run.count);
    REQUIRE(FirstUnused(g_, layout_) == run.tick + 1);
    const int64_t low = layout_.Pack({run.tick, run.worker, run.sequence});
    const int64_t high = layout_.Pack({run.tick, run.worker, run.sequence + run.count - 1});
    REQUIRE(low > last_id_ && low <= high);
    REQUIRE(high - low == (run.count - 1) * (int64_t{1} << layout_.sequence_shift()));
    last_id_ = high;
  }

  void CheckRefusal(const Decision &d) const {
    const Tick tick = clock_ + d.lead;
    switch (d.outcome) {
      case Outcome::kRun:
        break;
      case Outcome::kNoLease:
        REQUIRE(!g_.open);
        break;
      case Outcome::kWindowEnd:
        REQUIRE(tick >= g_.lease.window_end && tick <= layout_.max_tick());
        break;
      case Outcome::kTickUsedUp:
        REQUIRE(d.lead == max_lead_ + 1 && tick == g_.last_tick + 1);
        REQUIRE(g_.last_tick >= g_.lease.window_start && g_.next_sequence == layout_.sequence_count());
        break;
      case Outcome::kClockBehind:
        REQUIRE(d.lead > max_lead_);
        REQUIRE(tick == (g_.last_tick > g_.lease.window_start ? g_.last_tick : g_.lease.window_start));
        break;
      case Outcome::kTimeUsedUp:
        REQUIRE(tick > layout_.max_tick());
        break;
    }
    REQUIRE(g_.open || d.outcome == Outcome::kNoLease);
  }

  const Layout layout_;
  Input *input_;
  Generator g_ = {};
  Tick clock_ = 0;
  Tick max_lead_ = 1;
  Tick watermark_ = kNoWatermark;
  int64_t leases_ = 0;
  int64_t last_id_ = -1;
};

// The rest of the bytes as a definition: whatever it says, ids are read as they are written.
void CheckDefinition(int64_t id, std::string_view text) {
  const DefinitionReading reading = ReadDefinition(text);
  if (reading.fault != DefinitionFault::kNone) return;
  const LayoutDefinition &definition = reading.definition;
  if (definition.IsPlain()) {
    char canonical[kMaxDefinition];
    WriteDefinition(definition.layout, canonical);
    const DefinitionReading same = ReadDefinition(canonical);
    REQUIRE(IsCanonical(canonical, same) && same.definition.layout == definition.layout);
    REQUIRE(IsCanonical(text, reading) == (text == canonical));
  }
  Parts parts, again;
  if (!definition.Unpack(id, &parts)) return;
  REQUIRE(definition.Fits(parts) == PartsFault::kNone);
  REQUIRE(definition.Unpack(definition.Pack(parts), &again) && again == parts);
  if (definition.IsPlain()) REQUIRE(definition.layout.Unpack(id) == parts);
}

void Check(Input input) {
  const Input before = input;
  CheckDefinition(input.Next<int64_t>(), input.Rest());
  input = before;
  const Layout layout = NextLayout(&input);
  const LayoutFault to_read = layout.Fault(false), to_issue = layout.Fault(true);
  if (to_read != LayoutFault::kNone) {
    REQUIRE(to_issue == to_read);
    return;
  }
  REQUIRE(to_issue == LayoutFault::kNone || to_issue == LayoutFault::kReadOnly);
  REQUIRE(layout == layout && !(layout != layout));
  CheckIds(layout, input.Next<int64_t>());
  CheckParts(layout,
             {input.Next<int64_t>() >> input.Next<uint8_t>() % 64, input.Next<int32_t>(), input.Next<int32_t>()});
  CheckSpans(layout, &input);
  const int64_t time = input.Next<int64_t>();
  CheckTimes(layout, time, input.Next<int64_t>());
  CheckTimes(layout, time, time == kMax ? time : time + 1);
  if (to_issue == LayoutFault::kNone) Issuing(layout, &input).Go();
}

}  // namespace
}  // namespace snowflake

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  snowflake::Check({data, size});
  return 0;
}

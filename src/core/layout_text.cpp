// Reading and writing definitions, and ids by them.
#include "core/layout_text.h"

namespace snowflake {
namespace {
// A millisecond needs so many.
constexpr int32_t kMsBits = 10;
constexpr int64_t kMsPerSecond = 1000;

struct FieldName {
  std::string_view name;
  FieldKind kind;
};
constexpr FieldName kFieldNames[] = {{"time", FieldKind::kTime},     {"sec", FieldKind::kSeconds},
                                     {"ms", FieldKind::kMs},         {"datacenter", FieldKind::kDatacenter},
                                     {"worker", FieldKind::kWorker}, {"seq", FieldKind::kSequence},
                                     {"skip", FieldKind::kSkip}};

struct TickUnit {
  std::string_view name;
  int64_t us;
};
constexpr TickUnit kTickUnits[] = {{"us", 1}, {"ms", kUsPerMs}, {"s", kMsPerSecond *kUsPerMs}};

// The digits at the beginning of the text, which they leave. False: there are none, or the number
// is above `most`.
bool TakeDigits(std::string_view *text, int64_t most, int64_t *number) {
  size_t digits = 0;
  *number = 0;
  for (; digits < text->size() && (*text)[digits] >= '0' && (*text)[digits] <= '9'; ++digits) {
    *number = *number * 10 + ((*text)[digits] - '0');
    if (*number > most) return false;
  }
  text->remove_prefix(digits);
  return digits > 0;
}

bool ReadTick(std::string_view value, int64_t *us) {
  int64_t number = 0;
  if (!TakeDigits(&value, kMaxTickUs, &number)) return false;
  for (const TickUnit &unit : kTickUnits) {
    if (value != unit.name) continue;
    *us = number * unit.us;
    return number > 0 && number <= kMaxTickUs / unit.us;
  }
  return false;
}

// A day as in 2025-01-31, from 1970 on.
bool ReadDay(std::string_view value, int64_t *ms) {
  constexpr int kDaysBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  const auto number = [&](size_t at, size_t digits, int64_t least, int64_t most, int64_t *result) {
    std::string_view part(value.data() + at, digits);
    return TakeDigits(&part, most, result) && part.empty() && *result >= least;
  };
  const auto leaps_up_to = [](int64_t year) { return year / 4 - year / 100 + year / 400; };
  int64_t year = 0, month = 0, day = 0;
  if (value.size() != 10 || value[4] != '-' || value[7] != '-' || !number(0, 4, 1970, 9999, &year) ||
      !number(5, 2, 1, 12, &month) || !number(8, 2, 1, 31, &day))
    return false;
  const int64_t leap = leaps_up_to(year) - leaps_up_to(year - 1);
  if (day > kDaysBefore[month] - kDaysBefore[month - 1] + (month == 2 ? leap : 0)) return false;
  const int64_t days = (year - 1970) * 365 + leaps_up_to(year - 1) - leaps_up_to(1969) + kDaysBefore[month - 1] +
                       (month > 2 ? leap : 0) + day - 1;
  *ms = days * 86400 * kMsPerSecond;
  return true;
}

bool ReadEpoch(std::string_view value, int64_t *ms) {
  return ReadDay(value, ms) || (TakeDigits(&value, kMaxEpochMs, ms) && value.empty());
}

int32_t BitsOf(const LayoutDefinition &definition, FieldKind kind) {
  int32_t bits = 0;
  for (int i = 0; i < definition.field_count; ++i)
    if (definition.fields[i].kind == kind) bits += definition.fields[i].bits;
  return bits;
}

bool Has(const LayoutDefinition &definition, FieldKind kind) { return BitsOf(definition, kind) > 0; }

// Reads words, one after the other.
struct Reader {
  DefinitionReading reading;
  bool has_epoch, has_tick;

  void Fail(DefinitionFault fault, std::string_view word) {
    if (reading.fault != DefinitionFault::kNone) return;
    reading.fault = fault;
    reading.word = word;
  }

  void ReadField(FieldKind kind, std::string_view value, std::string_view word) {
    LayoutDefinition *definition = &reading.definition;
    int64_t bits = 0;
    if (!TakeDigits(&value, 63, &bits) || bits == 0 || !value.empty()) return Fail(DefinitionFault::kNumber, word);
    if (kind != FieldKind::kSkip && Has(*definition, kind)) return Fail(DefinitionFault::kTwice, word);
    if (definition->field_count == kMaxFields) return Fail(DefinitionFault::kTooMany, word);
    definition->fields[definition->field_count++] = {kind, static_cast<int32_t>(bits)};
  }

  void ReadWord(std::string_view word) {
    const size_t equals = word.find('=') < word.size() ? word.find('=') : word.size();
    const std::string_view name(word.data(), equals);
    std::string_view value = word;
    value.remove_prefix(equals < word.size() ? equals + 1 : equals);
    Layout *layout = &reading.definition.layout;
    if (name == "epoch") {
      if (has_epoch) return Fail(DefinitionFault::kTwice, word);
      has_epoch = true;
      if (!ReadEpoch(value, &layout->epoch_ms)) Fail(DefinitionFault::kNumber, word);
      return;
    }
    if (name == "tick") {
      if (has_tick) return Fail(DefinitionFault::kTwice, word);
      has_tick = true;
      if (!ReadTick(value, &layout->tick_us)) Fail(DefinitionFault::kNumber, word);
      return;
    }
    for (const FieldName &field : kFieldNames)
      if (name == field.name) return ReadField(field.kind, value, word);
    Fail(DefinitionFault::kUnknown, word);
  }

  // What all words together have to be.
  void Check() {
    LayoutDefinition *definition = &reading.definition;
    const bool has_time = Has(*definition, FieldKind::kTime);
    const bool split = Has(*definition, FieldKind::kSeconds) || Has(*definition, FieldKind::kMs);
    if (!has_epoch) Fail(DefinitionFault::kMissing, "epoch");
    if (!has_time && !split) Fail(DefinitionFault::kMissing, "time");
    if (split && (has_time || has_tick || !Has(*definition, FieldKind::kSeconds) ||
                  BitsOf(*definition, FieldKind::kMs) < kMsBits))
      Fail(DefinitionFault::kSplit, "sec");
    if (definition->total_bits() > 64) Fail(DefinitionFault::kTooWide, "");
    if (reading.fault != DefinitionFault::kNone) return;
    Layout *layout = &definition->layout;
    layout->timestamp_bits =
        split ? BitsOf(*definition, FieldKind::kSeconds) + kMsBits : BitsOf(*definition, FieldKind::kTime);
    layout->datacenter_bits = BitsOf(*definition, FieldKind::kDatacenter);
    layout->worker_bits = BitsOf(*definition, FieldKind::kWorker);
    layout->sequence_bits = BitsOf(*definition, FieldKind::kSequence);
    // Both orders fit if a field is missing.
    layout->sequence_first = false;
    layout->sequence_first = !definition->IsPlain();
    if (!definition->IsPlain()) layout->sequence_first = false;
    if (layout->Fault(false) != LayoutFault::kNone) Fail(DefinitionFault::kLayout, "");
  }
};

// A piece of text that is being written.
struct Text {
  char *end;

  void Put(std::string_view text) {
    for (const char c : text) *end++ = c;
    *end = '\0';
  }

  void PutNumber(int64_t number) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    while (count > 0) *end++ = digits[--count];
    *end = '\0';
  }

  void PutField(std::string_view name, int32_t bits) {
    if (bits == 0) return;
    Put(name);
    PutNumber(bits);
  }
};

}  // namespace

bool LayoutDefinition::IsPlain() const {
  constexpr FieldKind kOrders[2][4] = {
      {FieldKind::kTime, FieldKind::kDatacenter, FieldKind::kWorker, FieldKind::kSequence},
      {FieldKind::kTime, FieldKind::kSequence, FieldKind::kDatacenter, FieldKind::kWorker}};
  int next = 0;
  for (const FieldKind kind : kOrders[layout.sequence_first])
    if (next < field_count && fields[next].kind == kind) ++next;
  return next == field_count;
}

bool LayoutDefinition::IsOrdered() const {
  const bool whole =
      fields[0].kind == FieldKind::kTime || (fields[0].kind == FieldKind::kSeconds && fields[1].kind == FieldKind::kMs);
  return IsPlain() || (whole && total_bits() < 64);
}

int32_t LayoutDefinition::total_bits() const {
  int32_t bits = 0;
  for (int i = 0; i < field_count; ++i) bits += fields[i].bits;
  return bits;
}

Tick LayoutDefinition::max_tick() const {
  const int32_t seconds = BitsOf(*this, FieldKind::kSeconds);
  return seconds > 0 ? (Tick{1} << seconds) * kMsPerSecond - 1 : layout.max_readable_tick();
}

PartsFault LayoutDefinition::Fits(const Parts &parts) const {
  return parts.tick > max_tick() ? PartsFault::kTick : layout.Fits(parts);
}

bool LayoutDefinition::Unpack(int64_t id, Parts *parts) const {
  uint64_t rest = static_cast<uint64_t>(id), worker = 0, datacenter = 0, ms = 0;
  *parts = {};
  for (int i = field_count - 1; i >= 0; --i) {
    const uint64_t value = rest & ((uint64_t{1} << fields[i].bits) - 1);
    rest >>= fields[i].bits;
    switch (fields[i].kind) {
      case FieldKind::kTime: parts->tick = static_cast<Tick>(value); break;
      case FieldKind::kSeconds: parts->tick = static_cast<Tick>(value) * kMsPerSecond; break;
      case FieldKind::kMs: ms = value; break;
      case FieldKind::kDatacenter: datacenter = value; break;
      case FieldKind::kWorker: worker = value; break;
      case FieldKind::kSequence: parts->sequence = static_cast<int32_t>(value); break;
      case FieldKind::kSkip: break;
    }
  }
  parts->tick += static_cast<Tick>(ms);
  parts->worker = static_cast<int32_t>(datacenter << layout.worker_bits | worker);
  return rest == 0 && ms < uint64_t{kMsPerSecond};
}

int64_t LayoutDefinition::Pack(const Parts &parts) const {
  SNOWFLAKE_ASSERT(Fits(parts) == PartsFault::kNone);
  uint64_t id = 0;
  for (int i = 0; i < field_count; ++i) {
    const auto value = [&]() -> int64_t {
      switch (fields[i].kind) {
        case FieldKind::kTime: return parts.tick;
        case FieldKind::kSeconds: return parts.tick / kMsPerSecond;
        case FieldKind::kMs: return parts.tick % kMsPerSecond;
        case FieldKind::kDatacenter: return parts.worker >> layout.worker_bits;
        case FieldKind::kWorker: return parts.worker & ((int64_t{1} << layout.worker_bits) - 1);
        case FieldKind::kSequence: return parts.sequence;
        case FieldKind::kSkip: return 0;
      }
      return 0;
    };
    id = id << fields[i].bits | static_cast<uint64_t>(value());
  }
  return static_cast<int64_t>(id);
}

DefinitionReading ReadDefinition(std::string_view text) {
  Reader reader = {};
  reader.reading.definition.layout.tick_us = kUsPerMs;
  while (!text.empty()) {
    const size_t end = text.find(' ') < text.size() ? text.find(' ') : text.size();
    if (end > 0) reader.ReadWord({text.data(), end});
    text.remove_prefix(end < text.size() ? end + 1 : end);
  }
  reader.Check();
  return reader.reading;
}

void WriteDefinition(const Layout &layout, char *text) {
  Text writer = {text};
  writer.Put("epoch=");
  writer.PutNumber(layout.epoch_ms);
  const TickUnit *unit = kTickUnits;
  for (const TickUnit &other : kTickUnits)
    if (layout.tick_us % other.us == 0) unit = &other;
  writer.Put(" tick=");
  writer.PutNumber(layout.tick_us / unit->us);
  writer.Put(unit->name);
  writer.PutField(" time=", layout.timestamp_bits);
  if (layout.sequence_first) writer.PutField(" seq=", layout.sequence_bits);
  writer.PutField(" datacenter=", layout.datacenter_bits);
  writer.PutField(" worker=", layout.worker_bits);
  if (!layout.sequence_first) writer.PutField(" seq=", layout.sequence_bits);
}

bool IsCanonical(std::string_view text, const DefinitionReading &reading) {
  if (reading.fault != DefinitionFault::kNone || !reading.definition.IsPlain()) return false;
  char canonical[kMaxDefinition];
  WriteDefinition(reading.definition.layout, canonical);
  return text == canonical;
}

}  // namespace snowflake

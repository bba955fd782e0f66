// Layouts as text: those of databases, and of ids of systems that no named layout describes.
//
//     epoch=1582136402000 tick=1ms time=51 worker=6 seq=6
//
// The epoch is in milliseconds since 1970, or a day, both in UTC, so that the text means the same
// in every session. The fields are in the order of their bits, from the highest down: `time`,
// `datacenter`, `worker`, `seq`, and `skip` for bits that mean something else. Systems that split
// the time have `sec` and `ms` instead of `time`. Without `tick`, a tick is a millisecond.
//
// A layout has one canonical text, which is stored and sent. Layouts are compared as they are read:
// a released text keeps its meaning, but a later version may read more.
#pragma once

#include <string_view>

#include "core/layout.h"

namespace snowflake {
enum class FieldKind : uint8_t { kTime, kSeconds, kMs, kDatacenter, kWorker, kSequence, kSkip };

struct IdField {
  FieldKind kind;
  int32_t bits;
};

inline constexpr int kMaxFields = 12;

struct LayoutDefinition {
  Layout layout;  // of these fields, in the order that all layouts have
  int32_t field_count;
  IdField fields[kMaxFields];

  // Whether the layout itself has the fields in this order.
  bool IsPlain() const;

  // Whether later ids are larger: the time is at the top, in one piece, and below the sign bit.
  bool IsOrdered() const;

  int32_t total_bits() const;

  // The highest tick that an id can have.
  Tick max_tick() const;

  PartsFault Fits(const Parts &parts) const;

  // False: no id has these bits.
  bool Unpack(int64_t id, Parts *parts) const;

  // REQUIRES: the parts fit.
  int64_t Pack(const Parts &parts) const;
};

enum class DefinitionFault {
  kNone,
  kUnknown,  // a word that does not begin with a known name
  kNumber,   // a word without a number, or with one out of its limits
  kTwice,    // a word that comes twice
  kMissing,  // epoch, or time
  kSplit,    // sec and ms do not come together, or with time or tick, or ms is too narrow
  kTooMany,  // fields
  kTooWide,  // more than 64 bits
  kLayout,   // what Layout::Fault() says
};

struct DefinitionReading {
  LayoutDefinition definition;
  DefinitionFault fault;
  std::string_view word;  // that is wrong or missing
};

// Names of layouts have none.
inline bool IsDefinition(std::string_view text) { return text.find('=') != std::string_view::npos; }

DefinitionReading ReadDefinition(std::string_view text);

// Long enough for each canonical text, with its 0 at the end.
inline constexpr int kMaxDefinition = 128;
void WriteDefinition(const Layout &layout, char *text);

// Whether a text is the one that its layout is written as.
bool IsCanonical(std::string_view text, const DefinitionReading &reading);

}  // namespace snowflake

// Ids as text: short, exact in languages whose numbers have 53 bits, and in the order of the ids.
//
// 1. An id 0 .. 2^63 - 1 has exactly one text in each encoding, and reading returns the id.
//    Negative ids have none: the digits after a sign would sort the other way.
// 2. All texts of an encoding have one width and their digits rise in ASCII order, so that bytes
//    compare (memcmp, the C collation, strings in JavaScript) as ids do.
// 3. Reading takes all digits or none: if one was lost while copying, the rest would be another id.
//    Only what people change may vary: case, if only one is used, and Crockford's look-alikes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace snowflake {
inline constexpr int32_t kMaxTextWidth = 13;

struct TextEncoding {
  const char *name;
  const char *digits;  // from 0 up
  int32_t base;
  int32_t width;
  bool any_case;       // whether letters of the other case are read as well
  int8_t values[256];  // what each byte is worth, or one of:

  static constexpr int8_t kForeign = -1;
  static constexpr int8_t kIgnored = -2;
};

enum class TextFault {
  kNone,
  kForeign,  // a byte that is neither a digit nor ignored
  kWidth,    // not as many digits as every id has
  kTooBig,   // beyond 2^63 - 1
};

struct TextReading {
  TextFault fault;
  int64_t id;      // for kNone
  int64_t digits;  // how many there are, before the foreign byte if there is one
  size_t at;       // where the foreign byte is, for kForeign
};

// In the order in which they are shown: base32 (13 digits), base58 (11), base62 (11).
inline constexpr int32_t kTextEncodingCount = 3;
extern const TextEncoding kTextEncodings[kTextEncodingCount];

// Null for an unknown name.
const TextEncoding *FindTextEncoding(std::string_view name);

// The text without its first bytes, of which there are at least `count`. Unlike substr() it never
// throws, and needs nothing of the C++ runtime.
constexpr std::string_view TextFrom(std::string_view text, size_t count) {
  text.remove_prefix(count);
  return text;
}

inline const TextEncoding &Base58() { return kTextEncodings[1]; }

// Writes `encoding.width` bytes. The id must not be negative.
void WriteText(const TextEncoding &encoding, int64_t id, char *out);

TextReading ReadText(const TextEncoding &encoding, std::string_view text);

// A text may have a prefix that says what it identifies, then '_'. The rules are TypeID's: a prefix
// has up to 63 of the characters a to z and '_', and '_' is neither first nor last. With the empty
// prefix there is no '_'. No digit is a '_', so the last one ends the prefix.
inline constexpr size_t kMaxPrefix = 63;

bool IsPrefix(std::string_view prefix);

struct PrefixedText {
  bool separated;  // whether there is a '_'
  std::string_view prefix;
  std::string_view digits;

  bool Has(std::string_view expected) const { return separated == !expected.empty() && prefix == expected; }
};

PrefixedText SplitPrefix(std::string_view text);

}  // namespace snowflake

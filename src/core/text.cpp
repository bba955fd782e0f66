// The alphabets of the encodings, with writing and reading.
#include "core/text.h"

#include <limits>

namespace snowflake {
namespace {
constexpr int64_t kMaxId = std::numeric_limits<int64_t>::max();

constexpr bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
constexpr char OtherCase(char c) { return static_cast<char>(c ^ ('a' ^ 'A')); }

constexpr int32_t WidthOf(int64_t base) {
  int32_t width = 0;
  for (int64_t rest = kMaxId; rest > 0; rest /= base) ++width;
  return width;
}

constexpr void Means(TextEncoding *encoding, char c, int8_t value) {
  encoding->values[static_cast<uint8_t>(c)] = value;
  if (encoding->any_case && IsLetter(c)) encoding->values[static_cast<uint8_t>(OtherCase(c))] = value;
}

constexpr TextEncoding MakeEncoding(const char *name, const char *digits, bool any_case) {
  TextEncoding encoding = {name, digits, 0, 0, any_case, {}};
  for (int8_t &value : encoding.values) value = TextEncoding::kForeign;
  for (; digits[encoding.base] != '\0'; ++encoding.base)
    Means(&encoding, digits[encoding.base], static_cast<int8_t>(encoding.base));
  encoding.width = WidthOf(encoding.base);
  return encoding;
}

// Crockford's alphabet lacks I, L, O and U; the first three are read as what they look like. His
// check symbol is not used: ids are so sparse that a mistyped one names no row.
constexpr TextEncoding MakeCrockford() {
  TextEncoding encoding = MakeEncoding("base32", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", true);
  Means(&encoding, 'I', 1);
  Means(&encoding, 'L', 1);
  Means(&encoding, 'O', 0);
  Means(&encoding, '-', TextEncoding::kIgnored);
  return encoding;
}

constexpr bool IsSound(const TextEncoding &encoding, int32_t base, int32_t width) {
  for (int32_t i = 1; i < encoding.base; ++i)
    if (encoding.digits[i - 1] >= encoding.digits[i]) return false;
  return encoding.base == base && encoding.width == width && width <= kMaxTextWidth;
}

}  // namespace

constexpr TextEncoding kTextEncodings[kTextEncodingCount] = {
    MakeCrockford(),
    // Bitcoin's alphabet: no 0, O, I, l.
    MakeEncoding("base58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", false),
    MakeEncoding("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", false),
};

static_assert(IsSound(kTextEncodings[0], 32, 13));
static_assert(IsSound(kTextEncodings[1], 58, 11));
static_assert(IsSound(kTextEncodings[2], 62, 11));

const TextEncoding *FindTextEncoding(std::string_view name) {
  for (const TextEncoding &encoding : kTextEncodings)
    if (name == encoding.name) return &encoding;
  return nullptr;
}

void WriteText(const TextEncoding &encoding, int64_t id, char *out) {
  const uint64_t base = static_cast<uint64_t>(encoding.base);
  uint64_t rest = static_cast<uint64_t>(id);
  for (int32_t i = encoding.width - 1; i >= 0; --i) {
    out[i] = encoding.digits[rest % base];
    rest /= base;
  }
}

TextReading ReadText(const TextEncoding &encoding, std::string_view text) {
  int64_t id = 0, digits = 0;
  bool too_big = false;
  for (const char &c : text) {
    const int8_t value = encoding.values[static_cast<uint8_t>(c)];
    if (value == TextEncoding::kIgnored) continue;
    if (value == TextEncoding::kForeign) return {TextFault::kForeign, 0, digits, static_cast<size_t>(&c - text.data())};
    ++digits;
    too_big |= __builtin_mul_overflow(id, encoding.base, &id) || __builtin_add_overflow(id, value, &id);
  }
  if (digits != encoding.width) return {TextFault::kWidth, 0, digits, 0};
  if (too_big) return {TextFault::kTooBig, 0, digits, 0};
  return {TextFault::kNone, id, digits, 0};
}

bool IsPrefix(std::string_view prefix) {
  if (prefix.empty()) return true;
  for (const char c : prefix)
    if ((c < 'a' || c > 'z') && c != '_') return false;
  return prefix.size() <= kMaxPrefix && prefix.front() != '_' && prefix.back() != '_';
}

PrefixedText SplitPrefix(std::string_view text) {
  const size_t end = text.rfind('_');
  if (end == std::string_view::npos) return {false, {}, text};
  return {true, {text.data(), end}, TextFrom(text, end + 1)};
}

}  // namespace snowflake

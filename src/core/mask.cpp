// Masked ids as text, and what is in a file of keys.
#include "core/mask.h"

#include "core/text.h"

namespace snowflake {
namespace {
constexpr uint64_t kHalfMask = (uint64_t{1} << kMaskHalfBits) - 1;

constexpr bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// -1: not a hexadecimal digit.
constexpr int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string_view TrimLeft(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  return text;
}

// One line, which is neither empty nor a comment.
MaskKeysReading ReadKey(std::string_view line, int line_number, MaskKeys *keys) {
  constexpr int kTooLarge = 1000000;
  const MaskKeysReading malformed = {MaskKeysFault::kMalformed, line_number, 0};
  size_t at = 0;
  int number = 0;
  for (; at < line.size() && IsDigit(line[at]); ++at)
    if (number < kTooLarge) number = number * 10 + (line[at] - '0');
  const std::string_view rest = TrimLeft(TextFrom(line, at));
  constexpr size_t kHexDigits = 2 * kMaskKeyBytes;
  if (at == 0 || rest.size() == line.size() - at || rest.size() < kHexDigits) return malformed;
  if (!TrimLeft(TextFrom(rest, kHexDigits)).empty()) return malformed;
  uint8_t bytes[kMaskKeyBytes];
  for (int i = 0; i < kMaskKeyBytes; ++i) {
    const char *digits = rest.data() + 2 * i;
    const int high = HexValue(digits[0]), low = HexValue(digits[1]);
    if (high < 0 || low < 0) return malformed;
    bytes[i] = static_cast<uint8_t>(high << 4 | low);
  }
  if (number < 1 || number > kMaxMaskKey) return {MaskKeysFault::kNumber, line_number, number};
  if (keys->present[number]) return {MaskKeysFault::kTwice, line_number, number};
  memcpy(keys->bytes[number], bytes, kMaskKeyBytes);
  keys->present[number] = true;
  keys->masking = number;
  return {MaskKeysFault::kNone, line_number, number};
}

}  // namespace

void WriteMasked(const Masked &masked, char *out) {
  const TextEncoding &base58 = Base58();
  const uint64_t base = static_cast<uint64_t>(base58.base);
  out[0] = base58.digits[masked.key];
  uint64_t left = masked.halves.left, right = masked.halves.right;
  for (int i = kMaskDigits; i > 0; --i) {
    right |= left % base << kMaskHalfBits;
    left /= base;
    out[i] = base58.digits[right % base];
    right /= base;
  }
}

MaskedReading ReadMasked(std::string_view text) {
  const TextEncoding &base58 = Base58();
  for (const char &c : text)
    if (base58.values[static_cast<uint8_t>(c)] == TextEncoding::kForeign)
      return {MaskedFault::kForeign, {}, static_cast<size_t>(&c - text.data())};
  if (text.size() != static_cast<size_t>(kMaskWidth)) return {MaskedFault::kWidth, {}, 0};
  uint64_t left = 0, right = 0;
  for (const char c : TextFrom(text, 1)) {
    right = right * static_cast<uint64_t>(base58.base) + static_cast<uint64_t>(base58.values[static_cast<uint8_t>(c)]);
    left = left * static_cast<uint64_t>(base58.base) + (right >> kMaskHalfBits);
    right &= kHalfMask;
  }
  // 58^14 is below 2^83, so `left` did not overflow.
  if (left > kHalfMask) return {MaskedFault::kTooBig, {}, 0};
  return {MaskedFault::kNone, {base58.values[static_cast<uint8_t>(text[0])], {left, right}}, 0};
}

MaskKeysReading ReadMaskKeys(std::string_view text, MaskKeys *keys) {
  *keys = {};
  int line_number = 0;
  while (!text.empty()) {
    ++line_number;
    size_t end = text.find('\n');
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = TrimLeft({text.data(), end});
    text.remove_prefix(end < text.size() ? end + 1 : end);
    if (line.empty() || line.front() == '#') continue;
    const MaskKeysReading reading = ReadKey(line, line_number, keys);
    if (reading.fault != MaskKeysFault::kNone) return reading;
  }
  return {keys->masking == 0 ? MaskKeysFault::kNoKey : MaskKeysFault::kNone, line_number, 0};
}

}  // namespace snowflake

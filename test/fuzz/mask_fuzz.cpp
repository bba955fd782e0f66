// Masked ids and files of keys, from arbitrary bytes. A text that can be read is the text that
// would be written, a prefix ends at the last '_', and a file is parsed like by a simple parser.
#include "core/mask.h"

#include <cstring>
#include <string>

#include "core/text.h"
#include "input.h"

namespace snowflake {
namespace {

void CheckText(std::string_view text) {
  const MaskedReading reading = ReadMasked(text);
  const size_t foreign = text.find_first_not_of(Base58().digits);
  REQUIRE((reading.fault == MaskedFault::kForeign) == (foreign != std::string_view::npos));
  if (reading.fault == MaskedFault::kForeign) {
    REQUIRE(reading.at == foreign);
  } else if (text.size() != static_cast<size_t>(kMaskWidth)) {
    REQUIRE(reading.fault == MaskedFault::kWidth);
  } else if (reading.fault == MaskedFault::kNone) {
    char written[kMaskWidth];
    WriteMasked(reading.masked, written);
    REQUIRE(text == std::string_view(written, sizeof written));
  } else {
    // The largest masked id.
    char largest[kMaskWidth];
    WriteMasked({1, {kMaskNumerals.left_count() - 1, kMaskNumerals.right_count() - 1}}, largest);
    REQUIRE(reading.fault == MaskedFault::kTooBig);
    REQUIRE(text.substr(1) > std::string_view(largest, sizeof largest).substr(1));
  }
}

void CheckPrefix(std::string_view text) {
  const PrefixedText split = SplitPrefix(text);
  REQUIRE(split.digits.find('_') == std::string_view::npos);
  REQUIRE(split.separated == (text.find('_') != std::string_view::npos));
  REQUIRE(std::string(split.prefix) + (split.separated ? "_" : "") + std::string(split.digits) == text);
  if (IsPrefix(split.prefix) && split.separated == !split.prefix.empty()) REQUIRE(split.Has(split.prefix));
  if (IsPrefix(text)) REQUIRE(SplitPrefix(std::string(text) + (text.empty() ? "1" : "_1")).Has(text));
}

void CheckKeys(std::string_view text) {
  MaskKeys keys;
  const MaskKeysReading reading = ReadMaskKeys(text, &keys);
  int lines = 0;
  for (const char c : text) lines += c == '\n';
  if (!text.empty() && text.back() != '\n') ++lines;
  REQUIRE(reading.line >= 0 && reading.line <= lines);
  REQUIRE(keys.masking >= 0 && keys.masking <= kMaxMaskKey);
  REQUIRE(!keys.present[0]);
  if (keys.masking != 0) REQUIRE(keys.present[keys.masking]);
  if (reading.fault != MaskKeysFault::kNone) return;
  REQUIRE(keys.masking != 0);
  // If the keys are written again, the same keys are read.
  std::string written;
  const auto write = [&](int number) {
    constexpr const char *kDigits = "0123456789abcdef";
    written += std::to_string(number) + " ";
    for (const uint8_t byte : keys.bytes[number]) (written += kDigits[byte >> 4]) += kDigits[byte & 15];
    written += '\n';
  };
  for (int number = 1; number <= kMaxMaskKey; ++number)
    if (keys.present[number] && number != keys.masking) write(number);
  write(keys.masking);
  MaskKeys again;
  REQUIRE(ReadMaskKeys(written, &again).fault == MaskKeysFault::kNone);
  REQUIRE(again.masking == keys.masking);
  REQUIRE(std::memcmp(again.present, keys.present, sizeof keys.present) == 0);
  REQUIRE(std::memcmp(again.bytes, keys.bytes, sizeof keys.bytes) == 0);
}

void Check(Input input) {
  const int kind = static_cast<int>(input.Next<uint8_t>() % 5);
  if (kind == 0) {
    CheckText(input.Rest());
  } else if (kind == 1) {
    std::string text(kMaskWidth, '1');
    for (char &c : text) c = Base58().digits[input.Next<uint8_t>() % Base58().base];
    CheckText(text);
  } else if (kind == 2) {
    CheckPrefix(input.Rest());
  } else if (kind == 3) {
    CheckKeys(input.Rest());
  } else {
    // Nearly valid lines, which a fuzzer seldom finds by itself.
    std::string text;
    for (int line = input.Next<uint8_t>() % 5; line > 0; --line) {
      text += std::to_string(input.Next<uint8_t>() % 60) + " ";
      for (int i = 64 - (input.Next<uint8_t>() % 16 == 0); i > 0; --i)
        text += "0123456789abcdefABCDEF"[input.Next<uint8_t>() % 22];
      text += input.Next<uint8_t>() % 8 == 0 ? "\r\n" : "\n";
    }
    CheckKeys(text);
  }
}

}  // namespace
}  // namespace snowflake

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  snowflake::Check({data, size});
  return 0;
}

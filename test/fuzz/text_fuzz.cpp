// Ids as text, from arbitrary bytes. A text that can be read is the text that would be written, a
// refused text has the reported fault, and a written text can be read again. Texts are in the order
// of the ids.
#include "core/text.h"

#include <limits>
#include <string>

#include "input.h"

namespace snowflake {
namespace {

std::string Text(const TextEncoding &encoding, int64_t id) {
  std::string text(static_cast<size_t>(encoding.width), '?');
  WriteText(encoding, id, text.data());
  return text;
}

// The digit that a character means, in the standard spelling; '-' if the character is ignored, 0 if
// it is foreign.
char Standard(const TextEncoding &encoding, char c) {
  const std::string_view name = encoding.name;
  if (name == "base32") {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == 'I' || c == 'L') c = '1';
    if (c == 'O') c = '0';
    if (c == '-') return c;
  }
  return c != 0 && std::strchr(encoding.digits, c) != nullptr ? c : '\0';
}

void CheckReading(const TextEncoding &encoding, std::string_view text) {
  const TextReading reading = ReadText(encoding, text);
  std::string digits;
  size_t foreign = text.size();
  for (size_t at = 0; at < text.size() && foreign == text.size(); ++at) {
    const char c = Standard(encoding, text[at]);
    if (c == '\0')
      foreign = at;
    else if (c != '-')
      digits += c;
  }
  REQUIRE(reading.digits == static_cast<int64_t>(digits.size()));
  if (foreign < text.size()) {
    REQUIRE(reading.fault == TextFault::kForeign);
    REQUIRE(reading.at == foreign);
    return;
  }
  if (digits.size() != static_cast<size_t>(encoding.width)) {
    REQUIRE(reading.fault == TextFault::kWidth);
    return;
  }
  // The order is that of the ids, so a text above the largest id's text is too large.
  if (digits > Text(encoding, std::numeric_limits<int64_t>::max())) {
    REQUIRE(reading.fault == TextFault::kTooBig);
    return;
  }
  REQUIRE(reading.fault == TextFault::kNone);
  REQUIRE(reading.id >= 0);
  REQUIRE(Text(encoding, reading.id) == digits);
}

void CheckWriting(const TextEncoding &encoding, int64_t a, int64_t b) {
  const std::string text_a = Text(encoding, a), text_b = Text(encoding, b);
  REQUIRE(ReadText(encoding, text_a).fault == TextFault::kNone);
  REQUIRE(ReadText(encoding, text_a).id == a);
  REQUIRE(ReadText(encoding, text_b).id == b);
  REQUIRE((a < b) == (text_a < text_b));
  REQUIRE((a == b) == (text_a == text_b));
  CheckReading(encoding, text_a);
}

void Check(Input input) {
  const TextEncoding &encoding = kTextEncodings[input.Below(kTextEncodingCount)];
  const int kind = static_cast<int>(input.Next<uint8_t>() % 4);
  if (kind == 0) {
    CheckReading(encoding, input.Rest());
  } else if (kind == 1) {
    // Only digits, as many as an id has, and the largest id: a fuzzer seldom finds these by itself.
    std::string text = Text(encoding, std::numeric_limits<int64_t>::max());
    if (input.Next<uint8_t>() % 2 == 0)
      for (char &c : text) c = encoding.digits[input.Next<uint8_t>() % encoding.base];
    CheckReading(encoding, text);
    char &one = text[static_cast<size_t>(input.Next<uint8_t>()) % text.size()];
    one = encoding.digits[input.Next<uint8_t>() % encoding.base];
    CheckReading(encoding, text);
    one = input.Next<char>();
    CheckReading(encoding, text);
  } else if (kind == 2) {
    const int64_t a = static_cast<int64_t>(input.Next<uint64_t>() >> 1);
    CheckWriting(encoding, a, static_cast<int64_t>(input.Next<uint64_t>() >> 1));
    CheckWriting(encoding, a, a ^ (int64_t{1} << input.Next<uint8_t>() % 63));
  } else {
    const TextEncoding *found = FindTextEncoding(input.Rest());
    const TextEncoding *expected = nullptr;
    for (const TextEncoding &known : kTextEncodings)
      if (std::string(input.Rest()) == known.name) expected = &known;
    REQUIRE(found == expected);
  }
}

}  // namespace
}  // namespace snowflake

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  snowflake::Check({data, size});
  return 0;
}

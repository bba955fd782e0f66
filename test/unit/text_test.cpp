// Ids as text: one text for each id, in the order of the ids, and no other text is read.
#include "core/text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "random.h"

namespace snowflake {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

// Small and large ids with the same frequency.
int64_t RandomId(std::mt19937_64 *random) {
  const uint64_t bits = (*random)();
  return static_cast<int64_t>((bits >> 1) >> ((*random)() % 63));
}

const TextEncoding &Named(const char *name) {
  const TextEncoding *encoding = FindTextEncoding(name);
  if (encoding == nullptr) std::abort();
  return *encoding;
}

std::string Text(const TextEncoding &encoding, int64_t id) {
  std::string text(static_cast<size_t>(encoding.width), '?');
  WriteText(encoding, id, text.data());
  return text;
}

void ExpectRead(const TextEncoding &encoding, const std::string &text, int64_t id) {
  const TextReading reading = ReadText(encoding, text);
  EXPECT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kNone)) << encoding.name << " " << text;
  EXPECT_EQ(reading.id, id) << encoding.name << " " << text;
}

TextReading ExpectFault(const TextEncoding &encoding, const std::string &text, TextFault fault) {
  const TextReading reading = ReadText(encoding, text);
  EXPECT_EQ(static_cast<int>(reading.fault), static_cast<int>(fault)) << encoding.name << " \"" << text << "\"";
  return reading;
}

// The ids at which a digit carries, and their neighbours.
std::vector<int64_t> Edges(const TextEncoding &encoding) {
  std::vector<int64_t> edges = {0, 1, 2, kMax - 1, kMax, 9007199254740991, 9007199254740992, 249788568795254815};
  for (int64_t power = encoding.base;; power *= encoding.base) {
    edges.insert(edges.end(), {power - 1, power, power + 1, kMax - power});
    if (power > kMax / encoding.base) break;
  }
  for (int bit = 0; bit < 63; ++bit) edges.insert(edges.end(), {int64_t{1} << bit, (int64_t{1} << bit) - 1});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// The value of a byte for the reader, derived again from the alphabets' definitions: -1 foreign, -2
// ignored.
int Worth(const TextEncoding &encoding, char c) {
  const std::string name = encoding.name;
  std::string digits;
  for (char d = '0'; d <= '9'; ++d) digits += d;
  for (char d = 'A'; d <= 'Z'; ++d) digits += d;
  for (char d = 'a'; d <= 'z'; ++d) digits += d;
  if (name == "base58")
    for (const char without : {'0', 'I', 'O', 'l'}) digits.erase(digits.find(without), 1);
  if (name == "base32") {
    digits = digits.substr(0, 36);
    for (const char without : {'I', 'L', 'O', 'U'}) digits.erase(digits.find(without), 1);
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == 'I' || c == 'L') c = '1';
    if (c == 'O') c = '0';
    if (c == '-') return -2;
  }
  const size_t at = digits.find(c);
  return c == '\0' || at == std::string::npos ? -1 : static_cast<int>(at);
}

TEST(Text, EncodingsHaveTheirWidths) {
  struct Expected {
    const char *name;
    int32_t base, width;
  };
  const Expected all[kTextEncodingCount] = {{"base32", 32, 13}, {"base58", 58, 11}, {"base62", 62, 11}};
  for (int i = 0; i < kTextEncodingCount; ++i) {
    EXPECT_STREQ(kTextEncodings[i].name, all[i].name);
    EXPECT_EQ(kTextEncodings[i].base, all[i].base);
    EXPECT_EQ(kTextEncodings[i].width, all[i].width);
    EXPECT_EQ(FindTextEncoding(all[i].name), &kTextEncodings[i]);
  }
}

TEST(Text, UnknownEncodings) {
  for (const char *name : {"", " ", "BASE32", "hex", "base", "base3", "base322", " base32", "base32 ", "base64", "16"})
    EXPECT_EQ(FindTextEncoding(name), nullptr) << name;
  EXPECT_EQ(FindTextEncoding(std::string_view("base58\0", 7)), nullptr);
}

// Every byte, against the alphabets' definitions.
TEST(Text, EveryByteIsWorthWhatItsAlphabetSays) {
  for (const TextEncoding &encoding : kTextEncodings)
    for (int byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      EXPECT_EQ(encoding.values[byte], Worth(encoding, c)) << encoding.name << " " << byte;
      if (byte < encoding.base) {
        EXPECT_EQ(Worth(encoding, encoding.digits[byte]), byte) << encoding.name;
      }
    }
}

// Computed with another program's arithmetic.
TEST(Text, KnownTexts) {
  struct Known {
    int64_t id;
    const char *base32, *base58, *base62;
  };
  const Known known[] = {
      {0, "0000000000000", "11111111111", "00000000000"},
      {1, "0000000000001", "11111111112", "00000000001"},
      {57, "000000000001S", "1111111111z", "0000000000v"},
      {9007199254740991, "007ZZZZZZZZZZ", "12DLNrMSKug", "00fFgnDxSe7"},
      {249788568795254815, "06XVDC4ZZX40Z", "1adWh8rfjUz", "0IS27pUcdMV"},
      {kMax, "7ZZZZZZZZZZZZ", "NQm6nKp8qFC", "AzL8n0Y58m7"},
  };
  for (const Known &k : known) {
    EXPECT_EQ(Text(Named("base32"), k.id), k.base32);
    EXPECT_EQ(Text(Named("base58"), k.id), k.base58);
    EXPECT_EQ(Text(Named("base62"), k.id), k.base62);
  }
}

TEST(Text, RoundTripAtTheEdges) {
  for (const TextEncoding &encoding : kTextEncodings)
    for (const int64_t id : Edges(encoding)) ExpectRead(encoding, Text(encoding, id), id);
}

TEST(Text, RoundTripAtRandom) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const TextEncoding &encoding : kTextEncodings)
    for (int i = 0; i < 100000; ++i) {
      const int64_t id = RandomId(&random);
      const TextReading reading = ReadText(encoding, Text(encoding, id));
      ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kNone)) << encoding.name << " " << id;
      ASSERT_EQ(reading.id, id) << encoding.name;
    }
}

TEST(Text, NothingIsWrittenBeyondTheWidth) {
  for (const TextEncoding &encoding : kTextEncodings) {
    char out[kMaxTextWidth + 2];
    std::memset(out, '#', sizeof out);
    WriteText(encoding, kMax, out + 1);
    EXPECT_EQ(out[0], '#');
    EXPECT_EQ(out[encoding.width + 1], '#') << encoding.name;
  }
}

TEST(Text, OrderIsThatOfTheIds) {
  std::mt19937_64 random = SeededRandom(20250101);
  for (const TextEncoding &encoding : kTextEncodings) {
    const std::vector<int64_t> edges = Edges(encoding);
    for (size_t i = 1; i < edges.size(); ++i)
      EXPECT_LT(std::memcmp(Text(encoding, edges[i - 1]).data(), Text(encoding, edges[i]).data(),
                            static_cast<size_t>(encoding.width)),
                0)
          << encoding.name << " " << edges[i];
    for (int i = 0; i < 20000; ++i) {
      const int64_t a = RandomId(&random);
      // Neighbouring ids differ only in their last digits.
      const int64_t b = i % 2 == 0        ? RandomId(&random)
                        : a < kMax - 5000 ? a + static_cast<int64_t>(random() % 5000)
                                          : a;
      ASSERT_EQ(a < b, Text(encoding, a) < Text(encoding, b)) << encoding.name << " " << a << " " << b;
      ASSERT_EQ(a == b, Text(encoding, a) == Text(encoding, b)) << encoding.name << " " << a << " " << b;
    }
  }
}

// Every text that differs in one byte from an id's text is another id if the byte is a digit, and
// invalid otherwise.
TEST(Text, EverySingleCorruption) {
  std::mt19937_64 random = SeededRandom(20250101);
  int64_t others = 0, foreign = 0, too_big = 0, ignored = 0;
  for (const TextEncoding &encoding : kTextEncodings)
    for (const int64_t id : {int64_t{0}, int64_t{249788568795254815}, kMax, RandomId(&random), RandomId(&random)}) {
      const std::string text = Text(encoding, id);
      for (size_t at = 0; at < text.size(); ++at)
        for (int byte = 0; byte < 256; ++byte) {
          std::string corrupted = text;
          corrupted[at] = static_cast<char>(byte);
          const TextReading reading = ReadText(encoding, corrupted);
          const int worth = Worth(encoding, corrupted[at]);
          SCOPED_TRACE(std::string(encoding.name) + " " + corrupted);
          if (worth == -1) {
            ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kForeign));
            ASSERT_EQ(reading.at, at);
            ASSERT_EQ(reading.digits, static_cast<int64_t>(at));
            ++foreign;
          } else if (worth == -2) {
            ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kWidth));
            ASSERT_EQ(reading.digits, encoding.width - 1);
            ++ignored;
          } else {
            // The exact value, in more bits than an id has.
            unsigned __int128 value = 0;
            for (const char c : corrupted)
              value = value * static_cast<unsigned>(encoding.base) + static_cast<unsigned>(Worth(encoding, c));
            if (value > static_cast<unsigned __int128>(kMax)) {
              ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kTooBig));
              ++too_big;
            } else {
              ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(TextFault::kNone));
              ASSERT_EQ(reading.id, static_cast<int64_t>(value));
              ASSERT_EQ(reading.id == id, worth == Worth(encoding, text[at]));
              ++others;
            }
          }
        }
    }
  std::cout << "trials: " << others << " read, " << foreign << " foreign, " << too_big << " too big, " << ignored
            << " ignored" << std::endl;
  EXPECT_GT(others, 0);
  EXPECT_GT(foreign, 0);
  EXPECT_GT(too_big, 0);
  EXPECT_GT(ignored, 0);
}

TEST(Text, ALostOrDoubledDigitIsNoId) {
  for (const TextEncoding &encoding : kTextEncodings) {
    const std::string text = Text(encoding, 249788568795254815);
    for (size_t at = 0; at < text.size(); ++at) {
      std::string shorter = text, longer = text;
      shorter.erase(at, 1);
      longer.insert(at, 1, text[at]);
      EXPECT_EQ(ExpectFault(encoding, shorter, TextFault::kWidth).digits, encoding.width - 1);
      EXPECT_EQ(ExpectFault(encoding, longer, TextFault::kWidth).digits, encoding.width + 1);
    }
    EXPECT_EQ(ExpectFault(encoding, "", TextFault::kWidth).digits, 0);
    const std::string zeros(100000, encoding.digits[0]);
    EXPECT_EQ(ExpectFault(encoding, zeros, TextFault::kWidth).digits, 100000) << "worth 0, and yet no id";
  }
}

TEST(Text, TheFirstIdThatIsTooBig) {
  ExpectFault(Named("base32"), "8000000000000", TextFault::kTooBig);
  ExpectFault(Named("base58"), "NQm6nKp8qFD", TextFault::kTooBig);
  ExpectFault(Named("base62"), "AzL8n0Y58m8", TextFault::kTooBig);
  for (const TextEncoding &encoding : kTextEncodings) {
    const char last = encoding.digits[encoding.base - 1];
    ExpectFault(encoding, std::string(static_cast<size_t>(encoding.width), last), TextFault::kTooBig);
  }
  ExpectFault(Named("base32"), "10000000000000", TextFault::kWidth);
}

TEST(Text, CrockfordIsForgiving) {
  const TextEncoding &base32 = Named("base32");
  const int64_t id = 249788568795254815;  // 06XVDC4ZZX40Z
  for (const char *text : {"06XVDC4ZZX40Z", "06xvdc4zzx40z", "O6XVDC4ZZX4oZ", "06xV-Dc4Z-ZX40-Z", "-06XVDC4ZZX40Z--",
                           "0-6-X-V-D-C-4-Z-Z-X-4-0-Z"})
    ExpectRead(base32, text, id);
  for (const char *text : {"0000000000011", "OoOoOoOoOooIl",
                           "ooooooooooo"
                           "lI",
                           "0000000000-0iL"})
    ExpectRead(base32, text, 33);
  // Hyphens are ignored, and nothing else is.
  EXPECT_EQ(ExpectFault(base32, "-", TextFault::kWidth).digits, 0);
  EXPECT_EQ(ExpectFault(base32, std::string(13, '-'), TextFault::kWidth).digits, 0);
  EXPECT_EQ(ExpectFault(base32, "06XVDC4ZZX40-", TextFault::kWidth).digits, 12);
  EXPECT_EQ(ExpectFault(base32, "--06XVDU", TextFault::kForeign).at, 7u);
  for (const char c : {'U', 'u', '*', '~', '$', '=', ' ', '\n', '_', '+', '.', '\xe2'}) {
    EXPECT_EQ(ExpectFault(base32, std::string("06XVDC4ZZX40") + c, TextFault::kForeign).at, 12u) << c;
    EXPECT_EQ(ExpectFault(base32, std::string("06XVDC4ZZX40Z") + c, TextFault::kForeign).at, 13u)
        << c << ": a check symbol, or what else follows";
  }
}

TEST(Text, OthersForgiveNothing) {
  ExpectFault(Named("base62"), "0IS27-UcdMV", TextFault::kForeign);
  for (const char c : {'0', 'O', 'I', 'l'})
    EXPECT_EQ(ExpectFault(Named("base58"), std::string("1111111111") + c, TextFault::kForeign).at, 10u);
  ExpectRead(Named("base58"), "1111111111A", 9);
  ExpectRead(Named("base58"), "1111111111a", 33);
  ExpectRead(Named("base62"), "0000000000A", 10);
  ExpectRead(Named("base62"), "0000000000a", 36);
  for (const char *text : {"0000000000-", "0000000000 ", "+0000000000", "0000000000_"})
    ExpectFault(Named("base62"), text, TextFault::kForeign);
}

TEST(Prefix, Rules) {
  for (const std::string &good : {std::string(), std::string("a"), std::string("order"), std::string("a_b"),
                                  std::string("a__b"), std::string(63, 'z')})
    EXPECT_TRUE(IsPrefix(good)) << good;
  for (const std::string &bad : {std::string("_"), std::string("_a"), std::string("a_"), std::string("A"),
                                 std::string("a1"), std::string("a-b"), std::string("a b"), std::string("\0", 1),
                                 std::string("\xc3\xa9"), std::string(64, 'z'), std::string("`"), std::string("{")})
    EXPECT_FALSE(IsPrefix(bad)) << bad;
}

TEST(Prefix, IsSplitAtTheLastUnderscore) {
  const PrefixedText text = SplitPrefix("a_b_123");
  EXPECT_TRUE(text.Has("a_b"));
  EXPECT_EQ(text.digits, "123");
  EXPECT_FALSE(text.Has("a"));
  EXPECT_FALSE(text.Has(""));
  EXPECT_TRUE(SplitPrefix("123").Has(""));
  EXPECT_FALSE(SplitPrefix("123").Has("123"));
  // An empty prefix has no '_'.
  EXPECT_FALSE(SplitPrefix("_123").Has(""));
  EXPECT_TRUE(SplitPrefix("").Has(""));
  EXPECT_EQ(SplitPrefix("order_").digits, "");
}

}  // namespace
}  // namespace snowflake

// Bytes from elsewhere as text of this database: names of hosts and databases, and a registry's
// messages. They are for people, so bytes that an encoding cannot hold are shown, not refused.
#pragma once

#include "pg/pg.h"

namespace snowflake {
enum class Alphabet {
  kOurs,   // what is valid in this database's encoding
  kAscii,  // what is valid in every database's
  kName,   // of kOurs, what every client can show on a line: SQL_ASCII says nothing of other bytes
};

// C1 is two bytes in UTF-8.
inline bool IsControl(const char *character, int length, int encoding) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (length == 1) return first < ' ' || first == 0x7f;
  return encoding == PG_UTF8 && length == 2 && first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

// Copies `from`, with each byte that is no part of a character of the alphabet as \xHH. Cut off
// before the character that would not fit into `size` bytes, with the terminating zero.
inline void CopyPresentable(char *to, size_t size, const char *from, Alphabet alphabet = Alphabet::kOurs) {
  const int encoding = GetDatabaseEncoding();
  const bool takes_others = alphabet == Alphabet::kOurs || (alphabet == Alphabet::kName && encoding != PG_SQL_ASCII);
  size_t left = strnlen(from, size);
  while (left > 0) {
    int length = 1;
    bool valid = !IS_HIGHBIT_SET(*from);
    if (!valid && takes_others) {
      length = pg_encoding_verifymbchar(encoding, from, static_cast<int>(left));
      valid = length > 0;
    }
    if (alphabet == Alphabet::kName) valid = valid && !IsControl(from, length, encoding);
    if (!valid) length = 1;
    const size_t written = valid ? length : strlen("\\xff");
    if (written >= size) break;
    if (valid)
      memcpy(to, from, written);
    else
      snprintf(to, size, "\\x%02x", static_cast<unsigned char>(*from));
    to += written;
    size -= written;
    from += length;
    left -= length;
  }
  *to = '\0';
}

}  // namespace snowflake

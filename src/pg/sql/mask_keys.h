// The keys that mask ids: the check and the assignment of snowflake.mask_key_file. PostgreSQL calls
// both at the start of the server and at every reload, also if the value is the same. So a file
// that changed is read again. If it is refused, the old keys stay.
#pragma once

#include "core/mask.h"
#include "pg/pg.h"

namespace snowflake {
bool CheckMaskKeyFile(char **value, void **extra, GucSource source);
void AssignMaskKeyFile(const char *value, void *extra);

// Called once per load of the library, when the setting is defined.
void WatchMaskKeyFile();

// The keys of this process, or null.
const MaskKeys *CurrentMaskKeys();

// Whether the newest reload, or the start, refused the file.
bool MaskKeysAreRefused();

}  // namespace snowflake

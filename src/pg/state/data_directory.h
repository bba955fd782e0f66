// Files of the data directory for the next start of the server. Of the first two kinds there is one
// for each database, with its OID as its name, in a folder for each kind.
//
// 1. snowflake.databases has an empty file for each database that issued ids. It is a hint: a
//    missing file delays the first call until a keeper has started, a wrong one starts a keeper
//    that ends. So nothing about it is an error or a wait. It is written when a keeper puts its
//    first lease in place, and removed with the extension. The next start removes those of dropped
//    databases, and a clean shutdown removes it if the server ran for more than a day and the
//    database issued nothing. The folder goes with the last file.
// 2. snowflake.horizons has a file for each database whose horizon was requested, which is needed
//    if the black box is lost: a limit, some seconds ahead of the node's clock. No horizon above it
//    is reported. It is written under the horizon's `file_lock`, by the database's keeper or to
//    take the horizon back, and synced to disk. In a copy of the data directory it does no harm:
//    that node's clock begins no further ahead. The next start removes those of dropped databases.
// 3. snowflake.clock has what the server knows of the time (server_clock.h).
#pragma once

#include "core/box.h"
#include "pg/pg.h"

namespace snowflake {
// Databases that issued ids. In the postmaster, before recovery: at most so many.
void ForEachIssuer(int most, void (*start)(Oid database));
// Whether there is any; in a copy of a data directory, of the original.
bool HasIssuer();
void NoteIssuer(Oid database);
void ForgetIssuer(Oid database);

// Horizons; skips files that are not whole.
void ForEachKeptHorizon(void (*visit)(const KeptHorizon &kept));

// Of this database; the padding of `kept` is zero. False: it is not written. The first of several
// failures is logged.
bool WriteKeptHorizon(const KeptHorizon &kept);

// What the server knows of the time.
struct ClockRecord {
  int64_t known_us;
  int64_t counts_alone;  // 1: other signs of life may be of a wrong clock
};
// False: there is none that is whole.
bool ReadClockRecord(ClockRecord *record);
// `durably`: no loss of power undoes it. False: it is not written. The first of several failures is
// logged.
bool WriteClockRecord(const ClockRecord &record, bool durably);

}  // namespace snowflake

// Lives and settling, as core/ring.h decides them: this reads and writes snowflake_origin.
//
// All inside AsOwner(). The registry's lock, which one acquire after the other holds, is taken here by
// whatever writes the record, unless it says otherwise.
#pragma once

#include "core/ring.h"
#include "pg/registry/tables.h"

namespace snowflake {

// Where this server is, now.
Here HereNow();

// Error: 55000 if the record is malformed.
Origin ReadOrigin(const Tables &tables);

void WriteOrigin(const Tables &tables, const Origin &origin);

// What an exchange brings along.
struct Notice {
  int64_t duration_us;  // asked for; 0: nothing was
  int64_t named;        // the highest lease id that the node has seen of this registry; 0: none
};

// To be called before anything is granted, moved or given back: begins a life, notices a loss, and
// records both and the longest duration. Returns the record.
Origin DetectLoss(const Tables &tables, const Layout &layout, const Notice &notice);

// The same for the one who has the registry's lock. `origin` is brought up to date; all but its
// longest duration is recorded. Returns whether there was anything.
bool DetectLossLocked(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin);

// A node named something that this registry never granted, so commits are lost. All that tells of one
// loss counts once.
void NoticeLoss(const Tables &tables, Loss loss);

// The mark of a clean shutdown is gone as soon as something comes after it.
void NoticeActivity(const Tables &tables, const Origin &origin);

// The operator's word that commits were lost; `reason` for the log.
void BeginSettling(const Tables &tables, const Layout &layout, const char *reason);

// The opposite word. Returns whether it settled, or would have.
bool EndSettling(const Tables &tables, const Layout &layout);

// All up to now is on disk, and the server is about to end.
void MarkClean(const Tables &tables, const Layout &layout);

// Writes down which server the registry is on, unless that was done.
void MakeOrigin(const Tables &tables);

}  // namespace snowflake

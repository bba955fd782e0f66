// The registry's record of its server and of lost commits, snowflake_origin, by the rules of
// core/ring.h.
//
// All inside AsOwner(). What writes the record holds the registry's lock: DetectLoss(),
// NoticeLoss() and NoticeActivity() acquire it themselves, MakeOrigin() needs none, the others
// require it.
#pragma once

#include "core/ring.h"
#include "pg/registry/tables.h"

namespace snowflake {
// Error: 55000 if the record is malformed.
Origin ReadOrigin(const Tables &tables);

void WriteOrigin(const Tables &tables, const Origin &origin);

// What an exchange names.
struct Notice {
  int64_t duration_us;  // of the lease; 0: none
  int64_t named;        // the highest lease id that the node has seen of this registry; 0: none
};

// To be called before anything is assigned, moved or released: begins a life, notices a loss, and
// records both and the longest duration. Returns the record.
Origin DetectLoss(const Tables &tables, const Layout &layout, const Notice &notice);

// What DetectLoss() does under the registry's lock: updates and records `origin`. It also notices
// rows that are gone, so it comes before an insert. Returns whether that is to be committed even if
// nothing can be assigned.
bool DetectLossLocked(const Tables &tables, const Layout &layout, const Notice &notice, Origin *origin);

// A node named something that this registry never assigned, so commits are lost. A loss counts only
// once.
void NoticeLoss(const Tables &tables, Loss loss);

// Removes the mark of a clean shutdown, because something comes after it.
void NoticeActivity(const Tables &tables, const Origin &origin);

// The operator reports that commits were lost; `reason` for the log.
void BeginSettling(const Tables &tables, const Layout &layout, const char *reason);

// The operator reports that none were lost. Returns whether the registry settled, or would have.
bool EndSettling(const Tables &tables, const Layout &layout);

// All up to now is on disk, and the server is about to end.
void MarkClean(const Tables &tables, const Layout &layout);

// Records which server the registry is on, unless that was done.
void MakeOrigin(const Tables &tables);

}  // namespace snowflake

// Settling: what a registry holds back after it lost commits, or may have, because they may have handed it out.
//
// 1. Lost commits drew in the ring's order from the newest lease that is not lost. So the order is counted from there, and
//    not from the next number of the sequence, which comes back up to 32 ahead after a promotion; and while it settles, leases
//    are drawn from the cut on, so that a second loss finds those that it took in the nearer half again. They went past what
//    a watermark ruled out at the time, so that is not counted.
// 2. What tells of a loss: another server or timeline than at the last acquire, but for one that was shut down cleanly; a lease
//    or a window's end that a node knows and the registry does not; the operator's word. Then it settles firmly: nothing
//    expires, and the nearer half of what was free is held back. All that tells of one loss halves but once: a server that runs
//    loses nothing.
// 3. A server that was started again, or took over from one that was shut down cleanly, has lost nothing, unless its files are of an
//    earlier day or the other one went on, and nothing on it can tell. Then it settles softly: the nearer half is handed
//    out, too, but last. In the other half it begins at a random place: a server that is started again and again with the same
//    files would always begin at the same one.
#pragma once

#include "core/lease.h"
#include "pg/registry/tables.h"

namespace snowflake {

// snowflake_origin, as it was found.
struct Origin {
  bool found;
  int64_t system_identifier;
  int64_t timeline;
  int64_t last_lease_id;  // of the newest lease that is not lost
  bool settled_before;
  TimestampTz settles_until;
  int64_t settling_us;
  bool soft;
  int64_t anchor_lease_id;
  Datum cuts;
  int64_t start;           // 0: the cut
  TimestampTz started_at;  // 0: not known
  TimestampTz clean_at;    // 0: not shut down cleanly since
  Tick raised_tick;
};

// Inside AsOwner().
Origin ReadOrigin(const Tables &tables);

// The same place: an empty one is made anew, and settles firmly. Nobody can have deleted it: it was lost with the files, or with a
// table that was not permanent for a while. Returns whether it was.
bool EnsureOrigin(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, Origin *origin);

// What is left of one datacenter's ring: places at offsets `cut` and beyond, counted from `anchor`, and from `start` on first.
struct Settling {
  bool active;
  bool noticed;  // in this very transaction
  bool soft;
  bool half_over;
  int64_t anchor;
  int64_t cut;
  int64_t start;
  TimestampTz until;
};

// Inside AsOwner(), with the registry's lock held: notices a loss, and says what is still held back because of one. `named`
// is the highest lease id that the asking node has seen of this registry, 0 for none. `origin` is brought up to date.
Settling Settle(const Tables &tables, const Layout &layout, int32_t datacenter, Tick now, int64_t duration_us,
                int64_t named, Origin *origin);

// Whether the server is still where it was at the last acquire.
bool IsInPlace(const Origin &origin);

// The same place, whatever is known: settles firmly from now on. `named` as above, `reason` for the log.
void BeginSettling(const Tables &tables, const Layout &layout, Tick now, int64_t duration_us, int64_t named,
                   const char *reason, Origin *origin);

// Whether a node that knows of this lease proves that commits were lost.
bool IsEvidence(const Origin &origin, int64_t named);

// Whether it settles firmly because of all that can have been lost by now.
bool IsKnownLoss(const Origin &origin);

// Ends settling, and takes this server for the one that the registry has always been on. False when there was nothing to end.
bool EndSettling(const Tables &tables);

// The same place: writes down that this lease was drawn, and at the first one where.
void WriteOrigin(const Tables &tables, int64_t lease_id);

// That all up to now is on disk and the server is about to end; and that something came after.
void MarkClean(const Tables &tables);
void UnmarkClean(const Tables &tables);

}  // namespace snowflake

// Why a call gets no id. All raise an ERROR, but for the one that says what a registry said.
#pragma once

#include "pg/issue/node_block.h"
#include "pg/report.h"

namespace snowflake {

// Why a call has no lease although it asked for one.
enum class NoLeaseReason { kKeeperSlots, kRegistry, kSingleUser, kBinaryUpgrade };

[[noreturn]] void ReportNotPreloaded();
[[noreturn]] void ReportTooManyDatabases();
[[noreturn]] void ReportSameTransaction();
[[noreturn]] void ReportRecovery();
[[noreturn]] void ReportNoHorizonHere();
[[noreturn]] void ReportHorizonOfAnotherNode();

// `error` is what the registry said last, message[0] == 0 when it has not said anything.
[[noreturn]] void ReportNoLease(NoLeaseReason reason, const RegistryError &error, int64_t waited_us);

// What the registry said last, in words for who asks: of its address and its roles only who may see all settings reads.
const char *WhatRegistrySaid(const RegistryError &error);

// `ahead_us` (Unix) is the last id's time when the clock stepped back, otherwise when the lease's window begins.
[[noreturn]] void ReportClockBehind(const Layout &layout, int64_t now_us, int64_t ahead_us, bool step_back);

// The clock stepped back, and no worker id was to be had that may be used so early; `error` as for ReportNoLease().
[[noreturn]] void ReportNothingBetter(const Layout &layout, int64_t now_us, int64_t ahead_us,
                                      const RegistryError &error);
[[noreturn]] void ReportClockStands(int64_t now_us, int64_t waited_us);

// The same where a segment has no numbers.
[[noreturn]] void ReportNoNumbers(NoLeaseReason reason, const char *segment, const RegistryError &error,
                                  int64_t waited_us);
// The current user has not the privileges of that role, or there is none of that name.
[[noreturn]] void ReportNoUsage(const char *segment, const char *role);
[[noreturn]] void ReportSegmentUsedUp(const char *segment);
[[noreturn]] void ReportSegmentCreatedHere(const char *segment);
[[noreturn]] void ReportTooManySegments();

// What PostgreSQL says itself where a function may not be called.
[[noreturn]] void ReportNoRight(Oid function);

}  // namespace snowflake

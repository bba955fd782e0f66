// The layouts of well-known systems, by name.
//
// Indexes, generated columns and bounds of partitions contain what a named layout makes of an id: a
// released entry never changes. If a system changes its layout, the new one gets another name.
#pragma once

#include <string_view>

#include "core/layout.h"

namespace snowflake {
struct NamedLayout {
  std::string_view name;  // of a literal: ends with a 0
  Layout layout;
};

// Discord's worker and process are datacenter and worker. Fields: epoch in ms, tick in us,
// timestamp, datacenter, worker and sequence bits, sequence first.
inline constexpr NamedLayout kNamedLayouts[] = {
    {"snowflake", kDefaultLayout},
    {"twitter", {1288834974657, 1000, 41, 5, 5, 12, false}},
    {"leaf", {1288834974657, 1000, 41, 0, 10, 12, false}},
    {"shardingsphere", {1477929600000, 1000, 41, 0, 10, 12, false}},
    {"cosid", {1577203200000, 1000, 41, 0, 10, 12, false}},
    {"discord", {1420070400000, 1000, 41, 5, 5, 12, false}},
    {"instagram", {1314220021721, 1000, 41, 0, 13, 10, false}},  // from the sign bit on: negative from 2046 on
    {"mastodon", {0, 1000, 47, 0, 0, 16, false}},
    {"sonyflake_1", {1409529600000, 10000, 39, 0, 16, 8, true}},
    {"sonyflake_2", {1735689600000, 10000, 39, 0, 16, 8, true}},
    {"pgedge", {1672531200000, 1000, 41, 0, 10, 12, false}},
    {"pgedge_1_0", {1672531200000, 1000, 41, 0, 10, 12, true}},
    {"uid_generator", {1463673600000, 1000000, 28, 0, 22, 13, false}},  // its time ended in November 2024
    {"clickhouse", {0, 1000, 41, 0, 10, 12, false}},
    {"cockroachdb", {1420070400000, 10, 48, 0, 15, 0, false}},
    {"yitter", {1582136402000, 1000, 51, 0, 6, 6, false}},
    {"javascript", {1735689600000, 1000, 41, 0, 5, 7, false}},  // 53 bits: exact in a double
    // aws/pgactive, src/pgactive_seq.c; from the sign bit on: negative from March 2034 on
    {"pgactive", {1475796139634, 1000, 40, 0, 10, 14, false}},
    // pgdogdev/pgdog, pgdog/src/unique_id.rs
    {"pgdog", {1764184395000, 1000, 41, 0, 10, 12, false}},
};

// nullptr: there is none.
constexpr const NamedLayout *FindNamedLayout(std::string_view name) {
  for (const NamedLayout &named : kNamedLayouts)
    if (named.name == name) return &named;
  return nullptr;
}

constexpr bool NamedLayoutsAreSound() {
  for (const NamedLayout &named : kNamedLayouts)
    if (named.layout.Fault(false) != LayoutFault::kNone || FindNamedLayout(named.name) != &named) return false;
  return true;
}
static_assert(NamedLayoutsAreSound(), "a named layout is invalid, or two have the same name");
static_assert(FindNamedLayout("snowflake")->layout == kDefaultLayout);

}  // namespace snowflake

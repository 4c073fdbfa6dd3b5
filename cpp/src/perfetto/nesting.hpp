// Begins and ends of one track as slices, nested as Perfetto's own importer does: an end belongs to the innermost open
// slice of its name and category, a slice inside one that ended ends with it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfetto/packets.hpp"

namespace wavewright::pftrace {

inline constexpr uint32_t kNoEndEvent = UINT32_MAX;

struct Slice {
    uint32_t begin_event;
    uint32_t end_event;  // kNoEndEvent = none: its begin told its end, it is a moment, or it never ended
    int64_t end_ns;      // kNoNumber = it never ended
};

// Appends the slices and moments of a track, whose events are in the order of their times, and counts ends that belong
// to nothing.
void nest(const std::vector<Event>& events, std::span<const uint32_t> of_track, std::vector<Slice>& slices,
          uint64_t& lone_ends);

}  // namespace wavewright::pftrace

// Nodes and edges of an event graph, for the files that build it, walk it and compute it again.
#pragma once

#include <cstdint>

#include "wavewright/event_graph.hpp"

namespace wavewright {

// What is stored of an edge: its Link, and a bit if nothing recorded says that it was there.
inline constexpr uint8_t kInferredBit = 0x80, kLinkMask = 0x7f;
// A thread without calls for so long may have waited for another thread, and work that starts so soon after the end of
// other work may have waited for it. Launches take 5 to 20 us, so shorter distances say nothing.
inline constexpr int64_t kQuietNs = 20'000;

// Work that starts so much later than its launch returned was held up by something else than the launch.
inline constexpr int64_t kLongLaunchNs = 1'000'000;

constexpr uint32_t start_of(uint32_t event) {
    return 2 * event;
}
constexpr uint32_t end_of(uint32_t event) {
    return 2 * event + 1;
}
// Of nodes of events, not of meetings.
constexpr bool is_start(uint32_t node) {
    return node % 2 == 0;
}
constexpr bool is_end(uint32_t node) {
    return node % 2 == 1;
}

// An edge before it has its place; those that contradict the times never get one.
struct EventGraph::Draft {
    uint32_t to, from;
    uint8_t link;
};

}  // namespace wavewright

// Trees of calls from nothing but when they began and ended.
#pragma once

#include <cstdint>
#include <span>

#include "wavewright/table.hpp"

namespace wavewright {

// The name of calls that are not nodes: what they launched counts for the call they began in.
constexpr uint32_t nameless = 0xFFFFFFFF;

// Calls sorted by thread and begin. `launch` numbers the row of the columns `launch_*` that a call caused; numbers
// beyond them mean none. `launch_begin` and `launch_end` are when its work began and ended, on the GPU's timeline; the
// first behind the second means never.
struct Calls {
    std::span<const uint32_t> thread;
    std::span<const int64_t> begin, end;
    std::span<const uint32_t> name;
    std::span<const uint32_t> launch;
    std::span<const int64_t> launch_ns, launch_count, launch_begin, launch_end;
};

#define WAVEWRIGHT_CALL_NODE_COLUMNS(X) \
    X(int32_t, parent)                  \
    X(uint32_t, name)                   \
    X(int32_t, depth)                   \
    X(int64_t, call_count)              \
    X(int64_t, total_ns)                \
    X(int64_t, self_ns)                 \
    X(int64_t, min_ns)                  \
    X(int64_t, max_ns)                  \
    X(int64_t, gpu_count)               \
    X(int64_t, gpu_ns)                  \
    X(int64_t, gpu_length_ns)           \
    X(int64_t, crossing_count)
WAVEWRIGHT_DECLARE_TABLE(CallNodes, call_nodes, WAVEWRIGHT_CALL_NODE_COLUMNS)

// One node per path of names, over all threads; parents (-1 = none) come before their children.
//
// A call lies below the innermost earlier call of its thread that lasts at least as long; of calls that begin
// together the longer one is the outer. A call that outlasts the one it began in crosses it: it becomes its sibling
// and is counted in `crossing_count`. The own time of a call is what none of its children covers. Calls that end
// before they begin have no length. One pass; `gpu_*` is what the calls of the node launched themselves, but for
// `gpu_length_ns`: for each call, from the first begin to the last end of what it and all calls within it launched.
CallNodes call_tree(const Calls& calls);

}  // namespace wavewright

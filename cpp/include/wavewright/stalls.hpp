// One pass over all executed instructions: what they stalled on, which memory operations (producers) every wait waited
// for, and how long these took. What each row of code does to the wait counters is declared by the caller
// (docs/explanation/waits.md, "Resolved waits").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "wavewright/column.hpp"

namespace wavewright {

inline constexpr size_t kStallCounters = 16;

inline constexpr uint8_t kHighestProducerKind = 29;  // higher ones count as this one

// Bits of StallGroups::key of a wait; each lower bit stands for a producer kind.
inline constexpr uint32_t kWaitUncertain = 1u << 31;  // more producers than can be told: the bits are candidates
inline constexpr uint32_t kWaitUnknown = 1u << 30;    // an operation without a known PC may be among them

// Bit of StallGroups::key of an instruction that is no wait: its port was taken while it stalled.
inline constexpr uint32_t kPortBusy = 1u << 29;

// What every code row does, one value per row. A row may occur in `wait_row` several times, once per counter.
struct StallRules {
    std::span<const uint16_t> adds;         // bit per counter that the operation adds to
    std::span<const uint8_t> order;         // operations of one number complete in order; 0 = in any order
    std::span<const uint8_t> kind;          // producer kind; 0 = an instruction that is not known
    std::span<const uint8_t> is_wait;       // 1 = a wait, even if no counter of it is known
    std::span<const uint8_t> is_end;        // 1 = ends the program
    std::span<const int64_t> line;          // number of the 64-byte line of code with its last byte; -1 = unknown
    std::span<const int32_t> wait_row;      // ascending
    std::span<const uint8_t> wait_counter;  // < kStallCounters
    std::span<const int32_t> wait_value;    // what the counter must have come down to
    uint32_t store_kinds = 0;               // bit per producer kind that writes memory
};

struct WaveStart {
    int64_t begin = 0;
    uint32_t unit = 0;  // waves of one number share the instruction cache that the trace can see
};

// The table `instructions`, and which rows of it count (empty = all); the rows of a wave follow each other.
struct StallInput {
    std::span<const uint32_t> wave;
    std::span<const int64_t> time;
    std::span<const int32_t> stall;
    std::span<const int32_t> duration;
    std::span<const uint8_t> category;
    std::span<const int32_t> row;
    std::span<const uint8_t> counted;
    std::span<const uint8_t> port_was_busy;         // of each instruction; empty = not known
    std::unordered_map<uint32_t, WaveStart> begin;  // of every wave
    int32_t free_wait_cycles = 0;                   // length of a wait that need not wait; of one issue
    bool keeps_each = false;                        // whether StallPass::each is wanted
};

// Executions of one row with one key: for a wait the bits of its producers' kinds, else the category and kPortBusy.
// `stall` and `latency` are cycles.
struct StallGroups {
    Column<int32_t> row;  // -1 = not known
    Column<uint8_t> is_wait;
    Column<uint32_t> key;
    Column<int64_t> execution_count, stalled_count, stall, stall_max, latency;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("is_wait", is_wait);
        visit("key", key);
        visit("execution_count", execution_count);
        visit("stalled_count", stalled_count);
        visit("stall_cycles_total", stall);
        visit("stall_cycles_max", stall_max);
        visit("latency_cycles_total", latency);
    }
};

// One wait row, one of its producer rows, one counter. Sums over executions, in cycles where nothing else is said.
struct StallEdges {
    Column<int32_t> row, producer_row;
    Column<uint8_t> counter;
    Column<int64_t> count;            // executions that certainly waited for the producer
    Column<int64_t> candidate_count;  // executions that may have waited for it; nothing else counts these
    // Executions whose end the producer certainly decided, and their stalls.
    Column<int64_t> last_count, last_stall, last_stall_max;
    // Executions that did not hold the wave, and their distances.
    Column<int64_t> free_count, free_distance;
    // From the producer's issue to the first attempt of the wait.
    Column<int64_t> distance, distance_min, distance_max;
    // The same in instructions.
    Column<int64_t> steps, steps_min, steps_max;
    // From the producer's issue to the end of the wait, or to its first attempt where it did not hold the wave.
    Column<int64_t> latency, latency_min, latency_max;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("producer_row", producer_row);
        visit("counter", counter);
        visit("count", count);
        visit("candidate_count", candidate_count);
        visit("last_count", last_count);
        visit("last_stall_cycles_total", last_stall);
        visit("last_stall_cycles_max", last_stall_max);
        visit("free_count", free_count);
        visit("free_distance_cycles_total", free_distance);
        visit("distance_cycles_total", distance);
        visit("distance_cycles_min", distance_min);
        visit("distance_cycles_max", distance_max);
        visit("distance_instructions_total", steps);
        visit("distance_instructions_min", steps_min);
        visit("distance_instructions_max", steps_max);
        visit("latency_cycles_total", latency);
        visit("latency_cycles_min", latency_min);
        visit("latency_cycles_max", latency_max);
    }
};

// How often an operation of a row was seen to take `latency` cycles; not tight = at most that many.
struct LatencySamples {
    Column<int32_t> row;
    Column<uint8_t> is_tight;
    Column<uint32_t> latency;
    Column<int64_t> count;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("is_tight", is_tight);
        visit("latency_cycles", latency);
        visit("count", count);
    }
};

// Why a wave had nothing to issue before an instruction.
enum class Gap : uint8_t {
    none,
    start,       // from the start of the wave to its first instruction
    cold_fetch,  // a line of code that no wave of the unit had executed when the gap began
    fetch,       // a taken branch, or another line of code
    dependency,  // on one line of code: the result of an instruction before it
    drain,       // before the end of the program, with stores in flight
};
inline constexpr size_t kGapCount = 6;

// Cycles before the executions of every row that had some, by Gap; and what the end of the program itself took.
struct IdleParts {
    Column<int32_t> row;
    std::array<Column<int64_t>, kGapCount> gap;  // the one of `none` stays empty
    Column<int64_t> ending;                      // cycles of the instruction itself that stores in flight cost

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        const auto column = [this](Gap cause) -> auto& { return gap[static_cast<size_t>(cause)]; };
        visit("start_cycles_total", column(Gap::start));
        visit("cold_fetch_cycles_total", column(Gap::cold_fetch));
        visit("fetch_cycles_total", column(Gap::fetch));
        visit("dependency_cycles_total", column(Gap::dependency));
        visit("drain_cycles_total", column(Gap::drain));
        visit("ending_cycles_total", ending);
    }
};

// One value per instruction of the input.
struct EachInstruction {
    Column<uint32_t> group;     // place in StallGroups; UINT32_MAX = does not count
    Column<uint8_t> gap;        // Gap before it
    Column<uint32_t> producer;  // of a wait: how many instructions before it the one was that ended it; 0 = not known

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("group", group);
        visit("gap", gap);
        visit("producer", producer);
    }
};

struct StallPass {
    StallGroups groups;
    StallEdges edges;
    LatencySamples samples;
    IdleParts idle;
    EachInstruction each;
};

// Never fails: rows outside the rules count as unknown, and times may be anything.
StallPass resolve_stalls(const StallRules& rules, const StallInput& input);

}  // namespace wavewright

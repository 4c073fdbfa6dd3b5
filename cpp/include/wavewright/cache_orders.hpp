// Which lines caches miss when the waves of workgroups run in a given order: the vector L1 of each CU, the L2 of each
// XCD, a last-level cache behind all of them. Used by `wavewright traffic` (docs/reference/traffic.md, "Orders of
// waves").
//
// The real order depends on the times of a GPU, which nothing here knows. So callers try orders between two extremes
// (`Order`) and report the interval of their misses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wavewright::caches {

enum class StepKind : uint8_t { load = 0, store = 1, barrier = 2 };

// One memory instruction of a wave, or a barrier. A barrier has no blocks.
struct Step {
    StepKind kind = StepKind::load;
    uint32_t gap = 1;          // instructions since the step before; in lockstep: turns since then
    uint32_t move = 0;         // which of the moves of its workgroup is added to the lines of its blocks
    uint32_t first_block = 0;  // in Work::blocks
    uint32_t block_count = 0;
};

// Neighbouring lines that are always asked for together.
struct LineBlock {
    int64_t line = 0;  // of the first one, before the move
    uint32_t count = 1;
};

struct Wave {
    uint32_t first_step = 0;  // in Work::steps
    uint32_t end_step = 0;    // behind its last step
};

// Workgroups that execute the same steps at lines that differ by their moves only.
struct Kind {
    uint32_t first_wave = 0;  // in Work::waves
    uint32_t end_wave = 0;    // behind its last wave
};

struct Workgroup {
    uint32_t kind = 0;
    uint64_t first_move = 0;  // in Work::moves: Step::move counts from here
};

// A dispatch, flattened: workgroups refer to kinds, kinds to waves, waves to steps, steps to blocks.
struct Work {
    std::vector<Step> steps;
    std::vector<LineBlock> blocks;
    std::vector<Wave> waves;
    std::vector<Kind> kinds;
    std::vector<Workgroup> workgroups;  // in the order in which they are launched, to the XCDs in turn
    std::vector<int64_t> moves;         // in lines
};

struct Machine {
    uint32_t xcds = 1;
    uint32_t simulated_xcds = 1;        // the first of them; workgroups of the others are passed over
    uint32_t cus = 1;                   // of an XCD
    uint32_t residents = 1;             // workgroups that a CU runs at a time
    uint32_t l1_sets = 0, l1_ways = 0;  // 0 = none
    uint32_t l2_sets = 0, l2_ways = 0;  // 0 = keeps everything
    uint64_t last_level_lines = 0;      // 0 = none
};

// Which wave takes its next step.
//
// Lockstep (`queue_depth` 0): every wave takes one step per turn, so that all of them touch the same part of their work
// at a time. Queues (1 or more): each CU has a queue for this many accesses; waves that find it full are let in again
// the oldest first. Depth 1 lets the oldest wave run ahead.
struct Order {
    uint32_t queue_depth = 0;
    double drift_turns = 0;  // lockstep only: CUs start up to this many turns apart, by chance
    uint64_t seed = 1;       // of the drift, and of the spread of latencies where there are queues
};

// In lines, but for `workgroups`.
struct Misses {
    uint64_t reads = 0;  // asked of L2
    uint64_t writes = 0;
    uint64_t read_misses = 0;
    uint64_t write_misses = 0;
    uint64_t last_level_misses = 0;
    uint64_t evictions = 0;   // of L2
    uint64_t workgroups = 0;  // that ran to their end
};

// Throws std::invalid_argument where an index points outside of its table or a size of the machine is absurd.
Misses simulate(const Work& work, const Machine& machine, const Order& order);

}  // namespace wavewright::caches

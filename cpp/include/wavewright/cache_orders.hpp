// What caches miss when workgroups run in some order: vector L1 of each CU, L2 of each XCD, a last-level cache behind
// all of them. Nothing here knows the time of a GPU; orders between extremes are tried, and their misses compared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wavewright::caches {

enum class StepKind : uint8_t { load = 0, store = 1, barrier = 2 };

// One memory instruction of a wave, or a barrier.
struct Step {
    StepKind kind = StepKind::load;
    uint32_t gap = 1;    // instructions since the step before; cycles where all take a step at a time
    uint32_t move = 0;   // which of the moves of its workgroup moves it
    uint32_t first = 0;  // of its blocks
    uint32_t count = 0;
};

// Lines side by side that are always asked for together.
struct LineBlock {
    int64_t line = 0;
    uint32_t count = 1;
};

struct Wave {
    uint32_t first = 0;  // of its steps
    uint32_t end = 0;
};

// Workgroups that do the same at other lines.
struct Kind {
    uint32_t first = 0;  // of its waves
    uint32_t end = 0;
};

struct Workgroup {
    uint32_t kind = 0;
    uint64_t moves = 0;  // place of its first move
};

struct Work {
    std::vector<Step> steps;
    std::vector<LineBlock> blocks;
    std::vector<Wave> waves;
    std::vector<Kind> kinds;
    std::vector<Workgroup> workgroups;  // in the order in which they are launched
    std::vector<int64_t> moves;         // lines
};

struct Machine {
    uint32_t xcds = 1;
    uint32_t simulated_xcds = 1;        // the first of them
    uint32_t cus = 1;                   // of an XCD
    uint32_t residents = 1;             // workgroups of a CU at a time
    uint32_t l1_sets = 0, l1_ways = 0;  // 0 = none
    uint32_t l2_sets = 0, l2_ways = 0;  // 0 = keeps everything
    uint64_t last_level_lines = 0;      // 0 = none
};

struct Order {
    uint32_t depth = 0;  // memory instructions that a CU takes in order, then the oldest wave; 0 = step by step
    double drift = 0;    // steps by which CUs start apart at most, where all go step by step
    uint64_t seed = 1;
};

struct Misses {
    uint64_t reads = 0;  // lines asked of L2
    uint64_t writes = 0;
    uint64_t read_misses = 0;
    uint64_t write_misses = 0;
    uint64_t last_level_misses = 0;
    uint64_t evictions = 0;   // of L2
    uint64_t workgroups = 0;  // that ran to their end
};

// Throws std::invalid_argument where numbers point outside.
Misses simulate(const Work& work, const Machine& machine, const Order& order);

}  // namespace wavewright::caches

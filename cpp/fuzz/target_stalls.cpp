#include <algorithm>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/replay.hpp"
#include "wavewright/stalls.hpp"

namespace wavewright::fuzz {
namespace {

struct Rules {
    std::vector<uint16_t> adds;
    std::vector<uint8_t> order, kind, is_wait, wait_counter;
    std::vector<int32_t> wait_row, wait_value;
    std::vector<int64_t> line;
};

Rules rules_of(Bytes& rest) {
    Rules rules;
    const size_t rows = take<uint8_t>(rest) % 32;
    for (size_t row = 0; row < rows; ++row) {
        const auto what = take<uint8_t>(rest);
        const auto more = take<uint8_t>(rest);
        const bool is_wait = (what & 0x80) != 0;
        rules.adds.push_back(is_wait ? 0 : what & 0x7);
        rules.order.push_back(more & 0x3);
        rules.kind.push_back(more >> 2);
        rules.is_wait.push_back(is_wait);
        rules.line.push_back(static_cast<int64_t>(row / 4) - 1);
        for (uint8_t counter = 0; is_wait && counter < 3; ++counter) {
            if ((what >> counter & 1) == 0) continue;
            rules.wait_row.push_back(static_cast<int32_t>(row));
            rules.wait_counter.push_back(counter);
            rules.wait_value.push_back(static_cast<int8_t>(more) >> counter);
        }
    }
    return rules;
}

struct Steps {
    std::vector<uint32_t> wave;
    std::vector<int64_t> time;
    std::vector<int32_t> stall, duration, row;
    std::vector<uint8_t> category, counted;
};

Steps steps_of(Bytes rest) {
    Steps steps;
    while (!rest.empty()) {
        const auto first = take<uint8_t>(rest);
        const auto second = take<uint8_t>(rest);
        const bool is_wild = (second & 0x40) != 0;
        steps.row.push_back((first & 0x3F) == 0x3F ? -1 : first & 0x3F);
        steps.wave.push_back((steps.wave.empty() ? 0 : steps.wave.back()) + (first >> 7));
        steps.category.push_back(second & 0xF);
        steps.counted.push_back((second & 0x80) == 0);
        const int64_t before = steps.time.empty() ? 0 : steps.time.back();
        steps.time.push_back(is_wild ? take<int64_t>(rest) : static_cast<int64_t>(static_cast<uint64_t>(before) + 4));
        steps.stall.push_back(is_wild ? take<int32_t>(rest) : take<uint8_t>(rest));
        steps.duration.push_back(is_wild ? take<int32_t>(rest) : take<uint8_t>(rest));
    }
    return steps;
}

// The same steps as waves on two SIMDs of a CU, replayed with everything removed and with nothing.
void replay_steps(const Steps& steps, const StallPass& pass) {
    std::vector<uint64_t> first;
    std::vector<uint32_t> count, cu, simd;
    std::vector<int64_t> begin, end;
    std::vector<uint8_t> cause(steps.wave.size());
    for (size_t i = 0; i < steps.wave.size(); ++i) {
        cause[i] = static_cast<uint8_t>(pass.each.group[i] & 63);
        if (i == 0 || steps.wave[i] != steps.wave[i - 1]) {
            first.push_back(i);
            count.push_back(0);
            cu.push_back(0);
            simd.push_back(static_cast<uint32_t>(first.size() % 2));
            begin.push_back(steps.time[i]);
            end.push_back(steps.time[i]);
        }
        ++count.back();
        end.back() = std::max(end.back(), steps.time[i]);
    }
    ReplayInput input;
    input.time = steps.time;
    input.stall = steps.stall;
    input.duration = steps.duration;
    input.row = steps.row;
    input.category = steps.category;
    input.cause = cause;
    input.gap_cause = {pass.each.gap.begin(), pass.each.gap.size()};
    input.producer = {pass.each.producer.begin(), pass.each.producer.size()};
    input.first = first;
    input.count = count;
    input.begin = begin;
    input.end = end;
    input.cu = cu;
    input.simd = simd;
    const Replay replay(input);
    const std::vector<Removal> removals{{}, {.causes = ~uint64_t{0}, .removes_ending = true, .keeps_latency = true}};
    for (const std::vector<int64_t>& makespans : replay.without(removals))
        for (const int64_t makespan : makespans) require(makespan >= 0, "no negative time");
    for (const int64_t cycles : replay.without_issue()) require(cycles >= 0, "no negative time without issue");
    require(Replay::port_was_busy(input).size() == steps.wave.size(), "a flag for each instruction");
}

}  // namespace

void fuzz_stalls(Bytes input) {
    Bytes rest = input;
    const Rules rules = rules_of(rest);
    const Steps steps = steps_of(rest);
    const StallInput table{.wave = steps.wave,
                           .time = steps.time,
                           .stall = steps.stall,
                           .duration = steps.duration,
                           .category = steps.category,
                           .row = steps.row,
                           .counted = steps.counted,
                           .port_was_busy = steps.counted,
                           .begin = {{0, {0, 0}}, {2, {-7, 1}}},
                           .free_wait_cycles = 4,
                           .keeps_each = true};
    const StallPass pass = resolve_stalls({.adds = rules.adds,
                                           .order = rules.order,
                                           .kind = rules.kind,
                                           .is_wait = rules.is_wait,
                                           .is_end = rules.is_wait,
                                           .line = rules.line,
                                           .wait_row = rules.wait_row,
                                           .wait_counter = rules.wait_counter,
                                           .wait_value = rules.wait_value,
                                           .store_kinds = 2},
                                          table);
    int64_t counted = 0, executed = 0;
    for (const uint8_t counts : steps.counted) counted += counts;
    for (const int64_t count : pass.groups.execution_count) executed += count;
    require(counted == executed, "every counted instruction in one group");
    const StallEdges& edges = pass.edges;
    for (size_t i = 0; i < edges.row.size(); ++i) {
        require(edges.last_count[i] <= edges.count[i], "the last one is a producer");
        require(edges.count[i] + edges.candidate_count[i] > 0, "no edge without an execution");
        require(edges.count[i] == 0 || edges.steps_min[i] > 0, "a producer comes before its wait");
        require(edges.count[i] == 0 || edges.distance_min[i] <= edges.distance_max[i], "the shortest is not longer");
    }
    for (const int64_t count : pass.samples.count) require(count > 0, "no sample that was not seen");
    for (size_t gap = 1; gap < kGapCount; ++gap)
        for (const int64_t cycles : pass.idle.gap[gap]) require(cycles >= 0, "no negative gap");
    require(pass.each.group.size() == steps.wave.size(), "a value for each instruction");
    replay_steps(steps, pass);
}

}  // namespace wavewright::fuzz

#include "wavewright/cache_orders.hpp"

#include <cstdint>

#include "arrow_in.hpp"
#include "cache_orders.hpp"
#include "columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

using namespace wavewright::caches;

template <class T>
T number(const nb::dict& numbers, const char* name) {
    return numbers.contains(name) ? nb::cast<T>(numbers[name]) : T{};
}

nb::dict simulate_order(const nb::dict& work_columns, const nb::dict& machine, const nb::dict& order) {
    const auto kind = column<uint32_t>(work_columns, "kind");
    const auto gap = column<uint32_t>(work_columns, "gap");
    const auto move = column<uint32_t>(work_columns, "move");
    const auto first_block = column<uint32_t>(work_columns, "first_block");
    const auto block_count = column<uint32_t>(work_columns, "block_count");
    require_same_length(kind, gap, move, first_block, block_count);
    const auto line = column<int64_t>(work_columns, "line");
    const auto line_count = column<uint32_t>(work_columns, "line_count");
    require_same_length(line, line_count);
    const auto first_step = column<uint32_t>(work_columns, "first_step");
    const auto end_step = column<uint32_t>(work_columns, "end_step");
    require_same_length(first_step, end_step);
    const auto first_wave = column<uint32_t>(work_columns, "first_wave");
    const auto end_wave = column<uint32_t>(work_columns, "end_wave");
    require_same_length(first_wave, end_wave);
    const auto kind_of = column<uint32_t>(work_columns, "kind_of_workgroup");
    const auto first_move = column<uint64_t>(work_columns, "first_move");
    require_same_length(kind_of, first_move);
    const auto moves = column<int64_t>(work_columns, "moves");
    Machine where{.xcds = number<uint32_t>(machine, "xcds"),
                  .simulated_xcds = number<uint32_t>(machine, "simulated_xcds"),
                  .cus = number<uint32_t>(machine, "cus"),
                  .residents = number<uint32_t>(machine, "residents"),
                  .l1_sets = number<uint32_t>(machine, "l1_sets"),
                  .l1_ways = number<uint32_t>(machine, "l1_ways"),
                  .l2_sets = number<uint32_t>(machine, "l2_sets"),
                  .l2_ways = number<uint32_t>(machine, "l2_ways"),
                  .last_level_lines = number<uint64_t>(machine, "last_level_lines")};
    Order how{.queue_depth = number<uint32_t>(order, "depth"),
              .drift_turns = number<double>(order, "drift"),
              .seed = number<uint64_t>(order, "seed")};
    Misses misses;
    {
        nb::gil_scoped_release unlocked;
        Work work;
        for (size_t at = 0; at < kind.values().size(); ++at) {
            const uint32_t sort = kind.values()[at];
            work.steps.push_back({sort == 0   ? StepKind::load
                                  : sort == 1 ? StepKind::store
                                              : StepKind::barrier,
                                  gap.values()[at], move.values()[at], first_block.values()[at],
                                  block_count.values()[at]});
        }
        for (size_t at = 0; at < line.values().size(); ++at)
            work.blocks.push_back({line.values()[at], line_count.values()[at]});
        for (size_t at = 0; at < first_step.values().size(); ++at)
            work.waves.push_back({first_step.values()[at], end_step.values()[at]});
        for (size_t at = 0; at < first_wave.values().size(); ++at)
            work.kinds.push_back({first_wave.values()[at], end_wave.values()[at]});
        for (size_t at = 0; at < kind_of.values().size(); ++at)
            work.workgroups.push_back({kind_of.values()[at], first_move.values()[at]});
        work.moves.assign(moves.values().begin(), moves.values().end());
        misses = simulate(work, where, how);
    }
    nb::dict answer;
    answer["reads"] = misses.reads;
    answer["writes"] = misses.writes;
    answer["read_misses"] = misses.read_misses;
    answer["write_misses"] = misses.write_misses;
    answer["last_level_misses"] = misses.last_level_misses;
    answer["evictions"] = misses.evictions;
    answer["workgroups"] = misses.workgroups;
    return answer;
}

}  // namespace

void bind_cache_orders(nb::module_& m) {
    m.def("simulate_order", &simulate_order, "work"_a, "machine"_a, "order"_a,
          "Misses of the caches of a GPU when workgroups run in an order.");
}

}  // namespace wavewright::bind

#include "timeline.hpp"

#include <nanobind/stl/tuple.h>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/timeline.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

constexpr uint32_t kMaxBins = 1 << 20;

using BinNumbers = std::tuple<int64_t, int64_t, uint32_t>;  // begin, width, count

Bins bins_of(const BinNumbers& numbers) {
    const auto [begin, width, count] = numbers;
    const bool fits = count <= kMaxBins && width >= 1 && width <= 2 * kFarthestCycles && bounded(begin) == begin;
    if (!fits || width > (int64_t{1} << 61) / (int64_t{count} + 1)) throw nb::value_error("no such bins");
    return {begin, width, count};
}

ArrowTable state_cycles_of(nb::object group, nb::object begin, nb::object first, nb::object count, nb::object states,
                           nb::object durations, const BinNumbers& numbers) {
    const Bins bins = bins_of(numbers);
    const ArrowInput<uint32_t> groups(group), counts(count);
    const ArrowInput<int64_t> begins(begin);
    const ArrowInput<uint64_t> firsts(first);
    const ArrowInput<uint8_t> kinds(states);
    const ArrowInput<int32_t> lengths(durations);
    const WaveStates waves{groups.values(), begins.values(), firsts.values(),
                           counts.values(), kinds.values(),  lengths.values()};
    require_same_length(waves.group, waves.begin, waves.first, waves.count);
    require_same_length(waves.states, waves.durations);
    auto found = std::make_shared<CyclesOverTime>();
    {
        nb::gil_scoped_release unlocked;
        *found = state_cycles(waves, bins);
    }
    return arrow_table(*found, found);
}

PipeRules rules_of(nb::bytes of_category, uint32_t short_pipes, int32_t issue_cycles) {
    PipeRules rules;
    rules.of_category.fill(kNoPipe);
    const auto* bytes = reinterpret_cast<const uint8_t*>(of_category.c_str());
    std::copy_n(bytes, std::min(of_category.size(), rules.of_category.size()), rules.of_category.begin());
    rules.short_pipes = short_pipes;
    rules.issue_cycles = std::max(issue_cycles, 1);
    return rules;
}

nb::tuple pipe_use_of(nb::object unit, nb::object group, nb::object offset, nb::object begin, nb::object end,
                      nb::object first, nb::object count, nb::object time, nb::object stall, nb::object duration,
                      nb::object category, nb::object row, nb::bytes pipe_of_category, nb::object pipe_of_row,
                      nb::object busy_of_row, bool counts_unknown_rows, uint32_t short_pipes, int32_t issue_cycles,
                      const BinNumbers& numbers) {
    const Bins bins = bins_of(numbers);
    const ArrowInput<uint32_t> units(unit), groups(group), counts(count);
    const ArrowInput<int64_t> offsets(offset), begins(begin), ends(end), times(time);
    const ArrowInput<uint64_t> firsts(first);
    const ArrowInput<int32_t> stalls(stall), durations(duration), rows(row), row_cycles(busy_of_row);
    const ArrowInput<uint8_t> categories(category), row_pipes(pipe_of_row);
    const IssuingWaves waves{units.values(),  groups.values(),    offsets.values(),    begins.values(),
                             ends.values(),   firsts.values(),    counts.values(),     times.values(),
                             stalls.values(), durations.values(), categories.values(), rows.values()};
    require_same_length(waves.unit, waves.group, waves.offset, waves.begin, waves.end, waves.first, waves.count);
    require_same_length(waves.time, waves.stall, waves.duration, waves.category, waves.row);
    PipeRules rules = rules_of(pipe_of_category, short_pipes, issue_cycles);
    rules.of_row = row_pipes.values();
    rules.busy_of_row = row_cycles.values();
    rules.counts_unknown_rows = counts_unknown_rows;
    auto found = std::make_shared<PipeUse>();
    {
        nb::gil_scoped_release unlocked;
        *found = pipe_use(waves, rules, bins);
    }
    return nb::make_tuple(arrow_table(found->units, found), arrow_table(found->groups, found),
                          arrow_table(found->issues, found));
}

}  // namespace

void bind_timeline(nb::module_& m) {
    m.def("state_cycles", &state_cycles_of, "group"_a, "begin"_a, "first"_a, "count"_a, "states"_a, "durations"_a,
          "bins"_a, "Cycles of every state per group of waves, in all and per bin.");
    m.def("pipe_use", &pipe_use_of, "unit"_a, "group"_a, "offset"_a, "begin"_a, "end"_a, "first"_a, "count"_a, "time"_a,
          "stall"_a, "duration"_a, "category"_a, "row"_a, "pipe_of_category"_a, "pipe_of_row"_a, "busy_of_row"_a,
          "counts_unknown_rows"_a, "short_pipes"_a, "issue_cycles"_a, "bins"_a,
          "Issue and busy cycles of every pipe per unit, per group and bin; issues per unit and pipe.");
}

}  // namespace wavewright::bind

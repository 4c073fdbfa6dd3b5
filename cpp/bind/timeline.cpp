#include "timeline.hpp"

#include <nanobind/stl/tuple.h>

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "pipe_rules.hpp"
#include "wavewright/busy_times.hpp"
#include "wavewright/state_counts.hpp"
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
    const bool overflows = fits && width > (int64_t{1} << 61) / (int64_t{count} + 1);  // times of the last bins
    if (!fits || overflows) throw nb::value_error("no such bins");
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

nb::tuple pipe_use_of(nb::object unit, nb::object group, nb::object offset, nb::object begin, nb::object end,
                      nb::object first, nb::object count, nb::object time, nb::object stall, nb::object duration,
                      nb::object category, nb::object row, const PipeRecord& pipes, nb::object busy_of_row,
                      bool counts_unknown_rows, const BinNumbers& numbers) {
    const Bins bins = bins_of(numbers);
    const ArrowInput<uint32_t> units(unit), groups(group), counts(count);
    const ArrowInput<int64_t> offsets(offset), begins(begin), ends(end), times(time);
    const ArrowInput<uint64_t> firsts(first);
    const ArrowInput<int32_t> stalls(stall), durations(duration), rows(row), row_cycles(busy_of_row);
    const ArrowInput<uint8_t> categories(category);
    const PipeColumns pipe_columns(pipes);
    const IssuingWaves waves{units.values(),  groups.values(),    offsets.values(),    begins.values(),
                             ends.values(),   firsts.values(),    counts.values(),     times.values(),
                             stalls.values(), durations.values(), categories.values(), rows.values()};
    require_same_length(waves.unit, waves.group, waves.offset, waves.begin, waves.end, waves.first, waves.count);
    require_same_length(waves.time, waves.stall, waves.duration, waves.category, waves.row);
    PipeRules rules = pipe_columns.rules();
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

// A frame of waves (unit, time, start_cycles, end_cycles, first, count), one of instructions, cycles that rows occupy
// their pipe, and a frame of further issues (unit, begin, end) of a pipe.
void make_busy_times(BusyTimes* at, nb::object of_waves, nb::object of_instructions, const PipeRecord& pipes,
                     nb::object busy_of_row, nb::object more, uint8_t more_pipe, uint32_t unit_count) {
    const ArrowInput<uint32_t> unit(of_waves["unit"]), count(of_waves["count"]), more_unit(more["unit"]);
    const ArrowInput<int64_t> offset(of_waves["time"]), begin(of_waves["start_cycles"]), end(of_waves["end_cycles"]),
        time(of_instructions["time_cycles"]), more_begin(more["begin"]), more_end(more["end"]);
    const ArrowInput<uint64_t> first(of_waves["first"]);
    const ArrowInput<int32_t> stall(of_instructions["stall_cycles"]), duration(of_instructions["duration_cycles"]),
        row(of_instructions["row"]), busy_cycles(busy_of_row);
    const ArrowInput<uint8_t> category(of_instructions["category"]);
    const PipeColumns pipe_columns(pipes);
    require_same_length(unit, count, offset, begin, end, first);
    require_same_length(time, stall, duration, category, row);
    require_same_length(more_unit, more_begin, more_end);
    const IssuingWaves waves{unit.values(),  unit.values(),     offset.values(),   begin.values(),
                             end.values(),   first.values(),    count.values(),    time.values(),
                             stall.values(), duration.values(), category.values(), row.values()};
    PipeRules rules = pipe_columns.rules();
    rules.busy_of_row = busy_cycles.values();
    const MoreIssues issues{more_unit.values(), more_begin.values(), more_end.values(),
                            std::min<uint8_t>(more_pipe, kMaxPipes - 1)};
    nb::gil_scoped_release unlocked;
    new (at) BusyTimes(waves, rules, issues, unit_count);
}

struct CoveredCycles {
    Column<int64_t> cycles;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("cycles", cycles);
    }
};

// Cycles of a set in bins of some width; the last one ends where the others do, at the latest at `end`.
ArrowTable covered_bins(const BusyTimes& times, uint32_t unit, uint8_t kind, const BinNumbers& numbers, int64_t end) {
    const Bins bins = bins_of(numbers);
    const auto found = std::make_shared<CoveredCycles>();
    {
        nb::gil_scoped_release unlocked;
        const TimeSet& set = times.of(unit, kind);
        int64_t before = set.before(bins.begin);
        for (uint32_t bin = 1; bin <= bins.count; ++bin) {
            const int64_t next = set.before(std::min(bins.begin + bins.width * bin, end));
            found->cycles.push_back(next - before);
            before = next;
        }
    }
    return arrow_table(*found, found);
}

// State counts, and the columns that they are read from.
class HeldStateCounts {
  public:
    HeldStateCounts(nb::object begin, nb::object first, nb::object count, nb::object states, nb::object durations,
                    int64_t origin)
        : begins_(begin), firsts_(first), counts_(count), states_(states), durations_(durations) {
        require_same_length(begins_, firsts_, counts_);
        require_same_length(states_, durations_);
        nb::gil_scoped_release unlocked;
        made_ = std::make_unique<StateCounts>(
            WaveStates{{}, begins_.values(), firsts_.values(), counts_.values(), states_.values(), durations_.values()},
            origin);
    }

    ArrowTable bins(const BinNumbers& numbers, int64_t end, nb::bytes kinds) const {
        const Bins bins = bins_of(numbers);
        const auto* kind = reinterpret_cast<const uint8_t*>(kinds.c_str());
        const std::span<const uint8_t> wanted(kind, std::min<size_t>(kinds.size(), 256));
        const auto found = std::make_shared<StateBins>();
        {
            nb::gil_scoped_release unlocked;
            *found = made_->bins(bins, end, wanted);
        }
        ArrowTable table;
        table.owner = found;
        table.length = static_cast<int64_t>(found->wave_cycles.size());
        table.columns = {{"wave_cycles", arrow_format<int64_t>(), found->wave_cycles.data()},
                         {"low", arrow_format<int32_t>(), found->low.data()},
                         {"high", arrow_format<int32_t>(), found->high.data()}};
        return table;
    }

  private:
    ArrowInput<int64_t> begins_;
    ArrowInput<uint64_t> firsts_;
    ArrowInput<uint32_t> counts_;
    ArrowInput<uint8_t> states_;
    ArrowInput<int32_t> durations_;
    std::unique_ptr<const StateCounts> made_;
};

}  // namespace

void bind_timeline(nb::module_& m) {
    nb::class_<PipeRecord>(m, "PipeRules", "Which pipe an instruction is issued to, and for how long at least.")
        .def(
            "__init__",
            [](PipeRecord* self, nb::bytes of_category, nb::object of_row, uint32_t short_pipes, int32_t issue_cycles) {
                new (self) PipeRecord{of_category, of_row, short_pipes, issue_cycles};
            },
            nb::kw_only(), "of_category"_a, "of_row"_a, "short_pipes"_a, "issue_cycles"_a);
    m.def("state_cycles", &state_cycles_of, "group"_a, "begin"_a, "first"_a, "count"_a, "states"_a, "durations"_a,
          "bins"_a, "Cycles of every state per group of waves, in all and per bin.");
    m.def("pipe_use", &pipe_use_of, "unit"_a, "group"_a, "offset"_a, "begin"_a, "end"_a, "first"_a, "count"_a, "time"_a,
          "stall"_a, "duration"_a, "category"_a, "row"_a, "pipes"_a, "busy_of_row"_a, "counts_unknown_rows"_a, "bins"_a,
          "Issue and busy cycles of every pipe per unit, per group and bin; issues per unit and pipe.");
    nb::class_<HeldStateCounts>(m, "StateCounts")
        .def(nb::init<nb::object, nb::object, nb::object, nb::object, nb::object, int64_t>(), "begin"_a, "first"_a,
             "count"_a, "states"_a, "durations"_a, "origin"_a)
        .def("bins", &HeldStateCounts::bins, "bins"_a, "end"_a, "kinds"_a,
             "Wave-cycles, smallest and largest number of waves, state by state in every bin.");
    nb::class_<BusyTimes>(m, "BusyTimes")
        .def("__init__", &make_busy_times, "waves"_a, "instructions"_a, "rules"_a, "busy_of_row"_a, "more"_a,
             "more_pipe"_a, "unit_count"_a)
        .def("covered", &covered_bins, "unit"_a, "kind"_a, "bins"_a, "end"_a,
             "Cycles in every bin in which a pipe issues, or what the kind says.")
        .def(
            "total", [](const BusyTimes& times, uint32_t unit, uint8_t kind) { return times.of(unit, kind).total(); },
            "unit"_a, "kind"_a);
}

}  // namespace wavewright::bind

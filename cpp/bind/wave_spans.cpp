#include "wave_spans.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/wave_spans.hpp"
#include "wavewright/wave_sums.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// A frame with the columns track, time, first, count.
struct WaveColumns {
    ArrowInput<uint32_t> track;
    ArrowInput<int64_t> time;
    ArrowInput<uint64_t> first;
    ArrowInput<uint32_t> count;

    explicit WaveColumns(const nb::object& from)
        : track(from["track"]), time(from["time"]), first(from["first"]), count(from["count"]) {
        require_same_length(track, time, first, count);
    }
    PlacedWaves waves() const { return {track.values(), time.values(), first.values(), count.values()}; }
};

struct InstructionColumns {
    ArrowInput<int64_t> time;
    ArrowInput<int32_t> stall, duration;
    ArrowInput<uint8_t> category;
    ArrowInput<int32_t> row;

    explicit InstructionColumns(const nb::object& from)
        : time(from["time_cycles"]),
          stall(from["stall_cycles"]),
          duration(from["duration_cycles"]),
          category(from["category"]),
          row(from["row"]) {
        require_same_length(time, stall, duration, category, row);
    }
    TracedInstructions table() const {
        return {time.values(), stall.values(), duration.values(), category.values(), row.values()};
    }
};

// (pipe of every category, pipe of every row, short pipes, cycles of the shortest issue)
using PipeNumbers = std::tuple<nb::bytes, nb::object, uint32_t, int32_t>;

struct PipeColumns {
    PipeRules rules;
    ArrowInput<uint8_t> of_row;

    explicit PipeColumns(const PipeNumbers& from) : of_row(std::get<1>(from)) {
        const nb::bytes& of_category = std::get<0>(from);
        rules.of_category.fill(kNoPipe);
        std::copy_n(reinterpret_cast<const uint8_t*>(of_category.c_str()),
                    std::min(of_category.size(), rules.of_category.size()), rules.of_category.begin());
        rules.of_row = of_row.values();
        rules.short_pipes = std::get<2>(from);
        rules.issue_cycles = std::max(std::get<3>(from), 1);
    }
};

template <class Make>
ArrowTable made(Make&& make) {
    const auto spans = std::make_shared<WaveSpans>();
    {
        nb::gil_scoped_release unlocked;
        *spans = make();
    }
    return arrow_table(*spans, spans);
}

ArrowTable issued_of(const nb::object& waves, const nb::object& instructions, const nb::object& is_matrix,
                     const PipeNumbers& pipes, const nb::object& tracks, uint32_t pipe_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const PipeColumns pipe_columns(pipes);
    const ArrowInput<uint32_t> track_numbers(tracks);
    return made([&] {
        return issued_spans(places.waves(), columns.table(), matrix.values(), pipe_columns.rules,
                            {track_numbers.values(), pipe_count});
    });
}

std::vector<uint32_t> used_of(const nb::object& waves, const nb::object& instructions, const PipeNumbers& pipes,
                              uint32_t unit_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const PipeColumns pipe_columns(pipes);
    if (unit_count > (1U << 20)) throw nb::value_error("too many units");
    nb::gil_scoped_release unlocked;
    return used_pipes(places.waves(), columns.table(), pipe_columns.rules, unit_count);
}

// Vectors of numbers as the columns of a table.
struct Numbers {
    std::vector<std::vector<int64_t>> columns;
};

template <class... Names>
ArrowTable numbers_of(std::vector<std::vector<int64_t>> columns, Names... names) {
    const auto found = std::make_shared<Numbers>(Numbers{std::move(columns)});
    ArrowTable table;
    table.owner = found;
    table.length = static_cast<int64_t>(found->columns.front().size());
    size_t number = 0;
    (table.columns.push_back({names, arrow_format<int64_t>(), found->columns[number++].data()}), ...);
    return table;
}

ArrowTable row_cycles_of(const nb::object& waves, const nb::object& instructions, const nb::object& is_matrix,
                         uint32_t row_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    RowCycles sums;
    {
        nb::gil_scoped_release unlocked;
        sums = row_cycles(places.waves(), columns.table(), matrix.values(), row_count);
    }
    return numbers_of({std::move(sums.cycles), std::move(sums.count)}, "cycles", "count");
}

ArrowTable stall_of(const nb::object& waves, const nb::object& stall_cycles) {
    const WaveColumns places(waves);
    const ArrowInput<int32_t> stall(stall_cycles);
    std::vector<int64_t> sums;
    {
        nb::gil_scoped_release unlocked;
        sums = stall_of_waves(places.waves(), stall.values());
    }
    return numbers_of({std::move(sums)}, "stall_cycles_total");
}

// (tracks, begin, end, bits of a cell, whether overlaps are parted)
using LayerNumbers = std::tuple<uint32_t, int64_t, int64_t, uint8_t, bool>;

std::shared_ptr<SpanPyramid> pyramid_of(const SpanSource& source, size_t row_count, const LayerNumbers& numbers) {
    if (row_count > static_cast<size_t>(INT32_MAX)) throw nb::value_error("too many spans");
    const auto& [track_count, begin, end, cell_bits, parts_overlaps] = numbers;
    nb::gil_scoped_release unlocked;
    return std::make_shared<SpanPyramid>(source, SpanRules{track_count, begin, end, cell_bits, parts_overlaps});
}

std::shared_ptr<SpanPyramid> executed_pyramid(const LayerNumbers& numbers, const nb::object& waves,
                                              const nb::object& instructions, const nb::object& is_matrix) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const TracedInstructions table = columns.table();
    return pyramid_of(executed_source(places.waves(), table, matrix.values()), table.time.size(), numbers);
}

std::shared_ptr<SpanPyramid> issued_pyramid(const LayerNumbers& numbers, const nb::object& waves,
                                            const nb::object& instructions, const nb::object& is_matrix,
                                            const PipeNumbers& pipes, const nb::object& tracks, uint32_t pipe_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const PipeColumns pipe_columns(pipes);
    const ArrowInput<uint32_t> track_numbers(tracks);
    const TracedInstructions table = columns.table();
    return pyramid_of(
        issued_source(places.waves(), table, matrix.values(), pipe_columns.rules, {track_numbers.values(), pipe_count}),
        table.time.size(), numbers);
}

std::shared_ptr<SpanPyramid> state_pyramid(const LayerNumbers& numbers, const nb::object& waves,
                                           const nb::object& states) {
    const WaveColumns places(waves);
    const ArrowInput<uint8_t> kinds(states["state"]);
    const ArrowInput<int32_t> durations(states["duration_cycles"]);
    require_same_length(kinds, durations);
    return pyramid_of(state_source(places.waves(), kinds.values(), durations.values()), kinds.values().size(), numbers);
}

std::shared_ptr<SpanPyramid> stalled_pyramid(const LayerNumbers& numbers, const nb::object& waves,
                                             const nb::object& instructions, const nb::object& groups,
                                             const nb::object& kinds) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint32_t> group(groups);
    const ArrowInput<uint16_t> of_group(kinds);
    require_same_length(group, columns.time);
    const TracedInstructions table = columns.table();
    return pyramid_of(stalled_source(places.waves(), table, group.values(), of_group.values()), table.time.size(),
                      numbers);
}

using BinNumbers = std::tuple<int64_t, int64_t, uint32_t>;  // begin, width, count

Bins checked_bins(const BinNumbers& numbers, uint64_t track_count) {
    const auto [begin, width, count] = numbers;
    if (width < 1 || width > 2 * kFarthestCycles || bounded(begin) != begin || count * track_count > (1U << 27))
        throw nb::value_error("no such bins");
    return {begin, width, count};
}

// Stalled cycles, and the columns that they are read from.
class HeldStalledCycles {
  public:
    HeldStalledCycles(const nb::object& waves, const nb::object& instructions, uint32_t track_count,
                      const BinNumbers& kept)
        : places_(waves), columns_(instructions), track_count_(track_count) {
        const Bins bins = checked_bins(kept, track_count);
        nb::gil_scoped_release unlocked;
        made_ = std::make_unique<StalledCycles>(places_.waves(), columns_.table(), track_count, bins);
    }

    ArrowTable bins(const BinNumbers& numbers) const {
        const Bins bins = checked_bins(numbers, track_count_);
        std::vector<int64_t> sums;
        {
            nb::gil_scoped_release unlocked;
            sums = made_->bins(bins);
        }
        return numbers_of({std::move(sums)}, "cycles");
    }

  private:
    WaveColumns places_;
    InstructionColumns columns_;
    uint32_t track_count_;
    std::unique_ptr<const StalledCycles> made_;
};

}  // namespace

void bind_wave_spans(nb::module_& m) {
    m.attr("NO_TRACK") = kNoTrack;
    m.def("issued_spans", &issued_of, "waves"_a, "instructions"_a, "is_matrix"_a, "pipes"_a, "tracks"_a, "pipe_count"_a,
          "The pipe that every instruction is issued to, and when.");
    m.def("used_pipes", &used_of, "waves"_a, "instructions"_a, "pipes"_a, "unit_count"_a,
          "Of every unit a bit for each pipe to which anything is issued.");
    m.def("row_cycles", &row_cycles_of, "waves"_a, "instructions"_a, "is_matrix"_a, "row_count"_a,
          "Cycles and executions, by (row + 1) * 16 + kind.");
    m.def("stall_of_waves", &stall_of, "waves"_a, "stall_cycles"_a, "Stall cycles of every wave.");
    m.def("executed_pyramid", &executed_pyramid, "layer"_a, "waves"_a, "instructions"_a, "is_matrix"_a);
    m.def("issued_pyramid", &issued_pyramid, "layer"_a, "waves"_a, "instructions"_a, "is_matrix"_a, "pipes"_a,
          "tracks"_a, "pipe_count"_a);
    m.def("state_pyramid", &state_pyramid, "layer"_a, "waves"_a, "states"_a);
    m.def("stalled_pyramid", &stalled_pyramid, "layer"_a, "waves"_a, "instructions"_a, "group"_a, "kind_of_group"_a);
    nb::class_<HeldStalledCycles>(m, "StalledCycles")
        .def(nb::init<const nb::object&, const nb::object&, uint32_t, const BinNumbers&>(), "waves"_a, "instructions"_a,
             "track_count"_a, "kept"_a)
        .def("bins", &HeldStalledCycles::bins, "bins"_a, "Stalled cycles of tracks x bins.");
}

}  // namespace wavewright::bind

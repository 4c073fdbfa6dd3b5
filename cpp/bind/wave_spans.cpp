#include "wave_spans.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "pipe_rules.hpp"
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
                     const PipeRecord& pipes, const nb::object& tracks, uint32_t pipe_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const PipeColumns pipe_columns(pipes);
    const ArrowInput<uint32_t> track_numbers(tracks);
    return made([&] {
        return issued_spans(places.waves(), columns.table(), matrix.values(), pipe_columns.rules(),
                            {track_numbers.values(), pipe_count});
    });
}

std::vector<uint32_t> used_of(const nb::object& waves, const nb::object& instructions, const PipeRecord& pipes,
                              uint32_t unit_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const PipeColumns pipe_columns(pipes);
    if (unit_count > (1U << 20)) throw nb::value_error("too many units");
    nb::gil_scoped_release unlocked;
    return used_pipes(places.waves(), columns.table(), pipe_columns.rules(), unit_count);
}

struct NamedNumbers {
    const char* name;
    std::vector<int64_t> values;
};

// Columns of one length as a table.
ArrowTable table_of(std::vector<NamedNumbers> columns) {
    const auto owner = std::make_shared<std::vector<NamedNumbers>>(std::move(columns));
    ArrowTable table;
    table.owner = owner;
    table.length = static_cast<int64_t>(owner->front().values.size());
    for (const NamedNumbers& column : *owner)
        table.columns.push_back({column.name, arrow_format<int64_t>(), column.values.data()});
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
    return table_of({{"cycles", std::move(sums.cycles)}, {"count", std::move(sums.count)}});
}

ArrowTable stall_of(const nb::object& waves, const nb::object& stall_cycles) {
    const WaveColumns places(waves);
    const ArrowInput<int32_t> stall(stall_cycles);
    std::vector<int64_t> sums;
    {
        nb::gil_scoped_release unlocked;
        sums = stall_of_waves(places.waves(), stall.values());
    }
    return table_of({{"stall_cycles_total", std::move(sums)}});
}

std::shared_ptr<SpanPyramid> pyramid_of(const SpanSource& source, size_t row_count, const SpanRules& layer) {
    if (row_count > static_cast<size_t>(INT32_MAX)) throw nb::value_error("too many spans");
    nb::gil_scoped_release unlocked;
    return std::make_shared<SpanPyramid>(source, layer);
}

std::shared_ptr<SpanPyramid> executed_pyramid(const SpanRules& layer, const nb::object& waves,
                                              const nb::object& instructions, const nb::object& is_matrix) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const TracedInstructions table = columns.table();
    return pyramid_of(executed_source(places.waves(), table, matrix.values()), table.time.size(), layer);
}

std::shared_ptr<SpanPyramid> issued_pyramid(const SpanRules& layer, const nb::object& waves,
                                            const nb::object& instructions, const nb::object& is_matrix,
                                            const PipeRecord& pipes, const nb::object& tracks, uint32_t pipe_count) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    const PipeColumns pipe_columns(pipes);
    const ArrowInput<uint32_t> track_numbers(tracks);
    const TracedInstructions table = columns.table();
    return pyramid_of(issued_source(places.waves(), table, matrix.values(), pipe_columns.rules(),
                                    {track_numbers.values(), pipe_count}),
                      table.time.size(), layer);
}

std::shared_ptr<SpanPyramid> state_pyramid(const SpanRules& layer, const nb::object& waves, const nb::object& states) {
    const WaveColumns places(waves);
    const ArrowInput<uint8_t> kinds(states["state"]);
    const ArrowInput<int32_t> durations(states["duration_cycles"]);
    require_same_length(kinds, durations);
    return pyramid_of(state_source(places.waves(), kinds.values(), durations.values()), kinds.values().size(), layer);
}

std::shared_ptr<SpanPyramid> stalled_pyramid(const SpanRules& layer, const nb::object& waves,
                                             const nb::object& instructions, const nb::object& groups,
                                             const nb::object& kinds) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint32_t> group(groups);
    const ArrowInput<uint16_t> of_group(kinds);
    require_same_length(group, columns.time);
    const TracedInstructions table = columns.table();
    return pyramid_of(stalled_source(places.waves(), table, group.values(), of_group.values()), table.time.size(),
                      layer);
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
        return table_of({{"cycles", std::move(sums)}});
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

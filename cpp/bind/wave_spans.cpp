#include "wave_spans.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/wave_spans.hpp"

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

ArrowTable executed_of(const nb::object& waves, const nb::object& instructions, const nb::object& is_matrix) {
    const WaveColumns places(waves);
    const InstructionColumns columns(instructions);
    const ArrowInput<uint8_t> matrix(is_matrix);
    return made([&] { return executed_spans(places.waves(), columns.table(), matrix.values()); });
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

ArrowTable states_of(const nb::object& waves, const nb::object& states) {
    const WaveColumns places(waves);
    const ArrowInput<uint8_t> kinds(states["state"]);
    const ArrowInput<int32_t> durations(states["duration_cycles"]);
    require_same_length(kinds, durations);
    return made([&] { return state_spans(places.waves(), kinds.values(), durations.values()); });
}

}  // namespace

void bind_wave_spans(nb::module_& m) {
    m.attr("NO_TRACK") = kNoTrack;
    m.def("executed_spans", &executed_of, "waves"_a, "instructions"_a, "is_matrix"_a,
          "Track, begin, end and kind of every executed instruction.");
    m.def("issued_spans", &issued_of, "waves"_a, "instructions"_a, "is_matrix"_a, "pipes"_a, "tracks"_a, "pipe_count"_a,
          "The pipe that every instruction is issued to, and when.");
    m.def("used_pipes", &used_of, "waves"_a, "instructions"_a, "pipes"_a, "unit_count"_a,
          "Of every unit a bit for each pipe to which anything is issued.");
    m.def("state_spans", &states_of, "waves"_a, "states"_a, "Track, begin, end and kind of every state.");
}

}  // namespace wavewright::bind

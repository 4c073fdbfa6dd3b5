#include "costs.hpp"

#include <nanobind/stl/string_view.h>

#include <memory>
#include <optional>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/hidden.hpp"
#include "wavewright/jumps.hpp"
#include "wavewright/row_totals.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// The columns of the instructions table, kept where they are for as long as this lives.
class Instructions {
  public:
    explicit Instructions(nb::handle frame)
        : wave_(column(frame, "wave")),
          time_(column(frame, "time_cycles")),
          stall_(column(frame, "stall_cycles")),
          duration_(column(frame, "duration_cycles")),
          row_(column(frame, "row")),
          category_(column(frame, "category")) {
        require_same_length(wave_, time_, stall_, duration_, row_, category_);
    }

    Executed executed() const {
        return {wave_.values(), time_.values(), stall_.values(), duration_.values(), row_.values(), category_.values()};
    }

    static nb::object column(nb::handle frame, const char* name) { return frame[name]; }

  private:
    ArrowInput<uint32_t> wave_;
    ArrowInput<int64_t> time_;
    ArrowInput<int32_t> stall_, duration_, row_;
    ArrowInput<uint8_t> category_;
};

ArrowTable row_totals_of(nb::object instructions, nb::object waves, size_t row_count) {
    const Instructions columns(instructions);
    const ArrowInput<uint32_t> wave(Instructions::column(waves, "wave"));
    const ArrowInput<int64_t> begin(Instructions::column(waves, "start_cycles"));
    require_same_length(wave, begin);
    auto found = std::make_shared<RowTotals>();
    {
        nb::gil_scoped_release unlocked;
        *found = row_totals(columns.executed(), wave.values(), begin.values(), row_count);
    }
    return arrow_table(*found, found);
}

HidingRule rule_of(std::string_view name) {
    if (name == "reference") return HidingRule::reference;
    if (name == "corrected") return HidingRule::corrected;
    throw nb::value_error("rule must be reference or corrected");
}

ArrowTable hidden_latency_of(nb::object instructions, nb::object waves, nb::object other_simd, nb::object is_matrix,
                             nb::object kept, std::string_view rule_name) {
    const HidingRule rule = rule_of(rule_name);
    auto column = &Instructions::column;
    const Instructions columns(instructions);
    const ArrowInput<uint8_t> category(column(instructions, "category")), simd(column(waves, "simd")),
        matrix(is_matrix);
    std::optional<ArrowInput<uint8_t>> counted;
    if (!kept.is_none()) counted.emplace(kept);
    const ArrowInput<uint32_t> wave(column(waves, "wave"));
    const ArrowInput<int64_t> begin(column(waves, "start_cycles")), other_time(column(other_simd, "time_cycles"));
    const ArrowInput<uint16_t> se(column(waves, "se")), other_se(column(other_simd, "se")),
        other_duration(column(other_simd, "duration_cycles"));
    const HidingInput input{.executed = columns.executed(),
                            .category = category.values(),
                            .counted = counted ? counted->values() : std::span<const uint8_t>(),
                            .wave = wave.values(),
                            .se = se.values(),
                            .simd = simd.values(),
                            .begin = begin.values(),
                            .is_matrix = matrix.values(),
                            .other_se = other_se.values(),
                            .other_time = other_time.values(),
                            .other_duration = other_duration.values()};
    require_same_length(input.executed.row, input.category);
    if (counted) require_same_length(input.executed.row, input.counted);
    require_same_length(input.wave, input.se, input.simd, input.begin);
    require_same_length(input.other_se, input.other_time, input.other_duration);
    auto found = std::make_shared<HiddenLatency>();
    {
        nb::gil_scoped_release unlocked;
        *found = hidden_latency(input, rule);
    }
    return arrow_table(*found, found);
}

ArrowTable taken_jumps_of(nb::object instructions, nb::object may_jump, nb::object is_call) {
    const ArrowInput<uint32_t> wave(Instructions::column(instructions, "wave"));
    const ArrowInput<int32_t> row(Instructions::column(instructions, "row"));
    const ArrowInput<uint8_t> jumps(may_jump), calls(is_call);
    require_same_length(wave, row);
    auto found = std::make_shared<Jumps>();
    {
        nb::gil_scoped_release unlocked;
        *found = taken_jumps(wave.values(), row.values(), jumps.values(), calls.values());
    }
    return arrow_table(*found, found);
}

ArrowTable loop_iterations_of(nb::object instructions, nb::object loops, nb::object is_call) {
    const Instructions columns(instructions);
    const ArrowInput<int32_t> first(Instructions::column(loops, "first_row")),
        last(Instructions::column(loops, "last_row")), begin(Instructions::column(loops, "start_row"));
    const ArrowInput<uint8_t> calls(is_call);
    require_same_length(first, last, begin);
    std::vector<LoopSpan> spans;
    for (size_t i = 0; i < first.values().size(); ++i)
        spans.push_back({first.values()[i], last.values()[i], begin.values()[i]});
    auto found = std::make_shared<LoopIterations>();
    {
        nb::gil_scoped_release unlocked;
        *found = loop_iterations(columns.executed(), spans, calls.values());
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_costs(nb::module_& m) {
    m.def("row_totals", &row_totals_of, "instructions"_a, "waves"_a, "row_count"_a,
          "Hits, latency, stall and idle of every executed code row.");
    m.def("hidden_latency", &hidden_latency_of, "instructions"_a, "waves"_a, "other_simd"_a, "is_matrix"_a,
          "kept"_a.none(), "rule"_a,
          "Cycles of every executed code row that passed while pipes of its SIMD were busy.");
    m.def("taken_jumps", &taken_jumps_of, "instructions"_a, "may_jump"_a, "is_call"_a,
          "Pairs of code rows between which waves jumped, with counts.");
    m.def("loop_iterations", &loop_iterations_of, "instructions"_a, "loops"_a, "is_call"_a,
          "Cycles and stall of every iteration of every loop.");
}

}  // namespace wavewright::bind

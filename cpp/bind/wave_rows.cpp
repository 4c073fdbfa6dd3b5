#include "wave_rows.hpp"

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/late_causes.hpp"
#include "wavewright/wave_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

constexpr size_t kMaxRows = size_t{1} << 31;

ArrowTable paths_of(nb::object waves, nb::object rows, nb::object categories, size_t row_count) {
    const ArrowInput<uint32_t> wave_column(waves);
    const ArrowInput<int32_t> row_column(rows);
    const ArrowInput<uint8_t> category_column(categories);
    require_same_length(wave_column, row_column, category_column);
    if (row_count > kMaxRows) throw nb::value_error("too many rows");
    auto found = std::make_shared<WavePaths>();
    {
        nb::gil_scoped_release unlocked;
        *found = wave_paths(wave_column.values(), row_column.values(), category_column.values(), row_count);
    }
    return arrow_table(*found, found);
}

ArrowTable moments_of(nb::object waves, nb::object times, nb::object stalls, nb::object durations, nb::object rows,
                      nb::object categories, nb::object wave_numbers, nb::object begins, nb::object groups,
                      nb::object units) {
    const ArrowInput<uint32_t> wave_column(waves), numbers(wave_numbers), group_column(groups);
    const ArrowInput<int64_t> time_column(times), begin_column(begins);
    const ArrowInput<int32_t> stall_column(stalls), duration_column(durations), row_column(rows), unit_column(units);
    const ArrowInput<uint8_t> category_column(categories);
    const Executed executed{wave_column.values(),     time_column.values(), stall_column.values(),
                            duration_column.values(), row_column.values(),  category_column.values()};
    const WaveColumns places{numbers.values(), begin_column.values(), group_column.values()};
    require_same_length(executed.wave, executed.time, executed.stall, executed.duration, executed.row,
                        executed.category);
    require_same_length(places.waves, places.begins, places.groups);
    for (const int32_t unit : unit_column.values())
        if (unit >= 0 && static_cast<size_t>(unit) >= unit_column.values().size())
            throw nb::value_error("more units than rows");
    auto found = std::make_shared<UnitMoments>();
    {
        nb::gil_scoped_release unlocked;
        *found = unit_moments(executed, places, unit_column.values());
    }
    return arrow_table(*found, found);
}

ArrowTable causes_of(nb::object waves, nb::object times, nb::object stalls, nb::object durations, nb::object rows,
                     nb::object positions, nb::object barriers, nb::object roles, size_t row_count) {
    const ArrowInput<uint32_t> wave_column(waves), barrier_column(barriers);
    const ArrowInput<int64_t> time_column(times);
    const ArrowInput<int32_t> stall_column(stalls), duration_column(durations), row_column(rows);
    const ArrowInput<uint64_t> position_column(positions);
    const ArrowInput<uint8_t> role_column(roles);
    const Executed executed{wave_column.values(), time_column.values(), stall_column.values(), duration_column.values(),
                            row_column.values()};
    const Passages passages{position_column.values(), barrier_column.values(), role_column.values()};
    require_same_length(executed.wave, executed.time, executed.stall, executed.duration, executed.row);
    require_same_length(passages.position, passages.barrier, passages.role);
    if (row_count > kMaxRows) throw nb::value_error("too many rows");
    auto found = std::make_shared<LateCauses>();
    {
        nb::gil_scoped_release unlocked;
        *found = late_causes(executed, passages, row_count);
    }
    return arrow_table(*found, found);
}

ArrowTable excess_of(nb::object waves, nb::object stalls, nb::object rows, nb::object signed_waves, nb::object signs,
                     size_t row_count) {
    const ArrowInput<uint32_t> wave_column(waves), numbers(signed_waves);
    const ArrowInput<int32_t> stall_column(stalls), row_column(rows);
    const ArrowInput<int8_t> sign_column(signs);
    const Executed executed{wave_column.values(), {}, stall_column.values(), {}, row_column.values()};
    const SignedWaves signed_ones{numbers.values(), sign_column.values()};
    require_same_length(executed.wave, executed.stall, executed.row);
    require_same_length(signed_ones.wave, signed_ones.sign);
    if (row_count > kMaxRows) throw nb::value_error("too many rows");
    auto found = std::make_shared<StallExcess>();
    {
        nb::gil_scoped_release unlocked;
        *found = stall_excess(executed, signed_ones, row_count);
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_wave_rows(nb::module_& m) {
    m.attr("MAX_WAVE_GROUPS") = kMaxWaveGroups;
    m.def("wave_paths", &paths_of, "waves"_a, "rows"_a, "categories"_a, "row_count"_a,
          "What each wave ran: counts and a signature.");
    m.def("late_causes", &causes_of, "waves"_a, "times"_a, "stalls"_a, "durations"_a, "rows"_a, "positions"_a,
          "barriers"_a, "roles"_a, "row_count"_a,
          "Cycles at each row on the way to each barrier, of waves that came last and of the others.");
    m.def("stall_excess", &excess_of, "waves"_a, "stalls"_a, "rows"_a, "signed_waves"_a, "signs"_a, "row_count"_a,
          "Stall cycles at each row, those of waves with sign -1 taken off; waves are in the order of their numbers.");
    m.def("unit_moments", &moments_of, "waves"_a, "times"_a, "stalls"_a, "durations"_a, "rows"_a, "categories"_a,
          "wave_numbers"_a, "begins"_a, "groups"_a, "units"_a,
          "Sums over waves, and sums of squares of what each wave spent, per group of waves and unit of code.");
}

}  // namespace wavewright::bind

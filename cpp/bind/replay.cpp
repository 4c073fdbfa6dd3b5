#include "replay.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "replay_columns.hpp"
#include "wavewright/replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// From the attributes of a record of Python, which has the names of Removal's members. Its `rows` are a column of uint8
// or None.
Removal removal_of(nb::handle record) {
    return {.causes = nb::cast<uint64_t>(record.attr("causes")),
            .padding_causes = nb::cast<uint64_t>(record.attr("padding_causes")),
            .removes_barriers = nb::cast<bool>(record.attr("removes_barriers")),
            .removes_ending = nb::cast<bool>(record.attr("removes_ending")),
            .rows = {},
            .keeps_latency = nb::cast<bool>(record.attr("keeps_latency"))};
}

// Times of every CU as recorded and without each removal, times without issue by cause, and the time of all SIMDs.
nb::tuple replayed(const nb::dict& instructions, const nb::dict& waves, const nb::dict& barriers, const nb::dict& rows,
                   int32_t issue_cycles, const nb::list& records) {
    const InstructionColumns executed(instructions);
    const WaveColumns places(waves);
    const BarrierColumns meetings(barriers);
    const auto is_matrix = column<uint8_t>(rows, "is_matrix");
    const auto cycles = column<int32_t>(rows, "port_cycles");
    places.check(executed.time.values().size());
    std::vector<std::unique_ptr<ArrowInput<uint8_t>>> flags;  // what the removals point to
    std::vector<Removal> removals;
    for (const nb::handle record : records) {
        Removal& removal = removals.emplace_back(removal_of(record));
        const nb::object rows = record.attr("rows");
        if (rows.is_none()) continue;
        flags.push_back(std::make_unique<ArrowInput<uint8_t>>(rows));
        removal.rows = flags.back()->values();
    }
    std::vector<int64_t> recorded;
    std::vector<std::vector<int64_t>> results;
    std::vector<int64_t> idle;
    int64_t simd_cycles = 0;
    {
        nb::gil_scoped_release unlocked;
        ReplayInput input = places.input();
        executed.put_into(input);
        meetings.put_into(input);
        input.is_matrix = is_matrix.values();
        input.port_cycles = cycles.values();
        input.issue_cycles = issue_cycles;
        const Replay replay(input);
        recorded = replay.recorded();
        results = replay.without(removals);
        idle = replay.without_issue();
        simd_cycles = replay.simd_cycles();
    }
    return nb::make_tuple(recorded, results, idle, simd_cycles);
}

struct PortFlags {
    Column<uint8_t> was_busy;

    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("port_was_busy", was_busy);
    }
};

nb::object port_flags(const nb::dict& instructions, const nb::dict& waves, const nb::dict& rows, int32_t issue_cycles) {
    const auto time = column<int64_t>(instructions, "time_cycles");
    const auto stall = column<int32_t>(instructions, "stall_cycles");
    const auto duration = column<int32_t>(instructions, "duration_cycles");
    const auto row = column<int32_t>(instructions, "row");
    const auto category = column<uint8_t>(instructions, "category");
    require_same_length(time, stall, duration, row, category);
    const WaveColumns places(waves);
    const auto is_matrix = column<uint8_t>(rows, "is_matrix");
    const auto cycles = column<int32_t>(rows, "port_cycles");
    places.check(time.values().size());
    auto flags = std::make_shared<PortFlags>();
    {
        nb::gil_scoped_release unlocked;
        ReplayInput input = places.input();
        input.time = time.values();
        input.stall = stall.values();
        input.duration = duration.values();
        input.row = row.values();
        input.category = category.values();
        input.is_matrix = is_matrix.values();
        input.port_cycles = cycles.values();
        input.issue_cycles = issue_cycles;
        flags->was_busy = Replay::port_was_busy(input);
    }
    return nb::cast(arrow_table(*flags, flags));
}

}  // namespace

void bind_replay(nb::module_& m) {
    m.def("replay", &replayed, "instructions"_a, "waves"_a, "barriers"_a, "rows"_a, "issue_cycles"_a, "removals"_a,
          "Time of every CU as recorded, and without each of the removals; time of SIMDs without issue by cause, and "
          "all.");
    m.def("port_was_busy", &port_flags, "instructions"_a, "waves"_a, "rows"_a, "issue_cycles"_a,
          "Whether the port of each instruction was taken for at least half of its stall.");
}

}  // namespace wavewright::bind

#include "replay.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

struct InstructionColumns {
    ArrowInput<int64_t> time;
    ArrowInput<int32_t> stall, duration, row;
    ArrowInput<uint8_t> category, cause, gap_cause;
    ArrowInput<uint32_t> producer;

    explicit InstructionColumns(const nb::dict& from)
        : time(column<int64_t>(from, "time_cycles")),
          stall(column<int32_t>(from, "stall_cycles")),
          duration(column<int32_t>(from, "duration_cycles")),
          row(column<int32_t>(from, "row")),
          category(column<uint8_t>(from, "category")),
          cause(column<uint8_t>(from, "cause")),
          gap_cause(column<uint8_t>(from, "gap_cause")),
          producer(column<uint32_t>(from, "producer")) {
        require_same_length(time, stall, duration, row, category, cause, gap_cause, producer);
    }
};

struct WaveColumns {
    ArrowInput<uint64_t> first;
    ArrowInput<uint32_t> count, cu, simd;
    ArrowInput<int64_t> begin, end;

    explicit WaveColumns(const nb::dict& from)
        : first(column<uint64_t>(from, "first_instruction")),
          count(column<uint32_t>(from, "instruction_count")),
          cu(column<uint32_t>(from, "cu")),
          simd(column<uint32_t>(from, "simd")),
          begin(column<int64_t>(from, "start_cycles")),
          end(column<int64_t>(from, "end_cycles")) {
        require_same_length(first, count, cu, simd, begin, end);
    }

    ReplayInput input() const {
        ReplayInput input;
        input.first = first.values();
        input.count = count.values();
        input.begin = begin.values();
        input.end = end.values();
        input.cu = cu.values();
        input.simd = simd.values();
        return input;
    }

    // Waves must lie inside the instructions; CUs and SIMDs are numbered without holes.
    void check(size_t instructions) const {
        for (size_t wave = 0; wave < first.values().size(); ++wave) {
            const uint64_t from = first.values()[wave];
            if (from > instructions || count.values()[wave] > instructions - from)
                throw nb::value_error("a wave lies outside the instructions");
            if (cu.values()[wave] > first.values().size() || simd.values()[wave] > first.values().size())
                throw nb::value_error("CUs and SIMDs must be numbered without holes");
        }
    }
};

struct BarrierColumns {
    ArrowInput<uint64_t> place;
    ArrowInput<uint32_t> meeting;
    ArrowInput<int64_t> arrival;

    explicit BarrierColumns(const nb::dict& from)
        : place(column<uint64_t>(from, "position")),
          meeting(column<uint32_t>(from, "meeting")),
          arrival(column<int64_t>(from, "arrival")) {
        require_same_length(place, meeting, arrival);
        for (const uint32_t number : meeting.values())
            if (number > meeting.values().size()) throw nb::value_error("meetings must be numbered without holes");
    }
};

// (causes, padding causes, whether barriers, endings are removed, latencies are kept, flags per code row or None)
using Asked = std::tuple<uint64_t, uint64_t, bool, bool, bool, nb::object>;

nb::tuple replayed(const nb::dict& instructions, const nb::dict& waves, const nb::dict& barriers, const nb::dict& rows,
                   int32_t issue_cycles, const std::vector<Asked>& removals) {
    const InstructionColumns executed(instructions);
    const WaveColumns places(waves);
    const BarrierColumns meetings(barriers);
    const auto is_matrix = column<uint8_t>(rows, "is_matrix");
    const auto cycles = column<int32_t>(rows, "port_cycles");
    places.check(executed.time.values().size());
    std::vector<std::unique_ptr<ArrowInput<uint8_t>>> flags;
    std::vector<Removal> asked;
    for (const auto& [causes, padding, barrier, ending, keeps, of_rows] : removals) {
        Removal removal{.causes = causes,
                        .padding_causes = padding,
                        .removes_barriers = barrier,
                        .removes_ending = ending,
                        .rows = {},
                        .keeps_latency = keeps};
        if (!of_rows.is_none()) {
            flags.push_back(std::make_unique<ArrowInput<uint8_t>>(of_rows));
            removal.rows = flags.back()->values();
        }
        asked.push_back(removal);
    }
    std::vector<int64_t> recorded;
    std::vector<std::vector<int64_t>> results;
    std::vector<int64_t> idle;
    int64_t simd_cycles = 0;
    {
        nb::gil_scoped_release unlocked;
        ReplayInput input = places.input();
        input.time = executed.time.values();
        input.stall = executed.stall.values();
        input.duration = executed.duration.values();
        input.row = executed.row.values();
        input.category = executed.category.values();
        input.cause = executed.cause.values();
        input.gap_cause = executed.gap_cause.values();
        input.producer = executed.producer.values();
        input.is_matrix = is_matrix.values();
        input.port_cycles = cycles.values();
        input.barrier = meetings.place.values();
        input.meeting = meetings.meeting.values();
        input.arrival = meetings.arrival.values();
        input.issue_cycles = issue_cycles;
        const Replay replay(input);
        recorded = replay.recorded();
        results = replay.without(asked);
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
        flags->was_busy = Replay(input).port_was_busy();
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

#include "replay.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavescope/replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavescope::bind {
namespace {

template <class T>
ArrowInput<T> column(const nb::dict& columns, const char* name) {
    if (!columns.contains(name)) throw nb::value_error((std::string("no column ") + name).c_str());
    return ArrowInput<T>(nb::borrow(columns[name]));
}

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

// (causes, barrier causes, ending causes, whether latencies are kept, flags per code row or None)
using Asked = std::tuple<uint64_t, bool, bool, bool, nb::object>;

nb::tuple replayed(const nb::dict& instructions, const nb::dict& waves, const nb::dict& barriers,
                   const nb::dict& rows, int32_t issue_cycles, const std::vector<Asked>& removals) {
    const InstructionColumns executed(instructions);
    const WaveColumns places(waves);
    const BarrierColumns meetings(barriers);
    const auto is_matrix = column<uint8_t>(rows, "is_matrix");
    const auto cycles = column<int32_t>(rows, "port_cycles");
    places.check(executed.time.values().size());
    std::vector<std::unique_ptr<ArrowInput<uint8_t>>> flags;
    std::vector<Removal> asked;
    for (const auto& [causes, barrier, ending, keeps, of_rows] : removals) {
        Removal removal{.causes = causes, .removes_barriers = barrier, .removes_ending = ending, .rows = {},
                        .keeps_latency = keeps};
        if (!of_rows.is_none()) {
            flags.push_back(std::make_unique<ArrowInput<uint8_t>>(of_rows));
            removal.rows = flags.back()->values();
        }
        asked.push_back(removal);
    }
    std::vector<int64_t> recorded;
    std::vector<std::vector<int64_t>> results;
    auto port_stalls = std::make_shared<PortStalls>();
    {
        nb::gil_scoped_release unlocked;
        const Replay replay({.time = executed.time.values(),
                             .stall = executed.stall.values(),
                             .duration = executed.duration.values(),
                             .row = executed.row.values(),
                             .category = executed.category.values(),
                             .cause = executed.cause.values(),
                             .gap_cause = executed.gap_cause.values(),
                             .producer = executed.producer.values(),
                             .is_matrix = is_matrix.values(),
                             .port_cycles = cycles.values(),
                             .first = places.first.values(),
                             .count = places.count.values(),
                             .begin = places.begin.values(),
                             .end = places.end.values(),
                             .cu = places.cu.values(),
                             .simd = places.simd.values(),
                             .barrier = meetings.place.values(),
                             .meeting = meetings.meeting.values(),
                             .arrival = meetings.arrival.values(),
                             .issue_cycles = issue_cycles});
        recorded = replay.recorded();
        results = replay.without(asked);
        *port_stalls = replay.port_stalls();
    }
    return nb::make_tuple(recorded, results, nb::cast(arrow_table(*port_stalls, port_stalls)));
}

}  // namespace

void bind_replay(nb::module_& m) {
    m.def("replay", &replayed, "instructions"_a, "waves"_a, "barriers"_a, "rows"_a, "issue_cycles"_a, "removals"_a,
          "Time of every CU as recorded, and without each of the removals; and the stalls of code rows whose port was taken.");
}

}  // namespace wavescope::bind

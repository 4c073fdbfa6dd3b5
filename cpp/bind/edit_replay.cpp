#include "edit_replay.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "replay_columns.hpp"
#include "wavewright/edit_replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

constexpr int32_t kMostPaddingStates = 1 << 10;  // bounds the cycles of a row; s_nop has 16 at most

void require_rows_of_block(const std::vector<EditRow>& rows, int32_t first, int32_t last) {
    const auto is_outside = [&](int32_t row) { return row < first || row > last; };
    for (const EditRow& row : rows) {
        if (row.row >= 0 && is_outside(row.row)) throw nb::value_error("a row lies outside the block");
        for (const int32_t joined : row.joined)
            if (row.row < 0 || is_outside(joined)) throw nb::value_error("a joined row lies outside the block");
    }
}

EditedBlock checked_block(int32_t first, int32_t last, const std::vector<EditRow>& rows,
                          const std::vector<EditRow>& prologue, const std::vector<EditRow>& epilogue) {
    if (first < 0 || last < first) throw nb::value_error("a block has at least one row");
    for (const auto* part : {&rows, &prologue, &epilogue}) require_rows_of_block(*part, first, last);
    return {first, last, rows, prologue, epilogue};
}

// The replay, and the columns that it reads.
class KeptReplay {
  public:
    KeptReplay(const nb::dict& instructions, const nb::dict& waves, const nb::dict& barriers, const nb::dict& ports,
               const nb::dict& rules, int32_t issue_cycles)
        : executed_(instructions),
          places_(waves),
          meetings_(barriers),
          is_matrix_(column<uint8_t>(ports, "is_matrix")),
          cycles_(column<int32_t>(ports, "port_cycles")),
          adds_(column<uint16_t>(rules, "adds")),
          order_(column<uint8_t>(rules, "order")),
          is_wait_(column<uint8_t>(rules, "is_wait")),
          is_end_(column<uint8_t>(rules, "is_end")),
          unit_(column<int32_t>(rules, "unit")),
          dwords_(column<uint8_t>(rules, "dwords")),
          is_store_(column<uint8_t>(rules, "is_store")),
          key_(column<uint32_t>(rules, "key")),
          wait_row_(column<int32_t>(rules, "wait_row")),
          wait_counter_(column<uint8_t>(rules, "wait_counter")),
          wait_value_(column<int32_t>(rules, "wait_value")) {
        require_same_length(adds_, order_, is_wait_, is_end_, unit_, dwords_, is_store_, key_);
        require_same_length(wait_row_, wait_counter_, wait_value_);
        places_.check(executed_.time.values().size());
        for (const int32_t row : executed_.row.values())
            if (row >= 0 && static_cast<size_t>(row) >= adds_.values().size())
                throw nb::value_error("an instruction has no code row");
        for (const uint64_t place : meetings_.place.values())
            if (place >= executed_.time.values().size())
                throw nb::value_error("a barrier lies outside the instructions");
        ReplayInput input = places_.input();
        executed_.put_into(input);
        meetings_.put_into(input);
        input.is_matrix = is_matrix_.values();
        input.port_cycles = cycles_.values();
        input.issue_cycles = issue_cycles;
        const EditRules of_rows{.adds = adds_.values(),
                                .order = order_.values(),
                                .is_wait = is_wait_.values(),
                                .is_end = is_end_.values(),
                                .unit = unit_.values(),
                                .dwords = dwords_.values(),
                                .is_store = is_store_.values(),
                                .key = key_.values(),
                                .wait_row = wait_row_.values(),
                                .wait_counter = wait_counter_.values(),
                                .wait_value = wait_value_.values()};
        nb::gil_scoped_release unlocked;
        replay_ = std::make_unique<EditReplay>(input, of_rows);
    }

    int64_t recorded_cycles() const { return replay_->recorded_cycles(); }

    double contention_share() const { return replay_->contention_share(); }

    std::vector<FittedServer> servers() const { return {replay_->servers().begin(), replay_->servers().end()}; }

    EditTimes as_recorded() const {
        nb::gil_scoped_release unlocked;
        return replay_->as_recorded();
    }

    EditTimes with_more_waves(uint32_t more) const {
        nb::gil_scoped_release unlocked;
        return replay_->with_more_waves(more);
    }

    EditTimes edited(int32_t first, int32_t last, const std::vector<EditRow>& rows,
                     const std::vector<EditRow>& prologue, const std::vector<EditRow>& epilogue) const {
        const EditedBlock block = checked_block(first, last, rows, prologue, epilogue);
        nb::gil_scoped_release unlocked;
        return replay_->edited(block);
    }

    std::vector<EditedIssue> recorded_issues(size_t wave) const { return issues(wave, nullptr); }

    std::vector<EditedIssue> edited_issues(size_t wave, int32_t first, int32_t last,
                                           const std::vector<EditRow>& rows) const {
        const EditedBlock block = checked_block(first, last, rows, {}, {});
        return issues(wave, &block);
    }

  private:
    std::vector<EditedIssue> issues(size_t wave, const EditedBlock* block) const {
        if (wave >= places_.input().first.size()) throw nb::value_error("there is no such wave");
        nb::gil_scoped_release unlocked;
        return replay_->issues(wave, block);
    }

    InstructionColumns executed_;
    WaveColumns places_;
    BarrierColumns meetings_;
    ArrowInput<uint8_t> is_matrix_;
    ArrowInput<int32_t> cycles_;
    ArrowInput<uint16_t> adds_;
    ArrowInput<uint8_t> order_, is_wait_, is_end_;
    ArrowInput<int32_t> unit_;
    ArrowInput<uint8_t> dwords_, is_store_;
    ArrowInput<uint32_t> key_;
    ArrowInput<int32_t> wait_row_;
    ArrowInput<uint8_t> wait_counter_;
    ArrowInput<int32_t> wait_value_;
    std::unique_ptr<EditReplay> replay_;
};

// What an edit is described with.
void bind_edit(nb::module_& m) {
    nb::class_<EditWait>(m, "EditWait", "A row waits until a counter has fallen to a value.")
        .def(
            "__init__",
            [](EditWait* self, uint8_t counter, int32_t value) {
                new (self) EditWait{.counter = counter, .value = value};
            },
            nb::kw_only(), "counter"_a, "value"_a);
    nb::class_<EditEdge>(m, "EditEdge", "A result that a moved row needs before it can issue.")
        .def(
            "__init__",
            [](EditEdge* self, uint32_t producer, bool is_around, int32_t cycles, bool adds_port) {
                new (self) EditEdge{
                    .from = producer, .is_around = is_around, .cycles = std::max(0, cycles), .adds_port = adds_port};
            },
            nb::kw_only(), "producer"_a, "is_around"_a, "cycles"_a, "adds_port"_a);
    nb::class_<EditRow>(m, "EditRow",
                        "A row of an edited block: one of the code, or one that the edit puts in (row -1).")
        .def(
            "__init__",
            [](EditRow* self, int32_t row, bool is_ahead, bool is_moved, bool is_wait, int32_t padding_states,
               std::vector<EditWait> waits, std::vector<EditEdge> edges, uint8_t dwords, std::vector<int32_t> joined) {
                new (self) EditRow{.row = row,
                                   .is_ahead = is_ahead,
                                   .is_moved = is_moved,
                                   .is_wait = is_wait,
                                   .padding_states = std::clamp(padding_states, 0, kMostPaddingStates),
                                   .waits = std::move(waits),
                                   .edges = std::move(edges),
                                   .dwords = dwords,
                                   .joined = std::move(joined)};
            },
            nb::kw_only(), "row"_a, "is_ahead"_a = false, "is_moved"_a = false, "is_wait"_a = false,
            "padding_states"_a = 0, "waits"_a = std::vector<EditWait>(), "edges"_a = std::vector<EditEdge>(),
            "dwords"_a = 0, "joined"_a = std::vector<int32_t>());
}

// What a replay tells.
void bind_results(nb::module_& m) {
    nb::class_<EditTimes>(m, "EditTimes", "Times of a replay in every mode, and how far they can be trusted.")
        .def_ro("cycles", &EditTimes::cycles, "Cycles of all CUs, added up, by EditMode.")
        .def_ro("traffic_share", &EditTimes::traffic_share, "Dwords of memory that are moved more, as a share.")
        .def_ro("is_extrapolated", &EditTimes::is_extrapolated,
                "Waits have fewer operations in flight than in any recorded execution.")
        .def_ro("execution_count", &EditTimes::executions,
                "Executions of the block; with more waves the waves that start earlier.")
        .def_ro("lacking_sample_count", &EditTimes::lacking_samples,
                "Moved operations whose latency was never seen by itself.");
    nb::class_<FittedServer>(m, "FittedServer", "Memory or LDS as a queue per CU.")
        .def_ro("fitted_cycles", &FittedServer::fitted_cycles, "Cycles per dword that fit best; 0 = no queue is seen.")
        .def_ro("most_cycles", &FittedServer::most_cycles, "Cycles per dword beyond which latencies contradict it.")
        .def_ro("spread", &FittedServer::spread, "Cycles between quantiles of what is left of latencies with it.")
        .def_ro("spread_without", &FittedServer::spread_without, "The same of the latencies themselves.")
        .def_ro("sample_count", &FittedServer::samples, "Latencies that are known exactly.");
    nb::class_<EditedIssue>(m, "EditedIssue", "One instruction of one wave in a replay.")
        .def_ro("row", &EditedIssue::row, "Row of the code; -1 = the edit put it in.")
        .def_ro("issue_cycles", &EditedIssue::issue, "Its issue since the start of its CU.");
}

}  // namespace

void bind_edit_replay(nb::module_& m) {
    bind_edit(m);
    bind_results(m);
    nb::class_<KeptReplay>(m, "EditReplay", "Replays of waves with another order of a block of their code.")
        .def(nb::init<const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, int32_t>(),
             "instructions"_a, "waves"_a, "barriers"_a, "ports"_a, "rules"_a, "issue_cycles"_a)
        .def_prop_ro("recorded_cycles", &KeptReplay::recorded_cycles, "Time of all CUs, added up.")
        .def_prop_ro("contention_share", &KeptReplay::contention_share,
                     "Share of the time of waves in which they wait for a port that another wave has.")
        .def_prop_ro("servers", &KeptReplay::servers, "The queues of memory and of LDS, in this order.")
        .def("as_recorded", &KeptReplay::as_recorded,
             "Times of the replay of the recorded order; how far they are from the recorded ones is its error.")
        .def("with_more_waves", &KeptReplay::with_more_waves, "more"_a,
             "Times with room for `more` waves on every SIMD, corrected by the error of each mode.")
        .def("edited", &KeptReplay::edited, "first"_a, "last"_a, "rows"_a, "prologue"_a, "epilogue"_a,
             "Times with rows `first` to `last` of the code in another order, corrected by the error of each mode. The "
             "prologue comes before the first iteration of a loop, the epilogue behind the last one.")
        .def("recorded_issues", &KeptReplay::recorded_issues, "wave"_a, "Instructions of a wave in the recorded order.")
        .def("edited_issues", &KeptReplay::edited_issues, "wave"_a, "first"_a, "last"_a, "rows"_a,
             "Instructions of a wave in the order of an edit.");
}

}  // namespace wavewright::bind

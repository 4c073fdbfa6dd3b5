#include "edit_replay.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "replay_columns.hpp"
#include "wavewright/edit_replay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

// (row or -1, ahead, is moved, is a wait, states of padding, (counter, value)s, (place, around, cycles, adds port)s,
// dwords, rows that are one with it)
using RowOfEdit = std::tuple<int32_t, uint8_t, bool, bool, int32_t, std::vector<std::tuple<uint8_t, int32_t>>,
                             std::vector<std::tuple<uint32_t, bool, int32_t, bool>>, uint8_t, std::vector<int32_t>>;

std::vector<EditRow> rows_of_edit(const std::vector<RowOfEdit>& rows, int32_t first, int32_t last) {
    std::vector<EditRow> made;
    for (const auto& [row, ahead, is_moved, is_wait, states, waits, edges, dwords, joined] : rows) {
        for (const int32_t each : joined)
            if (row < 0 || each < first || each > last) throw nb::value_error("a joined row lies outside the block");
        if (row >= 0 && (row < first || row > last)) throw nb::value_error("a row lies outside the block");
        EditRow one{.row = row,
                    .is_ahead = ahead != 0,
                    .is_moved = is_moved,
                    .is_wait = is_wait,
                    .padding_states = std::max(0, std::min(states, 1 << 10)),
                    .waits = {},
                    .edges = {},
                    .dwords = dwords,
                    .joined = joined};
        for (const auto& [counter, value] : waits) one.waits.push_back({counter, value});
        for (const auto& [from, is_around, cycles, adds_port] : edges)
            one.edges.push_back({from, is_around, std::max(0, cycles), adds_port});
        made.push_back(std::move(one));
    }
    return made;
}

// Keeps the columns that the replay reads.
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

    nb::list servers() const {
        nb::list servers;
        for (const FittedServer& server : replay_->servers())
            servers.append(nb::make_tuple(server.fitted_cycles, server.most_cycles, server.spread,
                                          server.spread_without, server.samples));
        return servers;
    }

    nb::object as_recorded() const {
        EditTimes times;
        {
            nb::gil_scoped_release unlocked;
            times = replay_->as_recorded();
        }
        return answer(times);
    }

    nb::object with_more_waves(uint32_t more) const {
        EditTimes times;
        {
            nb::gil_scoped_release unlocked;
            times = replay_->with_more_waves(more);
        }
        return answer(times);
    }

    nb::object edited(int32_t first, int32_t last, const std::vector<RowOfEdit>& rows,
                      const std::vector<RowOfEdit>& prologue, const std::vector<RowOfEdit>& epilogue) const {
        if (first < 0 || last < first) throw nb::value_error("a block has at least one row");
        const EditedBlock block{first, last, rows_of_edit(rows, first, last), rows_of_edit(prologue, first, last),
                                rows_of_edit(epilogue, first, last)};
        EditTimes times;
        {
            nb::gil_scoped_release unlocked;
            times = replay_->edited(block);
        }
        return answer(times);
    }

    std::vector<std::tuple<int32_t, int64_t>> issues(size_t wave, int32_t first, int32_t last,
                                                     const std::vector<RowOfEdit>& rows) const {
        if (wave >= places_.input().first.size()) throw nb::value_error("there is no such wave");
        if (!rows.empty() && (first < 0 || last < first)) throw nb::value_error("a block has at least one row");
        const EditedBlock block{
            first, last, rows.empty() ? std::vector<EditRow>{} : rows_of_edit(rows, first, last), {}, {}};
        std::vector<std::tuple<int32_t, int64_t>> made;
        nb::gil_scoped_release unlocked;
        for (const EditedIssue& each : replay_->issues(wave, rows.empty() ? nullptr : &block))
            made.emplace_back(each.row, each.issue);
        return made;
    }

  private:
    static nb::object answer(const EditTimes& times) {
        const std::vector<int64_t> cycles(times.cycles.begin(), times.cycles.end());
        return nb::make_tuple(cycles, times.traffic_share, times.is_extrapolated, times.executions,
                              times.lacking_samples);
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

}  // namespace

void bind_edit_replay(nb::module_& m) {
    nb::class_<KeptReplay>(m, "EditReplay", "Replays of waves with another order of a block of their code.")
        .def(nb::init<const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, int32_t>(),
             "instructions"_a, "waves"_a, "barriers"_a, "ports"_a, "rules"_a, "issue_cycles"_a)
        .def_prop_ro("recorded_cycles", &KeptReplay::recorded_cycles, "Time of all CUs, added up.")
        .def_prop_ro("contention_share", &KeptReplay::contention_share,
                     "Share of the time of waves in which they wait for a port that another wave has.")
        .def_prop_ro("servers", &KeptReplay::servers,
                     "Of memory and of LDS: cycles per dword that fit and at most, spreads with and without, samples.")
        .def("as_recorded", &KeptReplay::as_recorded, "Cycles by mode of the order that was recorded, not corrected.")
        .def("with_more_waves", &KeptReplay::with_more_waves, "more"_a,
             "The same with room for more waves on every SIMD; executions are the waves that start earlier.")
        .def("issues", &KeptReplay::issues, "wave"_a, "first"_a, "last"_a, "rows"_a,
             "Rows of a wave and their issue times in the order of an edit; without rows as recorded.")
        .def("edited", &KeptReplay::edited, "first"_a, "last"_a, "rows"_a, "prologue"_a, "epilogue"_a,
             "Cycles by mode, share of dwords more, whether waits are emptier than ever, executions, lacking samples.");
}

}  // namespace wavewright::bind

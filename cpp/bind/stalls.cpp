#include "stalls.hpp"

#include <optional>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/stalls.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

struct RuleColumns {
    ArrowInput<uint16_t> adds;
    ArrowInput<uint8_t> order, kind, is_wait, is_end, wait_counter;
    ArrowInput<int64_t> line;
    ArrowInput<int32_t> wait_row, wait_value;
    uint32_t store_kinds;

    explicit RuleColumns(const nb::dict& from)
        : adds(column<uint16_t>(from, "adds")),
          order(column<uint8_t>(from, "order")),
          kind(column<uint8_t>(from, "kind")),
          is_wait(column<uint8_t>(from, "is_wait")),
          is_end(column<uint8_t>(from, "is_end")),
          wait_counter(column<uint8_t>(from, "wait_counter")),
          line(column<int64_t>(from, "line")),
          wait_row(column<int32_t>(from, "wait_row")),
          wait_value(column<int32_t>(from, "wait_value")),
          store_kinds(nb::cast<uint32_t>(from["store_kinds"])) {
        require_same_length(adds, order, kind, is_wait, is_end, line);
        require_same_length(wait_row, wait_counter, wait_value);
    }

    StallRules rules() const {
        return {.adds = adds.values(),
                .order = order.values(),
                .kind = kind.values(),
                .is_wait = is_wait.values(),
                .is_end = is_end.values(),
                .line = line.values(),
                .wait_row = wait_row.values(),
                .wait_counter = wait_counter.values(),
                .wait_value = wait_value.values(),
                .store_kinds = store_kinds};
    }
};

struct InstructionColumns {
    ArrowInput<uint32_t> wave;
    ArrowInput<int64_t> time;
    ArrowInput<int32_t> stall, duration, row;
    ArrowInput<uint8_t> category;
    std::optional<ArrowInput<uint8_t>> counted, port_was_busy;

    explicit InstructionColumns(const nb::dict& from)
        : wave(column<uint32_t>(from, "wave")),
          time(column<int64_t>(from, "time_cycles")),
          stall(column<int32_t>(from, "stall_cycles")),
          duration(column<int32_t>(from, "duration_cycles")),
          row(column<int32_t>(from, "row")),
          category(column<uint8_t>(from, "category")) {
        if (from.contains("counted")) counted.emplace(nb::borrow(from["counted"]));
        if (from.contains("port_was_busy")) port_was_busy.emplace(nb::borrow(from["port_was_busy"]));
        require_same_length(wave, time, stall, duration, row, category);
        if (counted) require_same_length(wave, *counted);
        if (port_was_busy) require_same_length(wave, *port_was_busy);
    }

    StallInput input() const {
        return {.wave = wave.values(),
                .time = time.values(),
                .stall = stall.values(),
                .duration = duration.values(),
                .category = category.values(),
                .row = row.values(),
                .counted = counted ? counted->values() : std::span<const uint8_t>{},
                .port_was_busy = port_was_busy ? port_was_busy->values() : std::span<const uint8_t>{},
                .begin = {}};
    }
};

nb::dict resolved(const nb::dict& rules, const nb::dict& waves, const nb::dict& instructions, int32_t free_wait_cycles,
                  bool keeps_each) {
    const RuleColumns rule_columns(rules);
    const InstructionColumns columns(instructions);
    const auto numbers = column<uint32_t>(waves, "wave");
    const auto begins = column<int64_t>(waves, "start_cycles");
    const auto units = column<uint32_t>(waves, "unit");
    require_same_length(numbers, begins, units);
    auto found = std::make_shared<StallPass>();
    {
        nb::gil_scoped_release unlocked;
        StallInput input = columns.input();
        input.free_wait_cycles = free_wait_cycles;
        input.keeps_each = keeps_each;
        for (size_t i = 0; i < numbers.values().size(); ++i)
            input.begin[numbers.values()[i]] = {begins.values()[i], units.values()[i]};
        *found = resolve_stalls(rule_columns.rules(), input);
    }
    nb::dict tables;
    tables["groups"] = nb::cast(arrow_table(found->groups, found));
    tables["edges"] = nb::cast(arrow_table(found->edges, found));
    tables["samples"] = nb::cast(arrow_table(found->samples, found));
    tables["idle"] = nb::cast(arrow_table(found->idle, found));
    if (keeps_each) tables["each"] = nb::cast(arrow_table(found->each, found));
    return tables;
}

}  // namespace

void bind_stalls(nb::module_& m) {
    m.def("resolve_stalls", &resolved, "rules"_a, "waves"_a, "instructions"_a, "free_wait_cycles"_a,
          "keeps_each"_a = false,
          "What every instruction stalled on, and the producers of every wait: groups, edges, samples, idle, each.");
}

}  // namespace wavewright::bind

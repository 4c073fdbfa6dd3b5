#include "live_registers.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/live_registers.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

std::optional<std::pair<ArrowTable, ArrowTable>> live_registers_of(const nb::dict& rows, const nb::dict& operands,
                                                                   nb::object given, nb::object wanted) {
    const auto flow = column<uint8_t>(rows, "flow");
    const auto target = column<int32_t>(rows, "target_row");
    const auto mask_change = column<uint8_t>(rows, "mask_change");
    const auto habits = column<uint8_t>(rows, "habits");
    const auto starts = column<uint8_t>(rows, "starts");
    require_same_length(flow, target, mask_change, habits, starts);
    const auto row = column<uint32_t>(operands, "row");
    const auto number = column<uint16_t>(operands, "register");
    const auto count = column<uint8_t>(operands, "count");
    const auto role = column<uint8_t>(operands, "role");
    require_same_length(row, number, count, role);
    const ArrowInput<uint16_t> given_column(given);
    const ArrowInput<int32_t> wanted_column(wanted);
    if (!std::is_sorted(row.values().begin(), row.values().end()) ||
        !std::is_sorted(wanted_column.values().begin(), wanted_column.values().end()))
        throw nb::value_error("operands and wanted rows must be in the order of rows");
    auto liveness = std::make_shared<Liveness>();
    {
        nb::gil_scoped_release unlocked;
        *liveness =
            live_registers({flow.values(), target.values(), mask_change.values(), habits.values(), starts.values(),
                            row.values(), number.values(), count.values(), role.values(), given_column.values()},
                           wanted_column.values());
    }
    if (!liveness->is_complete) return std::nullopt;
    return std::pair(arrow_table(liveness->rows, liveness), arrow_table(liveness->at, liveness));
}

}  // namespace

void bind_live_registers(nb::module_& m) {
    m.def("live_registers", &live_registers_of, "rows"_a, "operands"_a, "given"_a, "wanted"_a,
          "Live registers of every row, and the registers that are live before the wanted rows; None = given up.");
}

}  // namespace wavewright::bind

#include "waits.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/waits.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

Dialect dialect_of(unsigned gfxip) {
    if (gfxip < 9) throw nb::value_error("gfxip must be 9 or more");
    return gfxip == 9 ? Dialect::gfx9 : gfxip < 12 ? Dialect::gfx10_11 : Dialect::gfx12;
}

ArrowTable waits_of(const std::vector<std::string_view>& texts, unsigned gfxip, nb::object waves, nb::object rows) {
    const Dialect dialect = dialect_of(gfxip);
    const ArrowInput<uint32_t> wave_column(waves);
    const ArrowInput<int32_t> row_column(rows);
    require_same_length(wave_column, row_column);
    auto found = std::make_shared<Waits>();
    {
        nb::gil_scoped_release unlocked;
        *found = match_waits(texts, dialect, wave_column.values(), row_column.values());
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_waits(nb::module_& m) {
    nb::list names;
    for (const std::string_view name : kWaitCounterNames) names.append(nb::str(name.data(), name.size()));
    m.attr("WAIT_COUNTERS") = nb::tuple(names);
    m.def("match_waits", &waits_of, "texts"_a, "gfxip"_a, "waves"_a, "rows"_a,
          "Producers of every executed wait: instruction, producer, counter (index into WAIT_COUNTERS).");
}

}  // namespace wavewright::bind

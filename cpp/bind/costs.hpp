// Python face of row_totals.hpp, hidden.hpp and jumps.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_costs(nanobind::module_& m);

}  // namespace wavewright::bind

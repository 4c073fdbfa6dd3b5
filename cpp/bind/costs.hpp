// Python face of wavescope/row_totals.hpp and wavescope/hidden.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_costs(nanobind::module_& m);

}  // namespace wavescope::bind

// Python face of wavescope/lane_costs.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_lane_costs(nanobind::module_& m);

}  // namespace wavescope::bind

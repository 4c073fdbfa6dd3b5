// Python face of wavewright/lane_costs.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_lane_costs(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavescope/live_registers.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_live_registers(nanobind::module_& m);

}  // namespace wavescope::bind

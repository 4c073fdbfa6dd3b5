// Python face of wavescope/stalls.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_stalls(nanobind::module_& m);

}  // namespace wavescope::bind

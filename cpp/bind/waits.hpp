// Python face of wavescope/waits.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_waits(nanobind::module_& m);

}  // namespace wavescope::bind

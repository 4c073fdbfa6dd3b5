// Python face of wavescope/isa.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_isa(nanobind::module_& m);

}  // namespace wavescope::bind

// Python face of wavescope/timeline.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_timeline(nanobind::module_& m);

}  // namespace wavescope::bind

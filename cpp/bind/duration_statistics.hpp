// Python face of wavescope/duration_statistics.hpp and covered_time.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_duration_statistics(nanobind::module_& m);

}  // namespace wavescope::bind

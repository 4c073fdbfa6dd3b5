// Python face of wavescope/wave_rows.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_wave_rows(nanobind::module_& m);

}  // namespace wavescope::bind

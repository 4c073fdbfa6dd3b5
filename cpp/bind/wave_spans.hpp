// Python face of wavescope/wave_spans.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_wave_spans(nanobind::module_& m);

}  // namespace wavescope::bind

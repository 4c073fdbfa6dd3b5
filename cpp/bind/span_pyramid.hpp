// Python face of wavescope/span_pyramid.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_span_pyramid(nanobind::module_& m);

}  // namespace wavescope::bind

// Python face of wavewright/span_pyramid.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_span_pyramid(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavewright/timeline.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_timeline(nanobind::module_& m);

}  // namespace wavewright::bind

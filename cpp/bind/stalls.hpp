// Python face of wavewright/stalls.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_stalls(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavewright/waits.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_waits(nanobind::module_& m);

}  // namespace wavewright::bind

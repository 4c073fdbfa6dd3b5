// Python face of wavewright/live_registers.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_live_registers(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavewright/wave_rows.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_wave_rows(nanobind::module_& m);

}  // namespace wavewright::bind

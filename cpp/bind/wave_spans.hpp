// Python face of wavewright/wave_spans.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_wave_spans(nanobind::module_& m);

}  // namespace wavewright::bind

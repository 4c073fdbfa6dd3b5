// Reading Perfetto traces.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_perfetto_trace(nanobind::module_& m);

}  // namespace wavewright::bind

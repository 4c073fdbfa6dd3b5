// Python face of wavewright/perfetto.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_perfetto(nanobind::module_& m);

}  // namespace wavewright::bind

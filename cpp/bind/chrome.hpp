// Python face of wavewright/chrome_trace.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_chrome(nanobind::module_& m);

}  // namespace wavewright::bind

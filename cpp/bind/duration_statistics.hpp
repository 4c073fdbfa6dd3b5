// Python face of wavewright/duration_statistics.hpp and covered_time.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_duration_statistics(nanobind::module_& m);

}  // namespace wavewright::bind

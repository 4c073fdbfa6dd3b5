// Python face of wavewright/isa.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_isa(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavewright/evaluate.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_evaluate(nanobind::module_& m);

}  // namespace wavewright::bind

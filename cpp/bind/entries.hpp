// Python face of wavewright/entries.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_entries(nanobind::module_& m);

}  // namespace wavewright::bind

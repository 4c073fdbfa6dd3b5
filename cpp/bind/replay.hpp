// Python face of wavewright/replay.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_replay(nanobind::module_& m);

}  // namespace wavewright::bind

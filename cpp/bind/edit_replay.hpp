// Python face of wavewright/edit_replay.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

// The class `EditReplay`.
void bind_edit_replay(nanobind::module_& m);

}  // namespace wavewright::bind

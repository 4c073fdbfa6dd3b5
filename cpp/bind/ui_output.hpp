// Files of decoded directories.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_ui_output(nanobind::module_& m);

}  // namespace wavewright::bind

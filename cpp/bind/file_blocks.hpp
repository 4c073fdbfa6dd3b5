// Python face of wavewright/file_blocks.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_file_blocks(nanobind::module_& m);

}  // namespace wavewright::bind

// Python face of wavewright/call_tree.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_call_tree(nanobind::module_& m);

}  // namespace wavewright::bind

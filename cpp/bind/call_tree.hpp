// Python face of wavescope/call_tree.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_call_tree(nanobind::module_& m);

}  // namespace wavescope::bind

#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_replay(nanobind::module_& m);

}  // namespace wavescope::bind

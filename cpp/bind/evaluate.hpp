#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_evaluate(nanobind::module_& m);

}  // namespace wavescope::bind

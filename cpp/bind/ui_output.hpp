// Files of decoded directories.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_ui_output(nanobind::module_& m);

}  // namespace wavescope::bind

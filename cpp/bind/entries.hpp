// Python face of wavescope/entries.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_entries(nanobind::module_& m);

}  // namespace wavescope::bind

// Python face of wavescope/sqlite_scan.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_sqlite(nanobind::module_& m);

}  // namespace wavescope::bind

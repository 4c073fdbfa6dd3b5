// Python face of wavewright/sqlite_scan.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_sqlite(nanobind::module_& m);

}  // namespace wavewright::bind

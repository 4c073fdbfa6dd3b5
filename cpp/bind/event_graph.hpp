#pragma once

#include <nanobind/nanobind.h>

namespace wavescope::bind {

void bind_event_graph(nanobind::module_& m);

}  // namespace wavescope::bind

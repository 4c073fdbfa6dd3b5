// Python face of wavewright/event_graph.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_event_graph(nanobind::module_& m);

}  // namespace wavewright::bind

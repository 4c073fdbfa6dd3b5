// Python face of wavewright/cache_orders.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace wavewright::bind {

void bind_cache_orders(nanobind::module_& m);

}  // namespace wavewright::bind

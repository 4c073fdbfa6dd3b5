// What the fuzz targets share: taking values from the input, and aborting when an invariant is broken.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "targets.hpp"

namespace wavewright::fuzz {

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "invariant broken: %s\n", what);
    std::abort();
}

// Takes a value from the front; zeros where the input ends.
template <class T>
T take(Bytes& rest) {
    T value{};
    const size_t count = std::min(sizeof value, rest.size());
    if (count != 0) std::memcpy(&value, rest.data(), count);
    rest = rest.subspan(count);
    return value;
}

}  // namespace wavewright::fuzz

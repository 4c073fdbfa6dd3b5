// Checks that the columns of one table have the same length.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace wavewright::bind {

// Of an ArrowInput or of a span.
template <class Column>
size_t row_count_of(const Column& column) {
    if constexpr (requires { column.values(); }) {
        return column.values().size();
    } else {
        return column.size();
    }
}

template <class First, class... Others>
void require_same_length(const First& first, const Others&... others) {
    if (((row_count_of(others) != row_count_of(first)) || ...)) throw nanobind::value_error("columns differ in length");
}

}  // namespace wavewright::bind

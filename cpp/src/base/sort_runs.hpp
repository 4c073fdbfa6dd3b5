// A merge sort that makes use of order: what comes as some sorted runs behind each other is merged only.
#pragma once

#include <algorithm>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

// `buffer` is room for it, worth keeping for the next time. Stable.
template <class T, class Earlier>
void sort_runs(Column<T>& items, Column<T>& buffer, Earlier&& earlier) {
    std::vector<size_t> bounds{0};  // of sorted runs
    while (bounds.back() != items.size()) {
        const T* end = std::is_sorted_until(items.begin() + bounds.back(), items.end(), earlier);
        bounds.push_back(static_cast<size_t>(end - items.begin()));
    }
    while (bounds.size() > 2) {
        buffer.clear();
        T* out = buffer.extend(items.size());
        size_t kept = 1;
        for (size_t i = 0; i + 1 < bounds.size(); i += 2) {
            const T* from = items.begin();
            const size_t first = bounds[i], middle = bounds[i + 1], last = bounds[std::min(i + 2, bounds.size() - 1)];
            std::merge(from + first, from + middle, from + middle, from + last, out + first, earlier);
            bounds[kept++] = last;
        }
        bounds.resize(kept);
        items.swap(buffer);
    }
}

}  // namespace wavewright

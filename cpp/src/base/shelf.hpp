// Many small columns side by side in few large blocks, which can lie in files where small ones would stay in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

class Shelf {
  public:
    // A copy of the values, which stays in its place for as long as the shelf is there. Threads may put at once.
    template <class T>
    std::span<const T> put(const Column<T>& values) {
        if (values.empty()) return {};
        std::byte* const place = room_for(values.size_bytes());
        std::memcpy(place, values.data(), values.size_bytes());
        return {reinterpret_cast<const T*>(place), values.size()};
    }

  private:
    static constexpr size_t kAlignment = 16;
    static constexpr size_t kFirstBytes = size_t{1} << 20, kMostBytes = size_t{256} << 20;

    std::byte* room_for(size_t size) {
        const size_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
        const std::lock_guard lock(guard_);
        if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < padded) {
            Column<std::byte> block;
            block.reserve(std::max(padded, next_bytes_));
            blocks_.push_back(std::move(block));
            next_bytes_ = std::min(next_bytes_ * 2, kMostBytes);
        }
        return blocks_.back().extend(padded);
    }

    std::mutex guard_;
    std::vector<Column<std::byte>> blocks_;  // none grows: what is put somewhere stays there
    size_t next_bytes_ = kFirstBytes;
};

}  // namespace wavewright

// A first-in first-out queue in one reusable block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wavescope::gfx9 {

template <class T>
class Ring {
  public:
    bool empty() const { return head_ == tail_; }
    void clear() { head_ = tail_ = 0; }
    T front() const { return items_[head_ & mask_]; }
    void pop() { ++head_; }

    void push(T item) {
        if (tail_ - head_ == items_.size()) grow();
        items_[tail_++ & mask_] = item;
    }

  private:
    static constexpr size_t kFirstSize = 16;

    void grow() {
        std::vector<T> larger(items_.empty() ? kFirstSize : 2 * items_.size());
        const size_t count = tail_ - head_;
        for (size_t i = 0; i < count; ++i) larger[i] = items_[(head_ + i) & mask_];
        items_.swap(larger);
        mask_ = items_.size() - 1;
        head_ = 0;
        tail_ = count;
    }

    std::vector<T> items_;  // its size is a power of two
    size_t mask_ = 0, head_ = 0, tail_ = 0;
};

}  // namespace wavescope::gfx9

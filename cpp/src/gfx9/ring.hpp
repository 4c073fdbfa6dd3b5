// A first-in first-out queue in one reusable block of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace wavewright::gfx9 {

template <class T>
class Ring {
  public:
    bool empty() const { return head_ == tail_; }
    void clear() { head_ = tail_ = 0; }
    T front() const { return items_[head_ & mask_]; }
    void pop() { ++head_; }

    void push(T item) {
        if (tail_ - head_ == capacity_) [[unlikely]]
            grow();
        items_[tail_++ & mask_] = item;
    }

  private:
    static constexpr uint32_t kFirstCapacity = 16;

    [[gnu::noinline]] void grow() {
        if (capacity_ > UINT32_MAX / 2) throw std::bad_alloc();
        const uint32_t capacity = capacity_ == 0 ? kFirstCapacity : 2 * capacity_;
        auto larger = std::make_unique<T[]>(capacity);
        const uint32_t count = tail_ - head_;
        for (uint32_t i = 0; i < count; ++i) larger[i] = items_[(head_ + i) & mask_];
        items_ = std::move(larger);
        capacity_ = capacity;
        mask_ = capacity - 1;
        head_ = 0;
        tail_ = count;
    }

    std::unique_ptr<T[]> items_;
    uint32_t capacity_ = 0, mask_ = 0;  // a power of two
    uint32_t head_ = 0, tail_ = 0;      // both run on and wrap at 2^32
};

}  // namespace wavewright::gfx9

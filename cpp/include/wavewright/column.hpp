// A growable typed array whose memory can be handed to Arrow without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "wavewright/block.hpp"

namespace wavewright {

// Unlike std::vector it never zero-fills: pages past the last element stay untouched, so the growth
// reserve costs address space and not memory.
template <class T>
class Column {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    using value_type = T;

    Column() = default;
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    Column(Column&& other) noexcept { swap(other); }
    Column& operator=(Column&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Column() { free_block(data_, capacity_ * sizeof(T)); }

    void swap(Column& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    void push_back(T value) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = value;
    }

    // Makes room for `count` more elements and returns where to write them; all must be written.
    T* extend(size_t count) {
        if (capacity_ - size_ < count) grow(size_ + count);
        T* at = data_ + size_;
        size_ += count;
        return at;
    }

    // Makes room for `count` elements in total, so that growing up to there moves nothing.
    void reserve(size_t count) {
        if (count > capacity_) set_capacity(count);
    }

    void append(std::span<const T> values) {
        if (!values.empty()) std::memcpy(extend(values.size()), values.data(), values.size_bytes());
    }

    void pop_back() { --size_; }
    void truncate(size_t count) { size_ = count; }
    void clear() { size_ = 0; }
    size_t size() const { return size_; }
    size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
    size_t size_bytes() const { return size_ * sizeof(T); }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](size_t i) { return data_[i]; }
    const T& operator[](size_t i) const { return data_[i]; }
    T& back() { return data_[size_ - 1]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

  private:
    [[gnu::noinline]] void grow(size_t needed) {
        if (needed > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        const GrownBlock grown = grow_block(data_, capacity_ * sizeof(T), needed * sizeof(T));
        data_ = static_cast<T*>(grown.block);
        capacity_ = grown.capacity / sizeof(T);
    }

    void set_capacity(size_t capacity) {
        if (capacity > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
        data_ = static_cast<T*>(resize_block(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

}  // namespace wavewright

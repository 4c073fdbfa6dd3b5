// Growable raw memory for columns. Large blocks grow by moving pages instead of copying bytes, and come in huge pages
// where the system has them: a trace of some ten megabytes fills a hundred megabytes of columns, and both the copies
// and the page faults would cost a good part of the decoding time.
#pragma once

#include <cstddef>

namespace wavewright {

// A block of `capacity` bytes with the first min(old capacity, capacity) bytes of `old`, which is gone afterwards.
// `old` is null or from here, with the capacity it was asked for. Throws std::bad_alloc and leaves `old` alone.
void* resize_block(void* old, size_t old_capacity, size_t capacity);

// The same with room to grow further: at least `needed` bytes. Room in large blocks is address space and not memory.
struct GrownBlock {
    void* block;
    size_t capacity;
};
GrownBlock grow_block(void* old, size_t old_capacity, size_t needed);

void free_block(void* block, size_t capacity) noexcept;

}  // namespace wavewright

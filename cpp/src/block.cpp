#include "wavescope/block.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace wavescope {
namespace {

#ifdef __linux__
constexpr size_t kMappedFrom = size_t{1} << 20;  // smaller blocks are better off in the heap

bool is_mapped(size_t capacity) {
    return capacity >= kMappedFrom;
}

void* map_block(void* old, size_t old_capacity, size_t capacity) {
    void* block = is_mapped(old_capacity)
                      ? mremap(old, old_capacity, capacity, MREMAP_MAYMOVE)
                      : mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    madvise(block, capacity, MADV_HUGEPAGE);  // only a hint: where it fails, pages are small
    return block;
}

void unmap_block(void* block, size_t capacity) noexcept {
    munmap(block, capacity);
}
#else
constexpr bool is_mapped(size_t) {
    return false;
}
void* map_block(void*, size_t, size_t) {
    return nullptr;
}
void unmap_block(void*, size_t) noexcept {}
#endif

}  // namespace

void* resize_block(void* old, size_t old_capacity, size_t capacity) {
    if (is_mapped(capacity)) {
        void* block = map_block(old, old_capacity, capacity);
        if (old != nullptr && !is_mapped(old_capacity)) {
            std::memcpy(block, old, std::min(old_capacity, capacity));
            std::free(old);
        }
        return block;
    }
    // (columns never shrink, so a mapped block never comes back to the heap)
    void* block = std::realloc(old, capacity);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

void free_block(void* block, size_t capacity) noexcept {
    if (block == nullptr) return;
    if (is_mapped(capacity)) {
        unmap_block(block, capacity);
    } else {
        std::free(block);
    }
}

}  // namespace wavescope

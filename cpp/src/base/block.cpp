#include "wavewright/block.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "wavewright/file_blocks.hpp"

namespace wavewright {
namespace {

// Address space costs nothing until it is written to, so mapped blocks grow rarely and by much.
constexpr size_t kFirstMapping = size_t{64} << 20;
constexpr size_t kMappedGrowth = 8;

#ifdef __linux__
constexpr size_t kMappedFrom = size_t{1} << 20;  // smaller blocks are better off in the heap

bool is_mapped(size_t capacity) {
    return capacity >= kMappedFrom;
}

constexpr size_t kHugePage = size_t{2} << 20;

// An aligned place, so that moving a block to another one moves whole huge pages. Null when there is none.
void* map_aligned(size_t capacity) {
    const size_t size = capacity + kHugePage;
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    auto* const begin = static_cast<std::byte*>(mapped);
    const size_t skipped = (kHugePage - reinterpret_cast<uintptr_t>(mapped) % kHugePage) % kHugePage;
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = (capacity + page - 1) / page * page;
    if (skipped != 0) munmap(begin, skipped);
    if (skipped + used < size) munmap(begin + skipped + used, size - skipped - used);
    return begin + skipped;
}

void* map_block(void* old, size_t old_capacity, size_t capacity) {
    void* block = map_aligned(capacity);
    if (block == nullptr) return nullptr;
    if (is_mapped(old_capacity)) {
        void* moved = mremap(old, old_capacity, capacity, MREMAP_MAYMOVE | MREMAP_FIXED, block);
        if (moved == MAP_FAILED) {
            munmap(block, capacity);
            return nullptr;
        }
    }
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

namespace {

bool has_file(const void* block, size_t capacity) {
    return capacity >= kInFileFrom && is_in_file(block);
}

// The block in a mapping of `capacity` bytes, with its contents. Null when there is no room; then it stays as it was.
void* move_to_mapping(void* old, size_t old_capacity, size_t capacity) {
    const bool was_in_file = has_file(old, old_capacity);
    void* block = was_in_file ? map_block(nullptr, 0, capacity) : map_block(old, old_capacity, capacity);
    if (block != nullptr && old != nullptr && (was_in_file || !is_mapped(old_capacity))) {
        std::memcpy(block, old, std::min(old_capacity, capacity));
        free_block(old, old_capacity);
    }
    return block;
}

// The same in a file, where large blocks may be in files.
void* move_to_file(void* old, size_t old_capacity, size_t capacity) {
    const bool was_in_file = has_file(old, old_capacity);
    void* block = block_in_file(old, old_capacity, capacity);
    if (block != nullptr && old != nullptr && !was_in_file) free_block(old, old_capacity);
    return block;
}

}  // namespace

void* resize_block(void* old, size_t old_capacity, size_t capacity) {
    if (void* block = move_to_file(old, old_capacity, capacity)) return block;
    // Columns never shrink, so a mapped block never comes back to the heap.
    void* block = is_mapped(capacity) ? move_to_mapping(old, old_capacity, capacity) : std::realloc(old, capacity);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

GrownBlock grow_block(void* old, size_t old_capacity, size_t needed) {
    const size_t capacity = std::max(needed, old_capacity + old_capacity / 2 + 64);
    if (void* block = move_to_file(old, old_capacity, capacity)) return {block, capacity};
    if (is_mapped(capacity)) {
        const size_t roomy = are_blocks_in_files() ? std::max(capacity, kInFileFrom - 1)
                                                   : std::max(kFirstMapping, capacity * kMappedGrowth);
        if (void* block = move_to_mapping(old, old_capacity, roomy)) return {block, roomy};
    }
    return {resize_block(old, old_capacity, capacity), capacity};
}

void free_block(void* block, size_t capacity) noexcept {
    if (block == nullptr) return;
    if (has_file(block, capacity)) {
        free_in_file(block);
    } else if (is_mapped(capacity)) {
        unmap_block(block, capacity);
    } else {
        std::free(block);
    }
}

}  // namespace wavewright

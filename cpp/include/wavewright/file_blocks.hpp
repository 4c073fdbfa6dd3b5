// Large blocks in files instead of memory: traces of a hundred million instructions fill several gigabytes of columns,
// most of which nobody reads at a moment. The files have no name and go with the process. Pages that were read or
// written lately stay in memory; the others come back from the file when they are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace wavewright {

inline constexpr size_t kInFileFrom = (size_t{8} << 20) + 1;  // bytes; blocks of up to 8 MiB stay in memory

// From now on large blocks are made in `folder`, at most `most_bytes` of them together; no folder: in memory again.
// What cannot be put there, because the disk is full or the folder cannot be written, stays in memory.
void keep_blocks_in(const std::string& folder, uint64_t most_bytes);

bool are_blocks_in_files() noexcept;

// A block of `capacity` bytes in a file with the content of `old`, which may be null. An `old` that is in a file itself
// grows there and is gone afterwards; an `old` in memory stays the caller's. Null, and `old` untouched, when the block
// has to be in memory: it is too small, or there is no room. Any thread may call it.
void* block_in_file(void* old, size_t old_capacity, size_t capacity) noexcept;
bool is_in_file(const void* block) noexcept;
void free_in_file(void* block) noexcept;

// How many bytes lie in files.
uint64_t bytes_in_files() noexcept;

// Gives the pages of all these blocks and of mapped files back to the system, which fetches them again where they are
// read.
void give_pages_back() noexcept;

// Bytes of pages of files that this process has in memory.
uint64_t resident_file_bytes() noexcept;

// A file that is read in place, with pages that are given back like those of blocks. Throws std::runtime_error. A file
// that shrinks while it is read ends in zeros; `is_whole` tells.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const uint8_t* data() const { return data_; }
    size_t size() const { return size_; }
    bool is_whole() const;

  private:
    int descriptor_ = -1;
    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
};

}  // namespace wavewright

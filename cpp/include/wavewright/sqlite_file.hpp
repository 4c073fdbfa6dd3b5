// The pages of an SQLite 3 database file: read-only, without SQLite, for files at rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace wavewright {

// Bytes after every buffer of pages that are allocated but mean nothing: numbers are read before they are checked.
constexpr size_t kPagePadding = 32;

class SqliteFile {
  public:
    static constexpr size_t kHeaderBytes = 100;

    // Pages of an open file; the descriptor is duplicated. Nothing is mapped: a file that shrinks gives short reads.
    static std::shared_ptr<const SqliteFile> of_descriptor(int descriptor);
    // Pages in memory that outlives this.
    static std::shared_ptr<const SqliteFile> of_bytes(std::span<const uint8_t> bytes);

    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;
    ~SqliteFile();

    // Whether the header describes what this reads: a database in UTF-8 with a possible page size.
    bool is_readable() const { return page_size_ != 0; }
    uint32_t page_size() const { return page_size_; }
    // Bytes of a page that hold content; some extensions keep the others for themselves.
    uint32_t usable_size() const { return usable_size_; }
    // As many as the file has whole ones.
    uint32_t page_count() const { return page_count_; }

    // Whether the b-tree that begins at a page is one of rows with row ids, as far as its first page says.
    bool is_table(uint32_t root) const;
    // Pages `first`, `first` + 1, ... (counted from 1) into `into`; false when the file does not have them all.
    bool read(uint32_t first, uint32_t count, uint8_t* into) const;

  private:
    SqliteFile() = default;
    size_t read_at(uint64_t offset, size_t size, uint8_t* into) const;
    void read_header(uint64_t byte_count);

    int descriptor_ = -1;
    std::span<const uint8_t> bytes_;
    uint32_t page_size_ = 0, usable_size_ = 0, page_count_ = 0;
};

}  // namespace wavewright

// The leaves of the b-tree of an SQLite table, from the first row to the last.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wavewright/sqlite_file.hpp"

namespace wavewright::sqlite {

// A tree of a damaged or hostile file is read up to the first page that does not fit. A page that is
// reached a second time is damage: nothing leads in a circle, and nothing is read more often than the file has pages.
class TableTree {
  public:
    TableTree(std::shared_ptr<const SqliteFile> file, uint32_t root);

    // Moves on to the next leaf that has cells; false at the end, or when `damage` is not empty.
    bool next_leaf();

    // The leaf: where its cells are, and how many. Offsets count from `page`, and all reading stays below `end`.
    const uint8_t* page() const { return page_; }
    const uint8_t* end() const { return page_ + file_->usable_size(); }
    uint32_t cell_count() const { return cell_count_; }
    const uint8_t* cell(uint32_t number) const;

    // One page of a chain of overflow pages into a buffer of a page and kPagePadding; false when there is none left.
    bool read_overflow(uint32_t number, uint8_t* into);

    // The first thing that was wrong, with the page; empty as long as nothing was.
    const std::string& damage() const { return damage_; }
    void damaged(uint32_t number, const char* what);
    uint32_t page_number() const { return page_number_; }
    const SqliteFile& file() const { return *file_; }

  private:
    struct Level {
        std::vector<uint32_t> children;
        size_t next = 0;
    };

    bool visit(uint32_t number);
    bool load(uint32_t number);
    uint32_t run_length() const;
    bool enter_interior(const uint8_t* header);

    std::shared_ptr<const SqliteFile> file_;
    std::vector<Level> levels_;
    std::vector<uint8_t> run_;  // neighbouring pages, read at once
    uint32_t run_first_ = 0, run_count_ = 0;
    std::vector<bool> visited_;  // by number
    const uint8_t* page_ = nullptr;
    uint32_t page_number_ = 0, cell_count_ = 0, cells_at_ = 0;
    std::string damage_;
};

}  // namespace wavewright::sqlite

#include "sqlite/tree.hpp"

// Pages of b-trees as https://www.sqlite.org/fileformat2.html#b_tree_pages describes them.
#include <algorithm>

#include "sqlite/bytes.hpp"

namespace wavewright::sqlite {
namespace {

constexpr size_t kMaxDepth = 20;                                                   // SQLite's own limit
constexpr uint32_t kRunBytes = 128 << 10;                                          // of pages that are read at once
constexpr uint8_t kInterior = 5, kLeaf = 13, kIndexInterior = 2, kIndexLeaf = 10;  // the first byte of a page
// Bytes: the headers, and where they have the number of cells and an interior page has its last child.
constexpr uint32_t kInteriorHeader = 12, kLeafHeader = 8, kCellCountAt = 3, kLastChildAt = 8;

}  // namespace

TableTree::TableTree(std::shared_ptr<const SqliteFile> file, uint32_t root)
    : file_(std::move(file)), visited_(size_t{file_->page_count()} + 1) {
    levels_.push_back({{root}, 0});
}

bool TableTree::next_leaf() {
    cell_count_ = 0;
    while (damage_.empty() && !levels_.empty()) {
        Level& level = levels_.back();
        if (level.next == level.children.size()) {
            levels_.pop_back();
            continue;
        }
        const uint32_t number = level.children[level.next];
        if (!visit(number) || !load(number)) return false;
        ++level.next;
        const uint8_t* header = page_ + (number == 1 ? SqliteFile::kHeaderBytes : 0);
        if (*header == kInterior) {
            if (!enter_interior(header)) return false;
            continue;
        }
        if (*header != kLeaf) {
            const bool is_index = *header == kIndexInterior || *header == kIndexLeaf;
            damaged(number, is_index ? "belongs to an index" : "is no page of a table");
            return false;
        }
        const uint32_t count = big_endian16(header + kCellCountAt);
        cells_at_ = static_cast<uint32_t>(header - page_) + kLeafHeader;
        if (cells_at_ + 2 * count > file_->usable_size()) {
            damaged(number, "lists more rows than it can hold");
            return false;
        }
        cell_count_ = count;
        if (count != 0) return true;
    }
    return false;
}

const uint8_t* TableTree::cell(uint32_t number) const {
    const uint32_t offset = big_endian16(page_ + cells_at_ + 2 * number);
    return page_ + std::min(offset, file_->usable_size());
}

bool TableTree::read_overflow(uint32_t number, uint8_t* into) {
    if (!visit(number)) return false;
    if (file_->read(number, 1, into)) return true;
    damaged(number, "is not in the file");
    return false;
}

void TableTree::damaged(uint32_t number, const char* what) {
    if (damage_.empty()) damage_ = "page " + std::to_string(number) + " " + what;
}

bool TableTree::visit(uint32_t number) {
    if (number == 0 || number > file_->page_count()) {
        damaged(number, "is not in the file");
        return false;
    }
    if (visited_[number]) {
        damaged(number, "is reached a second time");
        return false;
    }
    visited_[number] = true;
    return true;
}

bool TableTree::load(uint32_t number) {
    const uint32_t size = file_->page_size();
    if (number < run_first_ || number - run_first_ >= run_count_) {
        run_first_ = number;
        run_count_ = run_length();
        run_.resize(std::max(run_.size(), size_t{run_count_} * size + kPagePadding));
        if (!file_->read(number, run_count_, run_.data())) {
            run_count_ = 1;  // the file has become shorter: what is left of it still counts
            if (!file_->read(number, 1, run_.data())) {
                run_count_ = 0;
                damaged(number, "is not in the file");
                return false;
            }
        }
    }
    page_number_ = number;
    page_ = run_.data() + size_t{number - run_first_} * size;
    return true;
}

// How many of the next children follow each other in the file.
uint32_t TableTree::run_length() const {
    const Level& level = levels_.back();
    const uint32_t number = level.children[level.next];
    const size_t most = std::min<size_t>({std::max(1U, kRunBytes / file_->page_size()),
                                          level.children.size() - level.next, file_->page_count() - number + 1});
    uint32_t length = 1;
    while (length < most && level.children[level.next + length] == number + length) ++length;
    return length;
}

bool TableTree::enter_interior(const uint8_t* header) {
    const auto header_at = static_cast<uint32_t>(header - page_);
    const uint32_t count = big_endian16(header + kCellCountAt), cells_at = header_at + kInteriorHeader;
    if (levels_.size() >= kMaxDepth || cells_at + 2 * count > file_->usable_size()) {
        damaged(page_number_, "is no possible page of a table");
        return false;
    }
    Level level;
    level.children.reserve(count + 1);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t offset = big_endian16(page_ + cells_at + 2 * i);
        level.children.push_back(offset + 4 <= file_->usable_size() ? big_endian32(page_ + offset) : 0);
    }
    level.children.push_back(big_endian32(header + kLastChildAt));
    levels_.push_back(std::move(level));
    return true;
}

}  // namespace wavewright::sqlite

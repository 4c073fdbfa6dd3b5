// Rows of a table from the cells of its leaves. Sections are those of https://www.sqlite.org/fileformat2.html.
#include <algorithm>

#include "sqlite/bytes.hpp"
#include "sqlite/tree.hpp"
#include "wavewright/sqlite_scan.hpp"

namespace wavewright {

using namespace sqlite;

namespace {

// How much of a record of `size` bytes lies in the leaf itself; the rest is on overflow pages (1.6: P, U, X, M and K
// are size, usable, most, least and even).
uint64_t local_bytes(uint64_t size, uint64_t usable) {
    const uint64_t most = usable - 35;
    if (size <= most) return size;
    const uint64_t least = (usable - 12) * 32 / 255 - 23;
    const uint64_t even = least + (size - least) % (usable - 4);
    return even <= most ? even : least;
}

}  // namespace

SqliteScan::SqliteScan(std::shared_ptr<const SqliteFile> file, uint32_t root, std::vector<SqliteWanted> wanted)
    : tree_(std::make_unique<TableTree>(std::move(file), root)), wanted_(std::move(wanted)) {
    for (uint32_t i = 0; i < wanted_.size(); ++i)
        if (!wanted_[i].is_rowid) in_record_.push_back(i);
    std::stable_sort(in_record_.begin(), in_record_.end(),
                     [&](uint32_t a, uint32_t b) { return wanted_[a].index < wanted_[b].index; });
    places_.resize(in_record_.size());
}

SqliteScan::~SqliteScan() = default;

const std::string& SqliteScan::damage() const {
    return tree_->damage();
}

SqliteRows SqliteScan::next(size_t most) {
    SqliteRows rows;
    for (const SqliteWanted& column : wanted_) rows.columns.emplace_back(column.type, column.stores_reals);
    while (rows.count < most && tree_->damage().empty()) {
        if (next_cell_ == tree_->cell_count()) {
            next_cell_ = 0;
            cell_bytes_ = 0;
            if (!tree_->next_leaf()) break;
        }
        while (next_cell_ < tree_->cell_count() && rows.count < most) {
            if (!add_row(tree_->cell(next_cell_), rows.columns)) return rows;
            ++next_cell_;
            ++rows.count;
        }
    }
    return rows;
}

bool SqliteScan::add_row(const uint8_t* cell, std::vector<SqliteColumn>& columns) {
    const SqliteFile& file = tree_->file();
    const uint8_t* const begin = cell;
    const uint64_t size = take_varint(cell);
    const auto rowid = static_cast<int64_t>(take_varint(cell));
    const uint64_t local = local_bytes(size, file.usable_size());
    const uint64_t in_page = local + (local < size ? 4 : 0);  // with the number of the first overflow page
    if (cell > tree_->end() || in_page > static_cast<uint64_t>(tree_->end() - cell) ||
        size / file.usable_size() > file.page_count()) {
        tree_->damaged(tree_->page_number(), "has a row that does not fit into it");
        return false;
    }
    // Rows that share bytes would make far more of a file than it holds.
    cell_bytes_ += static_cast<uint64_t>(cell - begin) + in_page;
    if (cell_bytes_ > file.usable_size()) {
        tree_->damaged(tree_->page_number(), "has rows that overlap");
        return false;
    }
    const uint8_t* record = cell;
    uint64_t available = local, needed = 0;
    record_.clear();
    while (!locate(record, available, size, needed)) {
        if (!tree_->damage().empty() || !gather(cell, local, size, needed)) return false;
        record = record_.data();
        available = record_.size() - kPagePadding;
    }
    for (size_t i = 0; i < in_record_.size(); ++i) {
        SqliteColumn& column = columns[in_record_[i]];
        if (places_[i].is_missing) {
            column.add(wanted_[in_record_[i]].missing);
        } else {
            column.add(places_[i].serial, record + places_[i].offset);
        }
    }
    for (size_t i = 0; i < wanted_.size(); ++i)
        if (wanted_[i].is_rowid) columns[i].add_integer(rowid);
    return true;
}

// Finds the wanted values in a record of `size` bytes of which `available` are here. False when the record is damaged,
// or when `needed` bytes of it must be here first. A record (2.1) is a header, its own size and the serial type of
// every value, and then the values; the sizes of those before a value tell where it lies.
bool SqliteScan::locate(const uint8_t* record, uint64_t available, uint64_t size, uint64_t& needed) {
    if (in_record_.empty()) return true;
    const auto broken = [&] {
        tree_->damaged(tree_->page_number(), "has a row that contradicts itself");
        return false;
    };
    const uint8_t* at = record;
    const uint64_t header_size = take_varint(at);
    if (header_size > size || static_cast<uint64_t>(at - record) > header_size) return broken();
    if (header_size > available) {
        needed = header_size;
        return false;
    }
    const uint8_t* const header_end = record + header_size;
    uint64_t offset = header_size;  // of the value with the number `index`
    uint64_t end = header_size;     // of the wanted values so far
    uint32_t index = 0;
    for (size_t i = 0; i < in_record_.size(); ++i) {
        const uint32_t wanted = wanted_[in_record_[i]].index;
        if (i > 0 && wanted == wanted_[in_record_[i - 1]].index) {  // one column can be wanted twice
            places_[i] = places_[i - 1];
            continue;
        }
        while (index < wanted && at < header_end) {
            offset += size_of(take_varint(at));
            if (offset > size) return broken();
            ++index;
        }
        places_[i] = {.serial = 0, .offset = offset, .is_missing = at >= header_end};
        if (places_[i].is_missing) continue;
        places_[i].serial = take_varint(at);
        offset += size_of(places_[i].serial);
        if (offset > size) return broken();
        ++index;
        end = offset;
    }
    if (at > header_end) return broken();
    needed = end;
    return end <= available;
}

// Brings at least the first `needed` bytes of a record into record_, kPagePadding more after them.
bool SqliteScan::gather(const uint8_t* local, uint64_t local_size, uint64_t size, uint64_t needed) {
    const SqliteFile& file = tree_->file();
    const uint64_t per_page = file.usable_size() - 4;
    if (record_.empty()) {
        record_.assign(local, local + local_size);
        next_overflow_ = big_endian32(local + local_size);
    } else {
        record_.resize(record_.size() - kPagePadding);
    }
    overflow_page_.resize(file.page_size() + kPagePadding);
    while (record_.size() < needed) {
        if (!tree_->read_overflow(next_overflow_, overflow_page_.data())) return false;
        const uint8_t* content = overflow_page_.data() + 4;
        next_overflow_ = big_endian32(overflow_page_.data());
        record_.insert(record_.end(), content, content + std::min<uint64_t>(per_page, size - record_.size()));
    }
    record_.resize(record_.size() + kPagePadding);
    return true;
}

}  // namespace wavewright

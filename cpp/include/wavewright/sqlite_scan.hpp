// Rows of an SQLite table as columns, some at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wavewright/sqlite_columns.hpp"
#include "wavewright/sqlite_file.hpp"

namespace wavewright {

namespace sqlite {
class TableTree;
}

struct SqliteWanted {
    uint32_t index;  // the column's place in the records of the table
    SqliteType type;
    bool is_rowid = false;      // INTEGER PRIMARY KEY: not in the record, but its key
    bool stores_reals = false;  // see SqliteColumn
    SqliteValue missing = {};   // of records that are older than the column
};

struct SqliteRows {
    std::vector<SqliteColumn> columns;  // in the order in which they were wanted
    size_t count = 0;
};

// Any bytes are read to an end: the first damage ends the scan, and the rows in front of it count.
class SqliteScan {
  public:
    // `root`: the page where the table begins.
    SqliteScan(std::shared_ptr<const SqliteFile> file, uint32_t root, std::vector<SqliteWanted> wanted);
    ~SqliteScan();

    // The next rows, at most `most`; none at the end.
    SqliteRows next(size_t most);

    // Why the scan ended early; empty when it did not (yet).
    const std::string& damage() const;

  private:
    struct Place {
        uint64_t serial = 0;
        uint64_t offset = 0;  // from the beginning of the record
        bool is_missing = false;
    };

    bool add_row(const uint8_t* cell, std::vector<SqliteColumn>& columns);
    bool locate(const uint8_t* record, uint64_t available, uint64_t size, uint64_t& needed);
    bool gather(const uint8_t* local, uint64_t local_size, uint64_t size, uint64_t needed);

    std::unique_ptr<sqlite::TableTree> tree_;
    std::vector<SqliteWanted> wanted_;
    std::vector<uint32_t> in_record_;  // numbers of wanted columns that are in records, by their place
    std::vector<Place> places_;        // of these, in the record at hand
    std::vector<uint8_t> record_;      // the record at hand when it continues on overflow pages
    std::vector<uint8_t> overflow_page_;
    uint32_t next_overflow_ = 0;
    uint32_t next_cell_ = 0;
    uint64_t cell_bytes_ = 0;  // of the rows of the leaf so far
};

}  // namespace wavewright

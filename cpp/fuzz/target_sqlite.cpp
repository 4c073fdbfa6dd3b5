#include "checks.hpp"
#include "sqlite/text.hpp"
#include "targets.hpp"
#include "wavewright/sqlite_scan.hpp"

namespace wavewright::fuzz {
namespace {

std::vector<SqliteWanted> wanted(uint8_t types) {
    std::vector<SqliteWanted> columns{{0, SqliteType::integer, true}};
    for (uint32_t index = 0; index < 4; ++index)
        columns.push_back({3 - index, static_cast<SqliteType>(types >> 2 * index & 3), false, index == 2, int64_t{7}});
    return columns;
}

void check_texts(const Column<int64_t>& ends, const Column<char>& texts) {
    for (size_t i = 0; i + 1 < ends.size(); ++i) {
        require(ends[i] <= ends[i + 1], "a text that ends before it begins");
        const auto begin = static_cast<size_t>(ends[i]);
        require(sqlite::is_utf8({texts.data() + begin, static_cast<size_t>(ends[i + 1]) - begin}), "a text not UTF-8");
    }
    require(ends.empty() || static_cast<size_t>(ends[ends.size() - 1]) == texts.size(), "texts of no row");
}

void check_column(const SqliteColumn& column, size_t rows) {
    require(column.size() == rows, "a column of another length");
    require(column.mixed_count() <= column.null_count() && column.null_count() <= rows, "more nulls than rows");
    const Column<uint8_t> validity = column.validity();
    require(validity.size() == (column.null_count() == 0 ? 0 : (rows + 7) / 8), "validity of another length");
    check_texts(column.ends(), column.texts());
    check_texts(column.dictionary().ends(), column.dictionary().texts());
    for (size_t i = 0; i < column.codes().size(); ++i) {
        const bool is_null = !validity.empty() && (validity[i / 8] >> i % 8 & 1) == 0;
        require(is_null || column.codes()[i] < column.dictionary().size(), "a text that is not in the dictionary");
    }
}

}  // namespace

void fuzz_sqlite(Bytes input) {
    if (input.size() < 2) return;
    const uint8_t root = input[0], types = input[1];
    const auto file = SqliteFile::of_bytes(input.subspan(2));
    file->is_table(root);
    if (!file->is_readable()) return;
    SqliteScan whole(file, root, wanted(types)), pieces(file, root, wanted(types));
    const SqliteRows rows = whole.next(SIZE_MAX);
    require(rows.count <= input.size(), "more rows than bytes");
    size_t bytes = 0;
    for (const SqliteColumn& column : rows.columns) {
        check_column(column, rows.count);
        bytes += column.texts().size();
    }
    require(bytes <= rows.columns.size() * 8 * (input.size() + rows.count), "more text than the file holds");
    size_t count = 0;
    for (SqliteRows piece = pieces.next(3); piece.count != 0; piece = pieces.next(3)) {
        for (const SqliteColumn& column : piece.columns) check_column(column, piece.count);
        count += piece.count;
    }
    require(count == rows.count && whole.damage() == pieces.damage(), "pieces that differ from the whole");
}

}  // namespace wavewright::fuzz

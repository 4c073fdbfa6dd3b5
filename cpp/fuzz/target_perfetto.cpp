#include "checks.hpp"
#include "sqlite/text.hpp"
#include "targets.hpp"
#include "wavewright/perfetto_trace.hpp"

namespace wavewright::fuzz {
namespace {

void check_ends(const Column<int64_t>& ends, const Column<char>& bytes, size_t rows) {
    require(ends.size() == rows + 1 && ends[0] == 0, "ends of another length");
    for (size_t i = 0; i < rows; ++i) {
        require(ends[i] <= ends[i + 1], "a text that ends before it begins");
        const auto begin = static_cast<size_t>(ends[i]);
        require(sqlite::is_utf8({bytes.data() + begin, static_cast<size_t>(ends[i + 1]) - begin}), "a text not UTF-8");
    }
    require(static_cast<size_t>(ends[rows]) == bytes.size(), "texts of no row");
}

template <class Table>
size_t rows_of(Table& table) {
    size_t rows = SIZE_MAX;
    table.each_column([&](const char*, auto& column) {
        require(rows == SIZE_MAX || rows == column.size(), "columns that differ in length");
        rows = column.size();
    });
    return rows;
}

}  // namespace

void fuzz_perfetto(Bytes input) {
    const PerfettoWanted wanted{{"corr_id", "a"}, {"agent", "b"}, {"kernel_dispatch", "c"}};
    PerfettoTrace trace = read_perfetto(input, wanted);
    const size_t tracks = rows_of(trace.tracks), rows = rows_of(trace.rows), texts = trace.text_ends.size() - 1;
    require(tracks <= input.size() && rows <= input.size() && rows_of(trace.points) <= input.size(), "rows of nothing");
    check_ends(trace.text_ends, trace.text_bytes, texts);
    check_ends(trace.json_ends, trace.json, rows);
    require(trace.json.size() <= 8 * input.size() + (size_t{1} << 20), "more JSON than the file justifies");
    require(trace.text_bytes.size() <= 32 * input.size() + (size_t{1} << 22), "more text than the file justifies");
    for (size_t row = 0; row < rows; ++row) {
        require(trace.rows.track[row] < tracks && trace.rows.name[row] < texts && trace.rows.category[row] < texts,
                "a number of nothing");
        require(row == 0 || trace.rows.track[row - 1] <= trace.rows.track[row], "rows out of order");
        for (const auto& column : trace.texts) require(column[row] < texts, "a text of nothing");
    }
    for (const auto& column : trace.integers) require(column.size() == rows, "an annotation without a row");
    for (size_t i = 0; i < rows_of(trace.points); ++i) require(trace.points.track[i] < tracks, "a point of no track");
    for (size_t i = 0; i < rows_of(trace.flows); ++i) require(trace.flows.row[i] < rows, "a flow of no row");
    for (size_t i = 0; i < rows_of(trace.values); ++i)
        require(trace.values.row[i] < rows && trace.values.name[i] < texts, "a value of no row");
    for (const auto& [begin, end, content] : compressed_perfetto(input))
        require(begin < end && begin < content && content <= end && end <= input.size(), "a part outside of the file");
}

}  // namespace wavewright::fuzz

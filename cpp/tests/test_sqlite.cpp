#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "check.hpp"
#include "sqlite/text.hpp"
#include "sqlite_pages.hpp"
#include "wavewright/sqlite_scan.hpp"

namespace wavewright {
namespace {

using testing::Blob;
using testing::Row;
using testing::SqlitePages;

constexpr int64_t kNone = -999;  // how a null is shown

std::vector<int64_t> integers(const SqliteColumn& column) {
    const Column<uint8_t> validity = column.validity();
    std::vector<int64_t> values(column.integers().begin(), column.integers().end());
    for (size_t i = 0; i < values.size() && !validity.empty(); ++i)
        if ((validity[i / 8] >> i % 8 & 1) == 0) values[i] = kNone;
    return values;
}

std::vector<std::string> texts(const SqliteColumn& column) {
    const Column<uint8_t> validity = column.validity();
    std::vector<std::string> values;
    for (size_t i = 0; i < column.size(); ++i) {
        if (!validity.empty() && (validity[i / 8] >> i % 8 & 1) == 0) {
            values.emplace_back("(null)");
        } else if (column.type() == SqliteType::dictionary) {
            values.emplace_back(column.dictionary().text(column.codes()[i]));
        } else {
            const auto begin = static_cast<size_t>(column.ends()[i]), end = static_cast<size_t>(column.ends()[i + 1]);
            values.emplace_back(column.texts().data() + begin, end - begin);
        }
    }
    return values;
}

SqliteScan scan(const SqlitePages& pages, uint32_t root, std::vector<SqliteWanted> wanted) {
    return {SqliteFile::of_bytes(pages.bytes()), root, std::move(wanted)};
}

TEST(sqlite, integers_of_every_size) {
    constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
    const std::vector<int64_t> values{0, 1, -1, 127, -128, 128, 32767, 1 << 22, -(1 << 30), 1L << 46, kLow, kHigh};
    SqlitePages pages;
    std::vector<Row> rows;
    for (const int64_t value : values) rows.push_back({value, testing::record({nullptr, value})});
    const uint32_t root = pages.leaf(rows);
    auto reading = scan(pages, root, {{1, SqliteType::integer}, {0, SqliteType::integer, true}});
    const SqliteRows read = reading.next(100);
    CHECK_EQUAL(integers(read.columns[0]), values);
    CHECK_EQUAL(integers(read.columns[1]), values);
    CHECK_EQUAL(reading.next(100).count, 0U);
    CHECK_EQUAL(reading.damage(), "");
}

TEST(sqlite, rows_over_many_pages_in_pieces) {
    for (const uint32_t page_size : {512U, 4096U, 65536U}) {
        SqlitePages pages(page_size, page_size == 512 ? 16 : 0);
        std::vector<uint32_t> leaves, middles;
        std::vector<int64_t> expected;
        for (int64_t id = 0; id < 60; id += 2) {
            leaves.push_back(pages.leaf({{id, testing::record({id * 7})}, {id + 1, testing::record({id * 7 + 7})}}));
            expected.insert(expected.end(), {id * 7, id * 7 + 7});
            if (leaves.size() == 5) middles.push_back(pages.interior(std::exchange(leaves, {})));
        }
        const uint32_t root = pages.interior(middles);
        auto reading = scan(pages, root, {{0, SqliteType::integer}});
        std::vector<int64_t> found;
        for (SqliteRows piece = reading.next(7); piece.count != 0; piece = reading.next(7)) {
            CHECK(piece.count <= 7);
            const auto values = integers(piece.columns[0]);
            found.insert(found.end(), values.begin(), values.end());
        }
        CHECK_EQUAL(found, expected);
        CHECK_EQUAL(reading.damage(), "");
    }
}

TEST(sqlite, overflow_pages_are_read_as_far_as_needed) {
    SqlitePages pages(1024);
    const std::string text(3140, 'x');  // three overflow pages, and so little beside that two rows share a leaf
    const uint32_t root = pages.leaf({{1, testing::record({int64_t{5}, text, int64_t{6}})},
                                      {2, testing::record({int64_t{7}, text + "y", int64_t{8}})}});
    auto reading = scan(pages, root, {{2, SqliteType::integer}, {1, SqliteType::text}, {0, SqliteType::integer}});
    const SqliteRows read = reading.next(10);
    CHECK_EQUAL(integers(read.columns[0]), std::vector<int64_t>{6, 8});
    CHECK_EQUAL(texts(read.columns[1]), std::vector<std::string>{text, text + "y"});
    CHECK_EQUAL(integers(read.columns[2]), std::vector<int64_t>{5, 7});

    // The chain of the second row ends early: only who wants what is behind it notices.
    pages.page(root + 4)[3] = 0;
    auto first = scan(pages, root, {{0, SqliteType::integer}});
    CHECK_EQUAL(first.next(10).count, 2U);
    CHECK_EQUAL(first.damage(), "");
    auto third = scan(pages, root, {{2, SqliteType::integer}});
    CHECK_EQUAL(integers(third.next(10).columns[0]), std::vector<int64_t>{6});
    CHECK_EQUAL(third.damage(), "page 0 is not in the file");
}

TEST(sqlite, values_become_those_of_the_column) {
    SqlitePages pages(4096);
    std::vector<Row> rows;
    int64_t id = 0;
    for (const testing::StoredValue& field : std::vector<testing::StoredValue>{
             nullptr, int64_t{5}, 2.0, 2.5, " -7 ", "1e2", "x", Blob{"8"}, std::nan(""), 1e30, "9223372036854775808"})
        rows.push_back({id++, testing::record({field})});
    const uint32_t root = pages.leaf(rows);
    auto reading = scan(pages, root,
                        {{0, SqliteType::integer},
                         {0, SqliteType::real},
                         {0, SqliteType::text},
                         {0, SqliteType::dictionary},
                         {0, SqliteType::text, false, true}});
    const SqliteRows read = reading.next(100);
    const std::vector<int64_t> whole{kNone, 5, 2, kNone, -7, 100, kNone, kNone, kNone, kNone, kNone};
    CHECK_EQUAL(integers(read.columns[0]), whole);
    CHECK_EQUAL(read.columns[0].mixed_count(), 5U);
    CHECK_EQUAL(read.columns[1].mixed_count(), 2U);
    CHECK_EQUAL(read.columns[1].reals()[10], 9223372036854775808.0);
    const std::vector<std::string> text{
        "(null)", "5", "2.0", "2.5", " -7 ", "1e2", "x", "(null)", "(null)", "1e+30", "9223372036854775808"};
    CHECK_EQUAL(texts(read.columns[2]), text);
    CHECK_EQUAL(texts(read.columns[3]), text);
    CHECK_EQUAL(texts(read.columns[4])[1], "5.0");
}

TEST(sqlite, short_records_have_defaults) {
    SqlitePages pages;
    const uint32_t root = pages.leaf({{1, testing::record({int64_t{3}})}, {2, testing::record({int64_t{4}, "new"})}});
    SqliteWanted added{1, SqliteType::dictionary};
    added.missing = std::string("old");
    auto reading = scan(pages, root, {added, {2, SqliteType::integer}});
    const SqliteRows read = reading.next(10);
    CHECK_EQUAL(texts(read.columns[0]), std::vector<std::string>{"old", "new"});
    CHECK_EQUAL(integers(read.columns[1]), std::vector<int64_t>{kNone, kNone});
    CHECK_EQUAL(read.columns[1].mixed_count(), 0U);
}

TEST(sqlite, a_dictionary_holds_each_text_once) {
    SqlitePages pages(65536);
    std::vector<Row> rows;
    for (int64_t id = 0; id < 1000; ++id)
        rows.push_back(
            {id, id % 3 == 0 ? testing::record({nullptr}) : testing::record({"name " + std::to_string(id % 100)})});
    auto reading = scan(pages, pages.leaf(rows), {{0, SqliteType::dictionary}});
    const SqliteRows read = reading.next(1000);
    const SqliteColumn& column = read.columns[0];
    CHECK_EQUAL(column.dictionary().size(), 100U);
    CHECK_EQUAL(column.null_count(), 334U);
    for (size_t i = 0; i < 1000; ++i)
        if (i % 3 != 0) CHECK_EQUAL(texts(column)[i], "name " + std::to_string(i % 100));
}

TEST(sqlite, circles_end) {
    SqlitePages pages;
    const uint32_t leaf = pages.leaf({{1, testing::record({int64_t{3}})}});
    const uint32_t root = pages.interior({leaf, leaf + 1});  // its last child is itself
    auto reading = scan(pages, root, {{0, SqliteType::integer}});
    CHECK(reading.next(1000).count >= 1);
    CHECK_EQUAL(reading.next(1000).count, 0U);
    CHECK(reading.damage().ends_with("is reached a second time"));

    SqlitePages chained;
    const uint32_t chain = chained.leaf({{1, testing::record({std::string(3000, 'x')})}});
    chained.page(chain + 1)[3] = static_cast<uint8_t>(chain + 1);
    auto chasing = scan(chained, chain, {{0, SqliteType::text}});
    CHECK_EQUAL(chasing.next(1000).count, 0U);
    CHECK(chasing.damage().ends_with("is reached a second time"));
}

TEST(sqlite, damage_ends_the_rows_and_names_the_page) {
    SqlitePages pages;
    std::vector<uint32_t> leaves;
    for (int64_t id = 0; id < 4; ++id) leaves.push_back(pages.leaf({{id, testing::record({id + 10})}}));
    const uint32_t root = pages.interior(leaves);
    const auto after = [&](auto&& harm) {
        SqlitePages harmed = pages;
        harm(harmed);
        auto reading = scan(harmed, root, {{0, SqliteType::integer}});
        const SqliteRows read = reading.next(100);
        return std::to_string(read.count) + ": " + reading.damage();
    };
    CHECK_EQUAL(after([](SqlitePages&) {}), "4: ");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(4)[0] = 0; }), "2: page 4 is no page of a table");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(4)[0] = 10; }), "2: page 4 belongs to an index");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(4)[3] = 1; }), "2: page 4 lists more rows than it can hold");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(4)[9] = 0xFF; }), "2: page 4 has a row that does not fit into it");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(4)[510] = 0x7F; }), "2: page 4 has a row that contradicts itself");
    CHECK_EQUAL(after([](SqlitePages& p) { p.page(6)[11] = 99; }), "3: page 99 is not in the file");
    CHECK_EQUAL(after([](SqlitePages& p) { p.bytes().resize(512 * 5 + 100); }), "0: page 6 is not in the file");
}

TEST(sqlite, rows_that_share_bytes_are_damage) {
    SqlitePages pages;
    const uint32_t root = pages.leaf({{1, testing::record({std::string(400, 'x')})}});
    pages.page(root)[4] = 20;  // rows, all at the same place
    for (int i = 1; i < 20; ++i) std::copy_n(pages.page(root) + 8, 2, pages.page(root) + 8 + 2 * i);
    auto reading = scan(pages, root, {{0, SqliteType::text}});
    CHECK_EQUAL(reading.next(100).count, 1U);
    CHECK(reading.damage().ends_with("has rows that overlap"));
}

TEST(sqlite, files_that_are_not_read) {
    const auto readable = [](auto&& harm) {
        SqlitePages pages;
        harm(pages.bytes());
        return SqliteFile::of_bytes(pages.bytes())->is_readable();
    };
    CHECK(readable([](auto&) {}));
    CHECK(!readable([](auto& bytes) { bytes[0] = 's'; }));
    CHECK(!readable([](auto& bytes) { bytes[59] = 2; }));   // UTF-16
    CHECK(!readable([](auto& bytes) { bytes[17] = 7; }));   // no power of two
    CHECK(!readable([](auto& bytes) { bytes[20] = 33; }));  // fewer than 480 bytes of content
    CHECK(!readable([](auto& bytes) { bytes.resize(99); }));
    CHECK(!SqliteFile::of_descriptor(-1)->is_readable());
}

TEST(sqlite, a_file_that_shrinks_ends_early) {
    SqlitePages pages(4096);
    std::vector<uint32_t> leaves;
    for (int64_t id = 0; id < 40; ++id) leaves.push_back(pages.leaf({{id, testing::record({id})}}));
    const uint32_t root = pages.interior(leaves);
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    REQUIRE(std::fwrite(pages.bytes().data(), 1, pages.bytes().size(), file) == pages.bytes().size());
    std::fflush(file);
    SqliteScan reading(SqliteFile::of_descriptor(fileno(file)), root, {{0, SqliteType::integer}});
    CHECK_EQUAL(reading.next(5).count, 5U);
    REQUIRE(ftruncate(fileno(file), 4096 * 36) == 0);
    std::fclose(file);  // the scan has its own descriptor
    const size_t rest = reading.next(100).count;
    CHECK(rest >= 27 && rest <= 35);
    CHECK(reading.damage().ends_with("is not in the file"));
}

TEST(sqlite, texts_of_reals_are_those_of_python) {
    const std::vector<std::pair<double, std::string>> cases{
        {0.0, "0.0"},     {-0.0, "-0.0"},      {1e16, "1e+16"},  {1e15, "1000000000000000.0"}, {0.1, "0.1"},
        {1e-4, "0.0001"}, {1.5e-5, "1.5e-05"}, {-2.25, "-2.25"}, {123456.789, "123456.789"},   {5e-324, "5e-324"},
    };
    for (const auto& [value, text] : cases) CHECK_EQUAL(sqlite::text_of(value), text);
}

TEST(sqlite, utf8) {
    for (const std::string_view text : {"", "plain text", "gr\xC3\xBC\xC3\x9F", "\xE2\x82\xAC", "\xF0\x9F\x8C\x8A"})
        CHECK(sqlite::is_utf8(text));
    for (const std::string_view text : {"\x80", "12345678\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
        CHECK(!sqlite::is_utf8(text));
    CHECK_EQUAL(sqlite::repaired("a\xE2\x82z\xF0\x9F"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
}

}  // namespace
}  // namespace wavewright

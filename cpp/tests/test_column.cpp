#include <new>
#include <numeric>

#include "check.hpp"
#include "wavewright/column.hpp"

namespace wavewright {
namespace {

std::vector<uint32_t> elements(const Column<uint32_t>& column) {
    return {column.begin(), column.end()};
}

TEST(column, starts_empty) {
    const Column<uint32_t> column;
    CHECK(column.empty());
    CHECK_EQUAL(column.size_bytes(), 0U);
    CHECK(column.begin() == column.end());
}

TEST(column, grows_and_keeps_values) {
    Column<uint32_t> column;
    std::vector<uint32_t> expected(10'000);
    std::iota(expected.begin(), expected.end(), 7U);
    for (const uint32_t value : expected) column.push_back(value);
    CHECK(elements(column) == expected);
    CHECK_EQUAL(column.back(), expected.back());
    CHECK_EQUAL(column.size_bytes(), 40'000U);
}

TEST(column, extend_returns_the_new_elements) {
    Column<uint32_t> column;
    column.push_back(1);
    uint32_t* at = column.extend(3);
    for (uint32_t i = 0; i < 3; ++i) at[i] = 10 + i;
    CHECK_EQUAL(elements(column), std::vector<uint32_t>{1, 10, 11, 12});
    CHECK(column.extend(0) == column.end());
}

TEST(column, append_copies_a_span) {
    Column<uint32_t> column;
    column.append({});
    CHECK(column.empty());
    const uint32_t more[] = {3, 1, 2};
    column.append(more);
    column.append(more);
    CHECK_EQUAL(elements(column), std::vector<uint32_t>{3, 1, 2, 3, 1, 2});
}

TEST(column, clear_keeps_working) {
    Column<uint32_t> column;
    for (uint32_t i = 0; i < 100; ++i) column.push_back(i);
    column.clear();
    CHECK(column.empty());
    column.push_back(5);
    CHECK_EQUAL(elements(column), std::vector<uint32_t>{5});
}

TEST(column, moves_hand_over_the_memory) {
    Column<uint32_t> first;
    first.push_back(1);
    const uint32_t* memory = first.data();
    Column<uint32_t> second(std::move(first));
    CHECK(second.data() == memory);
    Column<uint32_t> third;
    third.push_back(9);
    third = std::move(second);
    CHECK_EQUAL(elements(third), std::vector<uint32_t>{1});
    CHECK(third.data() == memory);
}

TEST(column, an_impossible_size_is_bad_alloc) {
    Column<uint64_t> column;
    column.push_back(4);
    bool refused = false;
    try {
        column.extend(SIZE_MAX / sizeof(uint64_t));
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    CHECK(refused);
    CHECK_EQUAL(column.size(), 1U);
    CHECK_EQUAL(column[0], 4U);
}

}  // namespace
}  // namespace wavewright

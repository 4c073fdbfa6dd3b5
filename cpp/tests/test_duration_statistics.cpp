#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "check.hpp"
#include "wavewright/duration_statistics.hpp"

namespace wavewright {
namespace {

using Numbers = std::vector<int64_t>;

template <class T>
Numbers listed(const T& column) {
    return {column.begin(), column.end()};
}

struct Piece {
    std::vector<uint32_t> key;
    std::vector<int64_t> begin, end;
    std::vector<uint8_t> known_keys = {};
    std::vector<int64_t> sizes = {};
    std::vector<uint8_t> known_sizes = {};

    std::vector<uint32_t> into(DurationStatistics& statistics) const {
        const std::vector<Nullable<uint32_t>> keys{{key, known_keys}};
        return statistics.add(keys, {begin, {}}, {end, {}}, {sizes, known_sizes});
    }
};

TEST(duration_statistics, groups_over_pieces) {
    DurationStatistics statistics(1, 1000);
    CHECK_EQUAL(listed(Piece{{7, 7, 3}, {0, 0, 5}, {10, 20, 6}}.into(statistics)), Numbers{0, 2});
    CHECK_EQUAL(listed(Piece{{3, 0, 7}, {0, 0, 0}, {1, 2, 10}, {1, 0, 1}}.into(statistics)), Numbers{1});
    const DurationSums sums = statistics.sums();
    CHECK_EQUAL(listed(sums.calls), Numbers{3, 2, 1});
    CHECK_EQUAL(listed(sums.total_low), Numbers{40, 2, 2});
    CHECK_EQUAL(listed(sums.squares_low), Numbers{600, 2, 4});
    CHECK_EQUAL(listed(sums.min), Numbers{10, 1, 2});
    CHECK_EQUAL(listed(sums.max), Numbers{20, 1, 2});
    const DurationValues values = statistics.values();
    CHECK_EQUAL(listed(values.group), Numbers{0, 0, 1, 2});
    CHECK_EQUAL(listed(values.value), Numbers{10, 20, 1, 2});
    CHECK_EQUAL(listed(values.count), Numbers{2, 1, 2, 1});
}

TEST(duration_statistics, impossible_times_count_without_time) {
    DurationStatistics statistics(1, 1000);
    constexpr int64_t far = std::numeric_limits<int64_t>::max();
    Piece{{0, 0, 0, 0}, {5, -far, 0, 0}, {1, far, 1000, 999}}.into(statistics);
    CHECK_EQUAL(listed(statistics.sums().calls), Numbers{4});
    CHECK_EQUAL(listed(statistics.sums().timed), Numbers{1});
    CHECK_EQUAL(listed(statistics.values().value), Numbers{999});
}

TEST(duration_statistics, sums_of_128_bits) {
    constexpr int64_t longest = int64_t{1} << 52;
    DurationStatistics statistics(1, longest);
    const std::vector<int64_t> ends(5000, longest - 1);
    Piece{std::vector<uint32_t>(5000, 0), std::vector<int64_t>(5000, 0), ends}.into(statistics);
    const DurationSums sums = statistics.sums();
    CHECK_EQUAL(listed(sums.total_high), Numbers{1});
    CHECK_EQUAL(sums.total_low[0], static_cast<uint64_t>(5000 * static_cast<unsigned __int128>(longest - 1)));
}

TEST(duration_statistics, sizes_are_signed_and_may_be_unknown) {
    DurationStatistics statistics(1, 1000);
    Piece{{0, 0, 1}, {0, 0, 0}, {1, 1, 1}, {}, {-3, 9, 9}, {1, 0, 0}}.into(statistics);
    const DurationSums sums = statistics.sums();
    CHECK_EQUAL(listed(sums.sized), Numbers{1, 0});
    CHECK_EQUAL(static_cast<int64_t>(sums.bytes_low[0]), int64_t{-3});
    CHECK_EQUAL(listed(sums.bytes_high), Numbers{-1, 0});
}

TEST(duration_statistics, buckets_keep_nine_digits) {
    CHECK_EQUAL(bucket_floor(0), int64_t{0});
    CHECK_EQUAL(bucket_floor(511), int64_t{511});
    CHECK_EQUAL(bucket_floor(513), int64_t{512});
    CHECK_EQUAL(bucket_floor(514), int64_t{514});
    CHECK_EQUAL(bucket_floor((int64_t{1} << 40) + 1), int64_t{1} << 40);
}

TEST(duration_statistics, too_many_values_become_buckets_in_any_order) {
    constexpr auto most = static_cast<int64_t>(ValueCounts::most_exact);
    ValueCounts up, down;
    for (int64_t value = 0; value < most; ++value) up.add(value);
    CHECK(up.is_exact());
    CHECK_EQUAL(up.sorted().size(), ValueCounts::most_exact);
    up.add(most);
    for (int64_t value = most; value >= 0; --value) down.add(value);
    CHECK(!up.is_exact());
    CHECK(up.sorted() == down.sorted());
    std::map<int64_t, int64_t> expected;
    for (int64_t value = 0; value <= most; ++value) ++expected[bucket_floor(value)];
    const std::vector<std::pair<int64_t, int64_t>> buckets(expected.begin(), expected.end());
    CHECK(up.sorted() == buckets);
}

TEST(duration_statistics, values_of_groups_that_became_one) {
    const std::vector<uint32_t> groups{1, 0, 1, 1};
    const std::vector<int64_t> values{513, 5, 512, 1}, counts{2, 1, 3, 1};
    const RegroupedValues exact = regrouped_values(groups, values, counts, std::vector<uint8_t>{0, 0});
    CHECK_EQUAL(listed(exact.values.value), Numbers{5, 1, 512, 513});
    CHECK_EQUAL(listed(exact.is_exact), Numbers{1, 1});
    const RegroupedValues coarse = regrouped_values(groups, values, counts, std::vector<uint8_t>{0, 1});
    CHECK_EQUAL(listed(coarse.values.group), Numbers{0, 1, 1});
    CHECK_EQUAL(listed(coarse.values.value), Numbers{5, 1, 512});
    CHECK_EQUAL(listed(coarse.values.count), Numbers{1, 1, 5});
    CHECK_EQUAL(listed(coarse.is_exact), Numbers{1, 0});
}

}  // namespace
}  // namespace wavewright

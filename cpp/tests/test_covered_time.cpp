#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "wavewright/covered_time.hpp"

namespace wavewright {
namespace {

constexpr int64_t longest = int64_t{1} << 52, farthest = int64_t{1} << 61;
using Numbers = std::vector<int64_t>;

std::vector<uint32_t> add(CoveredTime& time, const std::vector<uint32_t>& key, const Numbers& begin, const Numbers& end,
                          const std::vector<uint8_t>& known = {}) {
    const std::vector<Nullable<uint32_t>> keys{{key, {}}};
    return time.add(keys, {begin, known}, {end, {}});
}

TEST(covered_time, overlaps_count_once_per_group) {
    CoveredTime time(1, longest, farthest);
    CHECK_EQUAL(add(time, {4, 9, 4}, {0, 0, 5}, {10, 3, 12}), std::vector<uint32_t>{0, 1});
    CHECK_EQUAL(add(time, {4, 4}, {12, 20}, {13, 21}), std::vector<uint32_t>{});
    CHECK_EQUAL(time.totals(), Numbers{14, 3});
}

TEST(covered_time, impossible_intervals_cover_nothing) {
    constexpr int64_t far = std::numeric_limits<int64_t>::max();
    CoveredTime time(1, longest, farthest);
    add(time, {0, 0, 0, 0, 0, 0}, {5, -far, -farthest, 0, far - 1, 7}, {4, far, far, longest, far, 9},
        {1, 1, 1, 1, 1, 0});
    CHECK_EQUAL(time.totals(), Numbers{0});
}

TEST(covered_time, any_order_and_any_pieces) {
    std::mt19937_64 random(7);
    const size_t count = 200'000;
    Numbers begins, ends;
    std::vector<bool> covered(1'000'010);
    for (size_t i = 0; i < count; ++i) {
        begins.push_back(static_cast<int64_t>(random() % 1'000'000));
        ends.push_back(begins.back() + static_cast<int64_t>(random() % 10));
        for (int64_t at = begins.back(); at < ends.back(); ++at) covered[static_cast<size_t>(at)] = true;
    }
    CoveredTime time(0, longest, farthest);
    for (size_t at = 0; at < count; at += 1000) {
        const std::span<const int64_t> begin(&begins[at], 1000), end(&ends[at], 1000);
        time.add({}, {begin, {}}, {end, {}});
    }
    CHECK_EQUAL(time.totals(), Numbers{std::count(covered.begin(), covered.end(), true)});
}

}  // namespace
}  // namespace wavewright

#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "wavewright/call_tree.hpp"

namespace wavewright {
namespace {

struct Made {
    std::vector<uint32_t> thread;
    std::vector<int64_t> begin, end;
    std::vector<uint32_t> name;
    std::vector<uint32_t> launch = std::vector<uint32_t>(thread.size(), 9);
    std::vector<int64_t> launch_ns = {}, launch_count = {};
    std::vector<int64_t> work_begin = std::vector<int64_t>(launch_ns.size(), 1);  // behind the end: never
    std::vector<int64_t> work_end = std::vector<int64_t>(launch_ns.size(), 0);

    CallNodes tree() const {
        return call_tree({thread, begin, end, name, launch, launch_ns, launch_count, work_begin, work_end});
    }
};

template <class T>
std::vector<int64_t> values(const Column<T>& column) {
    return {column.begin(), column.end()};
}

using Numbers = std::vector<int64_t>;

TEST(call_tree, paths_and_times) {
    const Made made{{0, 0, 0, 0, 1}, {0, 10, 40, 100, 0}, {100, 30, 60, 110, 7}, {1, 2, 2, 1, 2}};
    const CallNodes nodes = made.tree();
    CHECK_EQUAL(values(nodes.parent), (Numbers{-1, 0, -1}));
    CHECK_EQUAL(values(nodes.name), (Numbers{1, 2, 2}));
    CHECK_EQUAL(values(nodes.depth), (Numbers{0, 1, 0}));
    CHECK_EQUAL(values(nodes.call_count), (Numbers{2, 2, 1}));
    CHECK_EQUAL(values(nodes.total_ns), (Numbers{110, 40, 7}));
    CHECK_EQUAL(values(nodes.self_ns), (Numbers{70, 40, 7}));
    CHECK_EQUAL(values(nodes.min_ns), (Numbers{10, 20, 7}));
    CHECK_EQUAL(values(nodes.max_ns), (Numbers{100, 20, 7}));
}

TEST(call_tree, the_longer_of_those_that_begin_together_is_outside) {
    const CallNodes nodes = Made{{0, 0}, {5, 5}, {7, 20}, {1, 2}}.tree();
    CHECK_EQUAL(values(nodes.name), (Numbers{2, 1}));
    CHECK_EQUAL(values(nodes.parent), (Numbers{-1, 0}));
    CHECK_EQUAL(values(nodes.self_ns), (Numbers{13, 2}));
}

TEST(call_tree, crossing_calls_are_siblings) {
    const CallNodes nodes = Made{{0, 0, 0}, {0, 10, 20}, {100, 30, 50}, {1, 2, 3}}.tree();
    CHECK_EQUAL(values(nodes.parent), (Numbers{-1, 0, 0}));
    CHECK_EQUAL(values(nodes.crossing_count), (Numbers{0, 0, 1}));
    CHECK_EQUAL(values(nodes.self_ns), (Numbers{60, 20, 30}));  // 20..30 is covered once
}

TEST(call_tree, launches_count_where_they_happen) {
    const Made made{{0, 0}, {0, 1}, {9, 2}, {1, 2}, {9, 0}, {500}, {3}};
    const CallNodes nodes = made.tree();
    CHECK_EQUAL(values(nodes.gpu_ns), (Numbers{0, 500}));
    CHECK_EQUAL(values(nodes.gpu_count), (Numbers{0, 3}));
}

TEST(call_tree, nameless_calls_launch_for_the_call_around_them) {
    const Made made{{0, 0, 0}, {0, 1, 20}, {9, 12, 30}, {1, nameless, nameless}, {9, 0, 1}, {500, 70}, {3, 1}};
    const CallNodes nodes = made.tree();
    CHECK_EQUAL(values(nodes.gpu_ns), (Numbers{500}));
    CHECK_EQUAL(values(nodes.self_ns), (Numbers{9}));
}

TEST(call_tree, the_length_on_the_gpu_is_that_of_each_call) {
    // Two calls of 1: the first launches at 100..130 itself and 120..180 within 2, the second 150..160 by a nameless
    // one.
    const Made made{{0, 0, 0, 0},    {0, 5, 20, 22}, {10, 8, 40, 30},    {1, 2, 1, nameless}, {0, 1, 9, 2},
                    {30, 60, 10, 5}, {1, 1, 1, 1},   {100, 120, 150, 1}, {130, 180, 160, 0}};
    const CallNodes nodes = made.tree();
    CHECK_EQUAL(values(nodes.gpu_length_ns), (Numbers{(180 - 100) + (160 - 150), 180 - 120}));
    CHECK_EQUAL(values(nodes.gpu_ns), (Numbers{40, 60}));
}

TEST(call_tree, impossible_times) {
    constexpr int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
    const CallNodes nodes = Made{{0, 0, 0}, {low, 0, 5}, {high, -7, high}, {1, 2, 3}}.tree();
    CHECK_EQUAL(values(nodes.total_ns), (Numbers{high, 0, high - 5}));
    CHECK_EQUAL(values(nodes.parent), (Numbers{-1, 0, 0}));
    CHECK_EQUAL(values(Made{{}, {}, {}, {}}.tree().name), Numbers{});
}

}  // namespace
}  // namespace wavewright

#include <cstdint>
#include <list>
#include <random>
#include <stdexcept>
#include <utility>

#include "check.hpp"
#include "wavewright/cache_orders.hpp"

namespace wavewright::caches {
namespace {

// Workgroups of two waves: each loads `lines` lines one after the other, waits for the other at a barrier, and stores
// one line. The lines of a workgroup are `apart` lines behind those of the one before; 0 = all workgroups share them.
Work loads(uint32_t workgroups, uint32_t lines, int64_t apart) {
    Work work;
    for (uint32_t line = 0; line < lines; ++line) {
        work.blocks.push_back({line, 1});
        work.steps.push_back({StepKind::load, 1, 0, line, 1});
    }
    work.steps.push_back({StepKind::barrier, 1, 0, 0, 0});
    work.blocks.push_back({1 << 20, 1});
    work.steps.push_back({StepKind::store, 1, 0, lines, 1});
    const auto end = static_cast<uint32_t>(work.steps.size());
    work.waves = {{0, end}, {0, end}};
    work.kinds = {{0, 2}};
    for (uint32_t each = 0; each < workgroups; ++each) {
        work.workgroups.push_back({0, each});
        work.moves.push_back(each * apart);
    }
    return work;
}

// Two XCDs of two CUs with two workgroups each; an L1 of 16 lines per CU, an L2 of 256 lines per XCD.
constexpr Machine kMachine{
    .xcds = 2, .simulated_xcds = 2, .cus = 2, .residents = 2, .l1_sets = 4, .l1_ways = 4, .l2_sets = 64, .l2_ways = 4};

TEST(cache_orders, lines_of_one_workgroup_are_read_once) {
    for (const uint32_t depth : {0U, 1U, 32U}) {
        const Misses misses = simulate(loads(8, 10, 100), kMachine, {.queue_depth = depth});
        CHECK_EQUAL(misses.workgroups, 8U);
        CHECK_EQUAL(misses.read_misses, 80U);
        CHECK_EQUAL(misses.write_misses, 8U);
        CHECK_EQUAL(misses.writes, 16U);
        CHECK_EQUAL(misses.evictions, 0U);
    }
}

TEST(cache_orders, every_xcd_reads_shared_lines) {
    const Misses misses = simulate(loads(8, 10, 0), kMachine, {});
    CHECK_EQUAL(misses.read_misses, 20U);
    Machine one = kMachine;
    one.xcds = one.simulated_xcds = 1;
    CHECK_EQUAL(simulate(loads(8, 10, 0), one, {}).read_misses, 10U);
}

TEST(cache_orders, what_does_not_fit_is_read_again) {
    Machine small = kMachine;  // one workgroup after the other, and nothing before an L2 of four lines
    small.l2_sets = small.cus = small.residents = 1;
    small.l1_sets = small.l1_ways = 0;
    const Misses misses = simulate(loads(8, 10, 0), small, {.queue_depth = 1});
    CHECK(misses.read_misses > 20U);
    CHECK(misses.evictions > 0U);
    CHECK_EQUAL(misses.read_misses + misses.write_misses - misses.evictions, 2U * 4U);
}

TEST(cache_orders, blocks_leave_as_a_whole) {
    Work work = loads(4, 3, 0);
    for (LineBlock& block : work.blocks) block.count = 100;
    Machine machine = kMachine;
    machine.l1_sets = machine.l1_ways = 0;
    machine.last_level_lines = 1000;
    const Misses misses = simulate(work, machine, {});
    CHECK_EQUAL(misses.reads, 4U * 2U * 3U * 100U);
    CHECK(misses.read_misses >= 600U);
    CHECK_EQUAL(misses.last_level_misses, 300U);
}

TEST(cache_orders, the_line_that_was_not_used_for_longest_leaves) {
    constexpr size_t kLines = 75;
    Work work;
    std::mt19937 random(7);
    std::list<int64_t> kept;  // the last one used first
    uint64_t missed = 0;
    int64_t before = -1;
    for (uint32_t at = 0; at < 30'000; ++at) {
        const int64_t line = random() % 4 == 0 ? random() % 200 : int64_t{1} << (random() % 40);
        work.blocks.push_back({line, 1});
        work.steps.push_back({StepKind::load, 1, 0, at, 1});
        if (std::exchange(before, line) == line) continue;  // the L2 of one line has it
        if (std::erase(kept, line) == 0) ++missed;
        kept.push_front(line);
        if (kept.size() > kLines) kept.pop_back();
    }
    work.waves = {{0, 30'000}};
    work.kinds = {{0, 1}};
    work.workgroups = {{0, 0}};
    work.moves = {0};
    const Machine machine{.l2_sets = 1, .l2_ways = 1, .last_level_lines = kLines};
    CHECK_EQUAL(simulate(work, machine, {}).last_level_misses, missed);
}

TEST(cache_orders, waves_that_end_before_a_barrier_do_not_hold_the_others) {
    Work work = loads(2, 4, 0);
    work.waves[1].end_step = 2;
    CHECK_EQUAL(simulate(work, kMachine, {.queue_depth = 32}).workgroups, 2U);
    work.waves[1].end_step = work.waves[1].first_step;
    CHECK_EQUAL(simulate(work, kMachine, {}).workgroups, 2U);
}

TEST(cache_orders, numbers_that_point_outside_are_refused) {
    const auto is_refused = [](const Work& work, const Machine& machine) {
        try {
            simulate(work, machine, {});
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    Work work = loads(2, 2, 0);
    CHECK(!is_refused(work, kMachine));
    work.moves.pop_back();
    CHECK(is_refused(work, kMachine));
    work = loads(2, 2, 0);
    work.steps[0].block_count = 9;
    CHECK(is_refused(work, kMachine));
    work = loads(2, 2, 0);
    work.kinds[0].end_wave = 0;
    CHECK(is_refused(work, kMachine));
    Machine machine = kMachine;
    machine.cus = 0;
    CHECK(is_refused(loads(2, 2, 0), machine));
}

}  // namespace
}  // namespace wavewright::caches

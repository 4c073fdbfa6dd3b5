// Waits and gaps on small made-up programs. Rows stand for code, steps for its executions by a wave; times and
// durations are cycles, and a wait that need not wait takes 4.
#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/stalls.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kStoreKind = 6;
constexpr uint8_t kImmed = 9, kVmem = 3, kJump = 7;  // Category

// A row of code: an operation with its place in StallRules, or a wait if `waits` has something.
struct Row {
    uint16_t adds = 0;
    uint8_t order = 0;
    uint8_t kind = 1;
    std::vector<std::pair<uint8_t, int32_t>> waits = {};  // counter and value
    int64_t line = 0;
    bool is_end = false;
};

// An execution.
struct Step {
    int32_t row;
    int64_t time;
    int32_t duration = 4;
    int32_t stall = 0;
    uint8_t category = kImmed;
    uint32_t wave = 0;
};

// The columns of StallRules and StallInput, kept alive.
struct StallColumns {
    std::vector<uint16_t> adds;
    std::vector<uint8_t> order, kind, is_wait, is_end, wait_counter, category;
    std::vector<int64_t> line;
    std::vector<int32_t> wait_row, wait_value, stall, duration, row;
    std::vector<uint32_t> wave;
    std::vector<int64_t> time;
};

StallColumns columns_of(const std::vector<Row>& rows, const std::vector<Step>& steps) {
    StallColumns columns;
    for (const Row& row : rows) {
        for (const auto& [counter, value] : row.waits) {
            columns.wait_row.push_back(static_cast<int32_t>(columns.adds.size()));
            columns.wait_counter.push_back(counter);
            columns.wait_value.push_back(value);
        }
        columns.adds.push_back(row.adds);
        columns.order.push_back(row.order);
        columns.kind.push_back(row.kind);
        columns.is_wait.push_back(!row.waits.empty());
        columns.is_end.push_back(row.is_end);
        columns.line.push_back(row.line);
    }
    for (const Step& step : steps) {
        columns.wave.push_back(step.wave);
        columns.time.push_back(step.time);
        columns.stall.push_back(step.stall);
        columns.duration.push_back(step.duration);
        columns.category.push_back(step.category);
        columns.row.push_back(step.row);
    }
    return columns;
}

StallPass resolved(const std::vector<Row>& rows, const std::vector<Step>& steps, std::vector<uint8_t> counted = {}) {
    const StallColumns columns = columns_of(rows, steps);
    const StallRules rules{.adds = columns.adds,
                           .order = columns.order,
                           .kind = columns.kind,
                           .is_wait = columns.is_wait,
                           .is_end = columns.is_end,
                           .line = columns.line,
                           .wait_row = columns.wait_row,
                           .wait_counter = columns.wait_counter,
                           .wait_value = columns.wait_value,
                           .store_kinds = 1u << kStoreKind};
    StallInput input{.wave = columns.wave,
                     .time = columns.time,
                     .stall = columns.stall,
                     .duration = columns.duration,
                     .category = columns.category,
                     .row = columns.row,
                     .counted = counted,
                     .port_was_busy = {},
                     .begin = {{0, {}}},
                     .free_wait_cycles = 4,
                     .keeps_each = true};
    return resolve_stalls(rules, input);
}

// The edges as "wait row<-producer row:count/candidates/last", in the order in which they were first seen.
std::string edges_of(const StallPass& pass) {
    std::ostringstream text;
    for (size_t i = 0; i < pass.edges.row.size(); ++i)
        text << (i == 0 ? "" : " ") << pass.edges.row[i] << "<-" << pass.edges.producer_row[i] << ":"
             << pass.edges.count[i] << "/" << pass.edges.candidate_count[i] << "/" << pass.edges.last_count[i];
    return text.str();
}

// Counter 0 counts loads, which complete in order. Counter 1 counts scalar loads, in any order, and LDS, in order. FLAT
// operations count on both.
const Row kLoad{.adds = 1, .order = 1, .kind = 1, .waits = {}};
const Row kScalar{.adds = 2, .order = 0, .kind = 2, .waits = {}};
const Row kLds{.adds = 2, .order = 2, .kind = 3, .waits = {}};
const Row kFlat{.adds = 3, .order = 0, .kind = 4, .waits = {}};

TEST(stalls, the_youngest_of_a_sequence_ends_the_wait) {
    const StallPass pass = resolved({kLoad, kLoad, {.waits = {{0, 1}}}}, {{0, 0}, {1, 4}, {0, 8}, {2, 100, 204, 204}});
    CHECK_EQUAL(edges_of(pass), "2<-0:1/0/0 2<-1:1/0/1");
    CHECK_EQUAL(pass.edges.last_stall[1], 200);
    CHECK_EQUAL(pass.edges.distance[1], 96);
    CHECK_EQUAL(pass.edges.steps[0], 3);
    CHECK_EQUAL(pass.edges.latency[1], 300);
    CHECK_EQUAL(pass.samples.latency[1], 300u);
    CHECK_EQUAL(pass.samples.is_tight[1], 1);
    CHECK_EQUAL(pass.samples.is_tight[0], 0);
}

TEST(stalls, a_free_wait_bounds_latency_by_the_distance) {
    const StallPass pass = resolved({kLoad, {.waits = {{0, 0}}}}, {{0, 0, 8, 4}, {1, 100, 4, 4}});
    CHECK_EQUAL(edges_of(pass), "1<-0:1/0/0");
    CHECK_EQUAL(pass.edges.free_count[0], 1);
    CHECK_EQUAL(pass.samples.latency[0], 96u);
    CHECK_EQUAL(pass.groups.stalled_count[1], 0);
}

TEST(stalls, scalar_loads_leave_candidates_unless_everything_is_awaited) {
    const std::vector<Row> rows = {kScalar, kLds, {.waits = {{1, 1}}}, {.waits = {{1, 0}}}};
    // Two LDS operations complete in order: the older is certain, the younger and the scalar load are candidates.
    const StallPass pass = resolved(rows, {{0, 0}, {1, 4}, {1, 8}, {2, 12, 40, 40}, {3, 60, 40, 40}});
    CHECK_EQUAL(edges_of(pass), "2<-1:1/1/0 2<-0:0/1/0 3<-0:1/0/0 3<-1:1/0/0");
    CHECK_EQUAL(pass.groups.key[2], kWaitUncertain | 1u << 2 | 1u << 3);
    CHECK_EQUAL(pass.groups.key[3], 1u << 2 | 1u << 3);
}

TEST(stalls, a_counter_that_is_low_enough_waits_for_nobody) {
    const std::vector<Row> rows = {kScalar, kLds, {.waits = {{1, 1}}}};
    const StallPass pass = resolved(rows, {{0, 0}, {1, 4}, {2, 8}, {2, 12}});
    CHECK_EQUAL(edges_of(pass), "2<-0:0/1/0 2<-1:0/1/0");  // the second wait adds nothing
    CHECK_EQUAL(pass.groups.key[3], 0u);
}

TEST(stalls, flat_operations_count_once) {
    const std::vector<Row> rows = {kFlat, {.waits = {{0, 0}, {1, 0}}}, {.waits = {{1, 0}}}};
    CHECK_EQUAL(edges_of(resolved(rows, {{0, 0}, {1, 4, 40, 40}, {2, 60}})), "1<-0:1/0/1");
    CHECK_EQUAL(edges_of(resolved(rows, {{0, 0}, {2, 4, 40, 40}, {1, 60}})), "2<-0:1/0/1");
}

TEST(stalls, two_counters_do_not_tell_who_was_last) {
    const std::vector<Row> rows = {kLoad, kLds, {.waits = {{0, 0}, {1, 0}}}};
    const StallPass pass = resolved(rows, {{0, 0}, {1, 4}, {2, 8, 100, 100}});
    CHECK_EQUAL(edges_of(pass), "2<-0:1/0/0 2<-1:1/0/0");
    CHECK_EQUAL(pass.groups.key[2], 1u << 1 | 1u << 3);
}

TEST(stalls, unknown_operations_and_waits_are_said) {
    const std::vector<Row> rows = {kLoad, {.waits = {{0, 0}}}};
    const StallPass pass = resolved(rows, {{-1, 0, 4, 0, kVmem}, {0, 4}, {1, 8, 40, 40}, {1, 60}});
    CHECK_EQUAL(edges_of(pass), "1<-0:1/0/0");
    CHECK_EQUAL(pass.groups.key[2], kWaitUnknown | 1u << 1);
    CHECK_EQUAL(pass.groups.key[3], 0u);
}

int64_t cycles_of(const StallPass& pass, size_t row, Gap gap) {
    return pass.idle.gap[static_cast<size_t>(gap)][row];
}

TEST(stalls, idle_by_what_came_before) {
    const std::vector<Row> rows = {{}, {}};
    const StallPass pass =
        resolved(rows, {{0, 20, 4, 0, kJump}, {1, 40}, {-1, 44, 100}, {1, 60}, {1, 62}, {0, 10, 4, 0, kImmed, 7}});
    CHECK_EQUAL(pass.idle.row.size(), 2u);
    CHECK_EQUAL(cycles_of(pass, 0, Gap::start), 20);  // the second wave's begin is not known: no gap
    CHECK_EQUAL(cycles_of(pass, 1, Gap::fetch), 16);
    CHECK_EQUAL(cycles_of(pass, 1, Gap::dependency), 16);
}

TEST(stalls, a_line_is_cold_until_a_wave_has_executed_it) {
    const std::vector<Row> rows = {{}, {.line = 1}};
    // The second wave waits for the line while the first one does; the first one's second pass finds it there.
    const StallPass pass =
        resolved(rows, {{0, 0}, {1, 100}, {0, 104}, {1, 120}, {0, 0, 4, 0, kImmed, 1}, {1, 100, 4, 0, kImmed, 1}});
    CHECK_EQUAL(cycles_of(pass, 0, Gap::cold_fetch), 2 * 96);
    CHECK_EQUAL(cycles_of(pass, 0, Gap::fetch), 12);
    CHECK_EQUAL(pass.each.gap[1], static_cast<uint8_t>(Gap::cold_fetch));
}

TEST(stalls, stores_in_flight_drain_at_the_end) {
    const Row store{.adds = 1, .order = 1, .kind = kStoreKind};
    const std::vector<Row> rows = {store, {.is_end = true}, {.waits = {{0, 0}}}};
    const StallPass pass = resolved(rows, {{0, 0}, {1, 50, 30}});
    CHECK_EQUAL(cycles_of(pass, 0, Gap::drain), 46);
    CHECK_EQUAL(pass.idle.ending[0], 26);
    const StallPass waited = resolved(rows, {{0, 0}, {2, 4, 40, 40}, {1, 50, 30}});
    CHECK_EQUAL(cycles_of(waited, 0, Gap::dependency), 6);
    CHECK_EQUAL(waited.idle.ending[0], 0);
}

TEST(stalls, the_producer_of_a_wait_by_its_distance) {
    const Row load{.adds = 1, .order = 1};
    const StallPass pass = resolved({load, {.waits = {{0, 0}}}}, {{0, 0}, {0, 4}, {1, 8, 40, 40}});
    CHECK_EQUAL(pass.each.producer[2], 1u);
    CHECK_EQUAL(pass.each.producer[0], 0u);
}

TEST(stalls, what_does_not_count_still_happens) {
    const std::vector<Row> rows = {kLoad, {.waits = {{0, 0}}}};
    const StallPass pass = resolved(rows, {{0, 0}, {1, 100, 104, 104}}, {0, 1});
    CHECK_EQUAL(edges_of(pass), "1<-0:1/0/1");
    CHECK_EQUAL(pass.groups.row.size(), 1u);
    CHECK_EQUAL(pass.idle.row.size(), 1u);
}

TEST(stalls, waves_are_apart) {
    const std::vector<Row> rows = {kLoad, {.waits = {{0, 0}}}};
    CHECK_EQUAL(edges_of(resolved(rows, {{0, 0}, {1, 4, 4, 0, kImmed, 1}})), "");
}

// Any rows and times give sums that add up.
TEST(stalls, total_on_anything) {
    std::mt19937_64 random(3);
    const std::vector<Row> rows = {
        kLoad, kScalar, kLds, kFlat, {.waits = {{0, 2}, {1, 1}}}, {.waits = {{1, 0}}}, {.kind = 0, .waits = {}}};
    const int64_t odd[] = {0, 5, -7, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (int round = 0; round < 50; ++round) {
        std::vector<Step> steps;
        for (int i = 0; i < 700; ++i) {
            const auto pick = [&](uint64_t count) { return random() % count; };
            steps.push_back({static_cast<int32_t>(pick(9)) - 1, round % 2 ? odd[pick(5)] : i * 4,
                             static_cast<int32_t>(random()), static_cast<int32_t>(random()),
                             static_cast<uint8_t>(pick(16)), static_cast<uint32_t>(pick(100) == 0 ? i : i / 300)});
        }
        const StallPass pass = resolved(rows, steps);
        int64_t executions = 0, stall = 0, expected = 0;
        for (size_t i = 0; i < pass.groups.row.size(); ++i) {
            executions += pass.groups.execution_count[i];
            stall += pass.groups.stall[i];
        }
        for (const Step& step : steps) expected += step.stall;
        CHECK_EQUAL(executions, static_cast<int64_t>(steps.size()));
        CHECK_EQUAL(stall, expected);
        for (size_t i = 0; i < pass.edges.row.size(); ++i) CHECK(pass.edges.last_count[i] <= pass.edges.count[i]);
    }
}

// Operations in any order that nobody sees complete do not pile up: a wait looks at no more than a counter can count.
TEST(stalls, lists_stay_short) {
    constexpr int kWaits = 10'000, kMaxCounted = 256;
    std::vector<Step> steps;
    for (int i = 0; i < 2 * kWaits; ++i) steps.push_back({i % 2, i * 4});
    const StallPass pass = resolved({kScalar, {.waits = {{1, 1}}}}, steps);
    CHECK_EQUAL(pass.edges.row.size(), 1u);
    CHECK(pass.edges.candidate_count[0] > kWaits);
    CHECK(pass.edges.candidate_count[0] <= int64_t{kMaxCounted} * kWaits);
}

}  // namespace
}  // namespace wavewright

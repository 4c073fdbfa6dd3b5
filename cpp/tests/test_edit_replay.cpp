#include <cstdint>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "edits/edit_queues.hpp"
#include "wavewright/edit_replay.hpp"

namespace wavewright {
namespace {

constexpr uint8_t kLds = 5, kEditMath = 6, kEditWait = 9;

// One wave, twice through a loop of four rows: a load from LDS, a wait for it, its use, and other math. The load takes
// 60 cycles, so the wait issues 60 cycles after it; every other row takes 4.
struct Loop {
    std::vector<int64_t> time{0, 4, 60, 64, 68, 72, 128, 132}, begin{0}, end{136};
    std::vector<int32_t> stall{0, 52, 0, 0, 0, 52, 0, 0}, duration{4, 56, 4, 4, 4, 56, 4, 4},
        row{0, 1, 2, 3, 0, 1, 2, 3};
    std::vector<int32_t> port_cycles{4, 4, 4, 4}, unit{1, -1, -1, -1}, wait_row{1}, wait_value{0};
    std::vector<uint8_t> category{kLds, kEditWait, kEditMath, kEditMath, kLds, kEditWait, kEditMath, kEditMath},
        zero = std::vector<uint8_t>(8);
    std::vector<uint8_t> is_matrix{0, 0, 0, 0}, order{1, 1, 1, 1}, is_wait{0, 1, 0, 0}, is_end{0, 0, 0, 0};
    std::vector<uint8_t> dwords{1, 0, 0, 0}, is_store{0, 0, 0, 0}, wait_counter{0};
    std::vector<uint16_t> adds{1, 0, 0, 0};
    std::vector<uint32_t> producer = std::vector<uint32_t>(8), count{8}, cu{0}, simd{0}, key{0, 1, 2, 3};
    std::vector<uint64_t> first{0};

    EditReplay replay() const {
        ReplayInput input;
        input.time = time;
        input.stall = stall;
        input.duration = duration;
        input.row = row;
        input.category = category;
        input.cause = input.gap_cause = zero;
        input.producer = producer;
        input.is_matrix = is_matrix;
        input.port_cycles = port_cycles;
        input.first = first;
        input.count = count;
        input.begin = begin;
        input.end = end;
        input.cu = cu;
        input.simd = simd;
        return EditReplay(input, {.adds = adds,
                                  .order = order,
                                  .is_wait = is_wait,
                                  .is_end = is_end,
                                  .unit = unit,
                                  .dwords = dwords,
                                  .is_store = is_store,
                                  .key = key,
                                  .wait_row = wait_row,
                                  .wait_counter = wait_counter,
                                  .wait_value = wait_value});
    }
};

EditRow kept(int32_t row) {
    EditRow made;
    made.row = row;
    return made;
}

EditRow moved(int32_t row) {
    EditRow made = kept(row);
    made.is_moved = true;
    return made;
}

TEST(edit_replay, repeats_what_was_recorded) {
    const Loop loop;
    const EditReplay replay = loop.replay();
    CHECK_EQUAL(replay.recorded_cycles(), 136);
    const EditedBlock same{0, 3, {kept(0), kept(1), kept(2), kept(3)}, {}, {}};
    for (size_t mode = 0; mode < kEditModes; ++mode) {
        CHECK_EQUAL(replay.as_recorded().cycles[mode], 136);
        CHECK_EQUAL(replay.edited(same).cycles[mode], 136);
    }
    CHECK_EQUAL(replay.edited(same).executions, 2u);
}

// The other math between the load and its wait hides 4 cycles of it in each of the two rounds.
TEST(edit_replay, hides_latency_behind_what_moves_before_the_wait) {
    const Loop loop;
    const EditTimes times = loop.replay().edited({0, 3, {kept(0), moved(3), kept(1), kept(2)}, {}, {}});
    CHECK_EQUAL(times.cycles[static_cast<size_t>(EditMode::kept)], 136 - 2 * 4);
    CHECK(!times.is_extrapolated);
    CHECK_EQUAL(times.lacking_samples, 0u);
}

// A wait that is put in waits for the load as well; padding behind it costs its states.
TEST(edit_replay, takes_new_waits_and_padding) {
    const Loop loop;
    EditRow wait, padding;
    wait.is_wait = true;
    wait.waits = {{0, 0}};
    padding.padding_states = 10;
    const EditedBlock plain{0, 3, {kept(0), wait, kept(2), kept(3)}, {}, {}};
    const EditedBlock padded{0, 3, {kept(0), wait, padding, kept(2), kept(3)}, {}, {}};
    const EditReplay replay = loop.replay();
    CHECK_EQUAL(replay.edited(padded).cycles[0] - replay.edited(plain).cycles[0], 2 * 40);
}

// A raw trace has two records of a barrier, its arrival and its release: one row of the block, executed once.
TEST(edit_replay, takes_two_records_of_one_row_as_one_execution) {
    Loop loop;
    loop.time.insert(loop.time.begin() + 3, 62);
    loop.stall.insert(loop.stall.begin() + 3, 0);
    loop.duration[2] = 2;
    loop.duration.insert(loop.duration.begin() + 3, 2);
    loop.row.insert(loop.row.begin() + 3, 2);
    loop.category.insert(loop.category.begin() + 3, kEditMath);
    loop.zero.push_back(0);
    loop.producer.push_back(0);
    loop.count = {9};
    const EditReplay replay = loop.replay();
    const EditTimes same = replay.edited({0, 3, {kept(0), kept(1), kept(2), kept(3)}, {}, {}});
    CHECK_EQUAL(same.executions, 2u);
    CHECK_EQUAL(same.cycles[0], 136);
    CHECK_EQUAL(replay.edited({2, 2, {kept(2)}, {}, {}}).executions, 3u);
}

// The two rounds of the loop as two waves of two CUs, which both begin with the block: the second one does not have to
// issue behind the last instruction of the first.
TEST(edit_replay, begins_each_wave_by_itself) {
    Loop loop;
    loop.first = {0, 4};
    loop.count = {4, 4};
    loop.begin = {0, 68};
    loop.end = {68, 136};
    loop.cu = loop.simd = {0, 1};
    const EditReplay replay = loop.replay();
    const EditedBlock block{0, 3, {moved(3), kept(0), kept(1), kept(2)}, {}, {}};
    CHECK_EQUAL(replay.issues(0, &block).front().issue, 0);
    CHECK_EQUAL(replay.issues(1, &block).front().issue, 0);
}

TEST(edit_replay, refuses_times_that_lie_too_far_apart) {
    Loop loop;
    loop.end = {INT64_MAX};
    loop.begin = {INT64_MIN};
    bool is_refused = false;
    try {
        loop.replay();
    } catch (const std::invalid_argument&) {
        is_refused = true;
    }
    CHECK(is_refused);
}

using QueuedOperations = std::vector<uint32_t>;

constexpr uint16_t kFirstCounter = 1, kSecondCounter = 2;  // masks of counters 0 and 1

TEST(edit_queues, ordered_operations_are_done_oldest_first) {
    OperationQueues queues;
    for (const uint32_t operation : {0, 1, 2}) queues.add(operation, kFirstCounter, 1);
    const auto& answer = queues.wait(std::vector<EditWait>{{0, 1}});
    CHECK_EQUAL(answer.producers, (QueuedOperations{0, 1}));
    CHECK(answer.is_certain);
    CHECK_EQUAL(answer.in_flight, 3u);
}

TEST(edit_queues, of_operations_that_overtake_only_the_worst_case_is_proven) {
    OperationQueues unordered;
    for (const uint32_t operation : {0, 1, 2}) unordered.add(operation, kFirstCounter, operation == 1 ? 0 : 1);
    const auto& mixed = unordered.wait(std::vector<EditWait>{{0, 1}});
    CHECK_EQUAL(mixed.producers, QueuedOperations{0});
    CHECK(!mixed.is_certain);

    OperationQueues of_two_orders;
    of_two_orders.add(0, kFirstCounter, 1);
    of_two_orders.add(1, kFirstCounter, 2);
    CHECK(of_two_orders.wait(std::vector<EditWait>{{0, 1}}).producers.empty());  // either of them may be the one left
    const auto& all = of_two_orders.wait(std::vector<EditWait>{{0, 0}});
    CHECK_EQUAL(all.producers, (QueuedOperations{0, 1}));
    CHECK(!all.is_certain);
}

TEST(edit_queues, an_operation_of_two_counters_is_done_once) {
    OperationQueues queues;
    queues.add(0, kFirstCounter | kSecondCounter, 1);
    queues.add(1, kSecondCounter, 1);
    const auto& answer = queues.wait(std::vector<EditWait>{{0, 0}, {1, 0}});
    CHECK_EQUAL(answer.producers, (QueuedOperations{0, 1}));
    CHECK(!answer.is_certain);
    CHECK_EQUAL(answer.in_flight, 2u);
}

TEST(edit_queues, a_counter_that_does_not_exist_proves_nothing) {
    OperationQueues queues;
    queues.add(0, kFirstCounter, 1);
    CHECK(queues.wait(std::vector<EditWait>{{kEditCounters, 0}}).producers.empty());
    CHECK_EQUAL(queues.wait(std::vector<EditWait>{{0, 0}}).producers, QueuedOperations{0});
}

}  // namespace
}  // namespace wavewright

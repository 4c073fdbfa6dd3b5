// The operations of one wave that are in flight, in a queue per wait counter, and which of them a wait proves to be
// done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "wavewright/edit_replay.hpp"

namespace wavewright {

// Operations are numbers that the caller chooses, ascending in the order of issue.
class OperationQueues {
  public:
    struct Answer {
        std::vector<uint32_t> producers;  // operations that the waits prove to be done; ascending
        // The wait ended when the last of `producers` was done. Otherwise any of them, or an operation that is not
        // among them, may have ended it.
        bool is_certain = true;
        // Entries of the queues that had to become shorter, before they did. An operation of two such counters counts
        // twice, unless the wait for the first one has removed it from the queue of the second.
        uint32_t in_flight = 0;
    };

    // Bit n of `counter_mask`: the operation is counted by wait counter n until it is done. Operations of one `order`
    // complete in the order of their issue; 0 = in any order (EditRules::adds and EditRules::order).
    void add(uint32_t operation, uint16_t counter_mask, uint8_t order) {
        const bool has_several_counters = (counter_mask & (counter_mask - 1)) != 0;
        for (size_t counter = 0; counter < kEditCounters; ++counter) {
            if ((counter_mask >> counter & 1) == 0) continue;
            std::vector<Operation>& queue = queues_[counter];
            if (queue.size() >= kMaxQueued) queue.erase(queue.begin(), queue.begin() + kMaxQueued / 2);
            queue.push_back({operation, order, has_several_counters});
        }
    }

    // Removes the operations that are done after these waits. The answer is valid until the next call. Damaged input
    // can name counters that do not exist: no operation is counted by them, so these waits prove nothing.
    const Answer& wait(std::span<const EditWait> waits) {
        answer_ = {};
        size_t queues_with_producers = 0;  // of two it is not known which one was the last to become short enough
        for (const EditWait& wait : waits) {
            if (wait.counter >= kEditCounters) continue;
            std::vector<Operation>& queue = queues_[wait.counter];
            const auto value = static_cast<size_t>(std::max(0, wait.value));
            if (queue.size() <= value) continue;
            answer_.in_flight += static_cast<uint32_t>(queue.size());
            queues_with_producers += take_done(queue, value) ? 1 : 0;
        }
        std::sort(answer_.producers.begin(), answer_.producers.end());
        answer_.producers.erase(std::unique(answer_.producers.begin(), answer_.producers.end()),
                                answer_.producers.end());
        answer_.is_certain &= queues_with_producers == 1;
        return answer_;
    }

    // Calls `visit` with every operation in flight, by counter; with one of several counters once for each.
    template <class Visitor>
    void each(Visitor&& visit) const {
        for (const auto& queue : queues_)
            for (const Operation& operation : queue) visit(operation.number);
    }

  private:
    struct Operation {
        uint32_t number;
        uint8_t order;
        bool has_several_counters;
    };

    // More than any hardware counter counts (vmcnt of gfx9 counts to 63), so that the hardware itself would have
    // waited for the oldest ones. Bounds the memory where no wait of the code is known.
    static constexpr size_t kMaxQueued = 256;

    static bool complete_in_order(std::span<const Operation> operations) {
        return std::all_of(operations.begin(), operations.end(), [&](const Operation& operation) {
            return operation.order != 0 && operation.order == operations.front().order;
        });
    }

    // Takes out what is done when the counter of a queue has fallen to `value`, which is less than its length. Whether
    // anything is.
    bool take_done(std::vector<Operation>& queue, size_t value) {
        if (value > 0 && !complete_in_order(queue)) return take_proven(queue, value);
        size_t done = queue.size() - value;
        answer_.is_certain &= done == 1 || complete_in_order(std::span(queue).first(done));
        return take(queue, [&](const Operation&) {
            if (done == 0) return false;
            --done;
            return true;
        });
    }

    // Where operations may overtake each other, all `value` that are left may be of one order. In this worst case only
    // the oldest (n - value) of the n operations of each order are proven to be done, and none that has no order. Which
    // operation ended the wait is not known then.
    bool take_proven(std::vector<Operation>& queue, size_t value) {
        answer_.is_certain = false;
        std::array<size_t, std::numeric_limits<uint8_t>::max() + 1> in_flight{};  // by order
        for (const Operation& operation : queue) ++in_flight[operation.order];
        return take(queue, [&](const Operation& operation) {
            if (operation.order == 0 || in_flight[operation.order] <= value) return false;
            --in_flight[operation.order];
            return true;
        });
    }

    // Moves operations from a queue to the producers, the oldest first, and takes those of several counters out of the
    // other queues as well. Whether there were any.
    template <class IsDone>
    bool take(std::vector<Operation>& queue, IsDone&& is_done) {
        const size_t first = answer_.producers.size();
        bool was_in_several = false;
        std::erase_if(queue, [&](const Operation& operation) {
            if (!is_done(operation)) return false;
            was_in_several |= operation.has_several_counters;
            answer_.producers.push_back(operation.number);
            return true;
        });
        const std::span<const uint32_t> done = std::span(answer_.producers).subspan(first);
        if (was_in_several) remove_everywhere(done);
        return !done.empty();
    }

    void remove_everywhere(std::span<const uint32_t> operations) {
        for (auto& queue : queues_)
            std::erase_if(queue, [&](const Operation& operation) {
                return std::find(operations.begin(), operations.end(), operation.number) != operations.end();
            });
    }

    std::array<std::vector<Operation>, kEditCounters> queues_;  // by counter; the oldest operation first
    Answer answer_;
};

}  // namespace wavewright

// The operations of one wave that are in flight, in a queue per wait counter, and which of them a wait proves to be
// done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/edit_replay.hpp"

namespace wavewright {

class OperationQueues {
  public:
    struct Answer {
        std::vector<uint32_t> producers;  // ascending
        bool is_certain = true;           // the last of them ended the wait
        uint32_t in_flight = 0;           // operations of the counters before it
    };

    void add(uint32_t operation, uint16_t counters, uint8_t order) {
        for (size_t counter = 0; counter < kEditCounters; ++counter) {
            if ((counters >> counter & 1) == 0) continue;
            std::vector<Operation>& queue = queues_[counter];
            if (queue.size() >= kMost) queue.erase(queue.begin(), queue.begin() + kMost / 2);
            queue.push_back({operation, order, (counters & (counters - 1)) != 0});
        }
    }

    // Removes the operations that are done after these waits. The answer is valid until the next call.
    const Answer& wait(std::span<const EditWait> waits) {
        answer_ = {};
        size_t sequences = 0;
        for (const EditWait& wait : waits) {
            std::vector<Operation>& queue = queues_[wait.counter % kEditCounters];
            const auto value = static_cast<size_t>(std::max(0, wait.value));
            if (queue.size() <= value) continue;
            answer_.in_flight += static_cast<uint32_t>(queue.size());
            const size_t before = answer_.producers.size();
            take(queue, value);
            sequences += answer_.producers.size() != before;
        }
        std::sort(answer_.producers.begin(), answer_.producers.end());
        answer_.producers.erase(std::unique(answer_.producers.begin(), answer_.producers.end()),
                                answer_.producers.end());
        answer_.is_certain = answer_.is_certain && sequences == 1;
        return answer_;
    }

    template <class Visitor>
    void each(Visitor&& visit) const {
        for (const auto& queue : queues_)
            for (const Operation& operation : queue) visit(operation.number);
    }

  private:
    struct Operation {
        uint32_t number;
        uint8_t order;      // operations of one order complete in order; 0 = in any order
        bool counts_twice;  // it is in the queues of several counters
    };
    static constexpr size_t kMost = 256;  // hardware counters are smaller

    static bool in_order(std::span<const Operation> operations) {
        return std::all_of(operations.begin(), operations.end(), [&](const Operation& operation) {
            return operation.order != 0 && operation.order == operations.front().order;
        });
    }

    // Removes what is done when the counter of a queue has fallen to `value`. If operations complete in any order, it
    // is certain only that as many are done as ordered ones exceed the value; the answer is not certain then.
    void take(std::vector<Operation>& queue, size_t value) {
        size_t done = queue.size() - value;
        bool only_ordered = false;
        if (value > 0 && !in_order(queue)) {
            const auto ordered = static_cast<size_t>(
                std::count_if(queue.begin(), queue.end(), [](const Operation& each) { return each.order != 0; }));
            done = ordered > value ? ordered - value : 0;
            only_ordered = true;
            answer_.is_certain = false;
        } else if (done > 1 && !in_order(std::span(queue).first(done))) {
            answer_.is_certain = false;
        }
        bool twice = false;
        const size_t first = answer_.producers.size();
        std::erase_if(queue, [&](const Operation& operation) {
            if (done == 0 || (only_ordered && operation.order == 0)) return false;
            --done;
            twice |= operation.counts_twice;
            answer_.producers.push_back(operation.number);
            return true;
        });
        if (!twice) return;
        for (auto& other : queues_)
            std::erase_if(other, [&](const Operation& operation) {
                return std::find(answer_.producers.begin() + static_cast<std::ptrdiff_t>(first),
                                 answer_.producers.end(), operation.number) != answer_.producers.end();
            });
    }

    std::array<std::vector<Operation>, kEditCounters> queues_;
    Answer answer_;
};

}  // namespace wavewright

// Traced instructions in their recorded or in a new order, as one sequence for all waves that a replay walks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "edits/edit_queues.hpp"
#include "wavewright/edit_replay.hpp"

namespace wavewright {

constexpr int64_t kLongestSpan = int64_t{1} << 40;

inline int64_t plain(int64_t earlier, int64_t later) {
    int64_t difference = 0;
    if (__builtin_sub_overflow(later, earlier, &difference) || std::abs(difference) > kLongestSpan)
        throw std::invalid_argument("the times of this trace lie too far apart to replay an edit");
    return difference;
}

template <class T>
T at_row(std::span<const T> values, int32_t row, T otherwise = {}) {
    return row >= 0 && static_cast<size_t>(row) < values.size() ? values[static_cast<size_t>(row)] : otherwise;
}

// The instructions of all waves in their new order.
struct EditReplay::Sequence {
    static constexpr uint32_t kNoSource = std::numeric_limits<uint32_t>::max();

    struct Item {
        uint32_t source = kNoSource;
        int32_t wait = 0, own = 0;
        int64_t recorded = 0;  // order among those that wait for a port
        uint32_t first_edge = 0;
        int64_t longest = -1;  // latency of the operations that are one with it
        uint8_t dwords = 0;
        bool is_wait = false, is_moved = false, ends = false;
    };
    struct Edge {
        uint32_t from;
        int32_t cycles;  // from issue to issue; -1 = from its end
    };

    std::vector<Item> items;
    std::vector<Edge> edges;
    std::vector<uint64_t> first;  // of each wave, and behind the last one
    std::vector<int64_t> rest;    // of each wave, from its last issue to its end
    uint64_t memory_dwords = 0, executions = 0, lacking_samples = 0, waits_seen = 0, emptier_waits = 0;
};

constexpr uint8_t kMemoryPort = 5;  // Port of replay.cpp

class EditReplay::Builder {
  public:
    Builder(const EditReplay& replay, const EditedBlock* block) : replay_(replay), block_(block) {
        if (block_ == nullptr) return;
        for (const EditRow& row : block_->rows)
            if (row.row < 0 || row.is_moved || row.ahead) is_changed_ = true;
    }

    Sequence build() {
        sequence_.items.reserve(replay_.sources_.size() + replay_.sources_.size() / 8);
        for (size_t wave = 0; wave < replay_.input_.first.size(); ++wave) build_wave(wave);
        sequence_.first.push_back(sequence_.items.size());
        sequence_.items.push_back({.first_edge = static_cast<uint32_t>(sequence_.edges.size())});
        return std::move(sequence_);
    }

  private:
    using Item = Sequence::Item;

    void build_wave(size_t wave) {
        const ReplayInput& input = replay_.input_;
        begin_ = input.first[wave];
        const uint64_t stop = begin_ + input.count[wave];
        sequence_.first.push_back(sequence_.items.size());
        sequence_.rest.push_back(replay_.replay_.rest_[wave]);
        queues_ = {};
        post_ = 0;
        recorded_ = replay_.begins_[wave];
        bool is_around = false;
        for (uint64_t i = begin_; i < stop;) {
            if (block_ == nullptr || !find(now_, i, stop)) {
                add(i, nullptr, i);
                is_around = false;
                ++i;
                continue;
            }
            const bool goes_on = find(next_, i + now_.length, stop);
            ++sequence_.executions;
            if (!is_around)
                for (const EditRow& row : block_->prologue) add_row(row, now_);
            places_before_ = is_around ? std::exchange(places_, {}) : std::vector<uint32_t>{};
            places_.clear();
            for (size_t k = 0; k < block_->rows.size(); ++k) {
                const EditRow& row = block_->rows[k];
                places_.push_back(static_cast<uint32_t>(sequence_.items.size()));
                const bool is_head = k == 0 && row.row != block_->first;
                add_row(row, row.ahead && goes_on ? next_ : now_, is_head);
            }
            if (!goes_on)
                for (const EditRow& row : block_->epilogue) add_row(row, now_);
            is_around = true;
            i += now_.length;
        }
        finish(wave);
    }

    // One execution of the block: where the records of its rows stand. In raw traces a barrier has two, its arrival and
    // its release; a block of one row that is there twice was executed twice.
    struct Execution {
        uint64_t begin = 0, length = 0;
        std::vector<uint32_t> at;  // by row of the block, and behind the last one
    };

    bool find(Execution& execution, uint64_t begin, uint64_t stop) const {
        execution.begin = begin;
        execution.at.clear();
        uint64_t i = begin;
        for (int32_t row = block_->first; row <= block_->last; ++row) {
            if (i >= stop || replay_.input_.row[i] != row) return false;
            execution.at.push_back(static_cast<uint32_t>(i++ - begin));
            while (block_->first != block_->last && i < stop && replay_.input_.row[i] == row) ++i;
        }
        execution.length = i - begin;
        execution.at.push_back(static_cast<uint32_t>(execution.length));
        return true;
    }

    void add_row(const EditRow& row, const Execution& execution, bool is_head = false) {
        if (row.row < 0) return add(Sequence::kNoSource, &row, now_.begin, is_head);
        const auto number = static_cast<size_t>(row.row - block_->first);
        const uint64_t first = execution.begin + execution.at[number],
                       stop = execution.begin + execution.at[number + 1];
        add(first, &row, now_.begin, is_head);
        for (uint64_t i = first + 1; i < stop; ++i) add(i, nullptr, i);
    }

    int32_t rest_of_wait(uint64_t i) const {
        return replay_.sources_[i].wait - (i > begin_ ? replay_.sources_[i - 1].post : 0);
    }

    // One instruction; `edit` = nullptr outside of the block. The first place of a block keeps what it costs to get
    // there.
    void add(uint64_t from, const EditRow* edit, uint64_t start, bool is_head = false) {
        const bool is_new = from == Sequence::kNoSource;
        const auto number = static_cast<uint32_t>(sequence_.items.size());
        const int32_t row = is_new ? -1 : replay_.input_.row[from];
        const bool is_moved = edit != nullptr && (edit->is_moved || edit->ahead || is_new);
        const int32_t slot = replay_.input_.issue_cycles;
        Item item{.first_edge = static_cast<uint32_t>(sequence_.edges.size())};
        item.is_moved = is_moved;
        item.is_wait = is_new ? edit->is_wait : at_row(replay_.rules_.is_wait, row) != 0;
        const std::span<const EditWait> waits = waits_of(item, edit, row, is_new);
        const bool waits_for_some = item.is_wait && !waits.empty();
        if (is_new) {
            item.wait = post_;
            item.own = edit->is_wait ? slot : slot * edit->padding_states;
            item.recorded = recorded_;
            post_ = 0;
        } else {
            const Source& source = replay_.sources_[from];
            item.source = static_cast<uint32_t>(from);
            item.wait = std::max(0, rest_of_wait(from) + post_);
            item.own = source.own;
            item.recorded = source.issue;
            item.dwords = edit != nullptr && edit->dwords ? edit->dwords : at_row(replay_.rules_.dwords, row);
            if (is_moved && source.meeting < 0) {
                item.wait = post_;
                if (source.port != kMemoryPort && !waits_for_some) item.own = 0;
            }
            post_ = source.post;
            for (const int32_t joined : edit != nullptr ? std::span(edit->joined) : std::span<const int32_t>()) {
                const Source& other =
                    replay_.sources_[now_.begin + now_.at[static_cast<size_t>(joined - block_->first)]];
                item.longest = std::max(item.longest, other.issue + other.latency - source.issue);
            }
        }
        if (is_head) item.wait = std::max(0, rest_of_wait(start) + post_before_);
        recorded_ = item.recorded;
        if (waits_for_some) {
            add_wait(item, waits, is_new, is_moved, from, slot);
        } else if (!is_new && at_row(replay_.rules_.is_end, row) && replay_.sources_[from].is_explained) {
            add_end(item, slot);
        }
        const uint16_t adds = at_row(replay_.rules_.adds, row);
        if (adds != 0) count_operation(number, row, adds, item, is_moved);
        if (is_moved && edit != nullptr && !item.is_wait) add_edges(*edit);
        sequence_.items.push_back(item);
        post_before_ = post_;
    }

    std::span<const EditWait> waits_of(const Item& item, const EditRow* edit, int32_t row, bool is_new) const {
        if (is_new) return edit->waits;
        if (!item.is_wait) return {};
        return replay_.waits_[static_cast<size_t>(row)];
    }

    void add_wait(Item& item, std::span<const EditWait> waits, bool is_new, bool is_moved, uint64_t from,
                  int32_t slot) {
        const auto& answer = queues_.wait(waits);
        if (is_new || replay_.sources_[from].is_explained || is_moved)
            item.own = is_new ? slot : std::min(item.own, slot);
        for (const uint32_t producer : answer.producers) {
            sequence_.edges.push_back({producer, -1});
            if (is_new && is_latency_unknown(sequence_.items[producer].source)) ++sequence_.lacking_samples;
        }
        if (answer.producers.empty() || !is_changed_) return;
        const uint32_t last = sequence_.items[answer.producers.back()].source;
        if (last == Sequence::kNoSource) return;
        const int32_t row = replay_.input_.row[last];
        const uint32_t least = replay_.least_in_flight_[static_cast<size_t>(row)];
        ++sequence_.waits_seen;
        if (answer.in_flight < least && least != std::numeric_limits<uint32_t>::max()) ++sequence_.emptier_waits;
    }

    // True of an operation that only ever shared waits which any of several may have ended.
    bool is_latency_unknown(uint32_t number) const {
        if (number == Sequence::kNoSource || replay_.input_.row[number] < 0) return false;
        const Source& source = replay_.sources_[number];
        return source.is_pinned && !source.is_tight &&
               !replay_.typical_[static_cast<size_t>(replay_.input_.row[number])].is_known;
    }

    void add_end(Item& item, int32_t slot) {
        const size_t before = sequence_.edges.size();
        queues_.each([&](uint32_t operation) {
            const uint32_t source = sequence_.items[operation].source;
            if (source == Sequence::kNoSource || replay_.sources_[source].latency < 0) return;
            if (at_row(replay_.rules_.is_store, replay_.input_.row[source])) sequence_.edges.push_back({operation, -1});
        });
        if (sequence_.edges.size() == before) return;
        item.wait = slot;
        item.own = 0;
        item.ends = true;
    }

    void count_operation(uint32_t number, int32_t row, uint16_t adds, const Item& item, bool is_moved) {
        queues_.add(number, adds, at_row(replay_.rules_.order, row));
        if (at_row(replay_.rules_.unit, row, int32_t{-1}) == 0) sequence_.memory_dwords += item.dwords;
        const auto at = static_cast<size_t>(row);
        const bool is_load = !at_row(replay_.rules_.is_store, row);
        if (is_moved && is_load && !replay_.typical_[at].is_known) ++sequence_.lacking_samples;
    }

    void add_edges(const EditRow& edit) {
        for (const EditEdge& edge : edit.edges) {
            const std::vector<uint32_t>& places = edge.is_around ? places_before_ : places_;
            if (edge.from >= places.size()) continue;
            const uint32_t from = places[edge.from];
            const uint32_t source = sequence_.items[from].source;
            const int32_t port =
                edge.adds_port && source != Sequence::kNoSource ? replay_.sources_[source].occupied : 0;
            sequence_.edges.push_back({from, edge.cycles + port});
        }
    }

    void finish(size_t wave) {
        if (sequence_.items.size() > sequence_.first.back() && sequence_.items.back().ends)
            sequence_.rest[wave] = std::min<int64_t>(sequence_.rest[wave], 4 * replay_.input_.issue_cycles);
    }

    const EditReplay& replay_;
    const EditedBlock* block_;
    bool is_changed_ = false;
    Sequence sequence_;
    OperationQueues queues_;
    uint64_t begin_ = 0;
    int32_t post_ = 0, post_before_ = 0;
    int64_t recorded_ = 0;
    Execution now_, next_;
    std::vector<uint32_t> places_, places_before_;  // of the rows of this execution of the block, and of the one before
};

}  // namespace wavewright

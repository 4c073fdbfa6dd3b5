// Traced instructions in their recorded or in a new order, as one sequence for all waves that a replay walks.
//
// An instruction issues `wait` and `own` cycles after the one before it, and not before the edges that lead to it
// allow: waits have an edge from each operation that they wait for, moved rows one from each result that they need.
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

constexpr int64_t kLongestSpan = int64_t{1} << 40;  // cycles; sums of so few instructions' times do not overflow
constexpr double kLongAgo = -1e18;                  // cycles: before anything that a trace can hold
// From the issue of s_endpgm, which waits for the stores of its wave, to the end of the wave: issue slots.
constexpr int64_t kEndSlots = 4;

inline int64_t cycles_between(int64_t earlier, int64_t later) {
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
        uint32_t source = kNoSource;   // the recorded instruction; kNoSource = the edit put it in
        int32_t wait = 0, own = 0;     // as in Source
        int64_t turn = 0;              // the lower goes first where several wait for a port: the recorded issue
        uint32_t first_edge = 0;       // its edges go up to the first one of the next item
        int64_t longest_latency = -1;  // of the operations that are one with it; -1 = there are none
        uint8_t dwords = 0;            // per lane that it moves
        bool is_wait = false, is_moved = false;
        bool waits_for_stores = false;  // it ends the program
    };
    // From an earlier item.
    struct Edge {
        static constexpr int32_t kFromCompletion = -1;
        uint32_t from;
        int32_t cycles;  // from issue to issue; kFromCompletion: from when the operation is done
    };

    std::vector<Item> items;  // and behind the last one an empty item, which bounds the edges of the last one
    std::vector<Edge> edges;
    std::vector<uint64_t> first;                                      // of each wave, and behind the last one
    std::vector<int64_t> rest;                                        // of each wave, from its last issue to its end
    uint64_t memory_dwords = 0, executions = 0, lacking_samples = 0;  // as in EditTimes
    uint64_t emptier_waits = 0;  // with fewer operations in flight than at any recorded wait for the same row
};

constexpr uint8_t kMemoryPort = 5;  // Port of replay.cpp

// Without a block it makes the recorded order.
class EditReplay::Builder {
  public:
    Builder(const EditReplay& replay, const EditedBlock* block) : replay_(replay), block_(block) {
        if (block_ == nullptr) return;
        for (const EditRow& row : block_->rows)
            if (row.row < 0 || row.is_moved || row.is_ahead) is_changed_ = true;
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

    // Executions of the block are replaced by its new rows. A row that is ahead comes from the next execution, if the
    // wave goes on to it without anything between.
    void build_wave(size_t wave) {
        const ReplayInput& input = replay_.input_;
        first_of_wave_ = input.first[wave];
        const uint64_t stop = first_of_wave_ + input.count[wave];
        sequence_.first.push_back(sequence_.items.size());
        sequence_.rest.push_back(replay_.replay_.rest_[wave]);
        queues_ = {};
        post_ = 0;
        turn_ = replay_.wave_starts_[wave];
        bool is_around = false;  // the instructions before are an execution of the block, too
        for (uint64_t i = first_of_wave_; i < stop;) {
            if (block_ == nullptr || !find(now_, i, stop)) {
                add(i, nullptr);
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
            for (size_t place = 0; place < block_->rows.size(); ++place) {
                const EditRow& row = block_->rows[place];
                places_.push_back(static_cast<uint32_t>(sequence_.items.size()));
                const bool is_new_head = place == 0 && row.row != block_->first;
                add_row(row, row.is_ahead && goes_on ? next_ : now_, is_new_head);
            }
            if (!goes_on)
                for (const EditRow& row : block_->epilogue) add_row(row, now_);
            is_around = true;
            i += now_.length;
        }
        shorten_rest(wave);
    }

    // One execution of the block: where the records of its rows stand. In raw traces a barrier has two, its arrival and
    // its release; a block of one row that is there twice was executed twice.
    struct Execution {
        uint64_t begin = 0, length = 0;
        std::vector<uint32_t> at;  // the first record of each row, and the end, both counted from `begin`
    };

    // Whether the block is executed from the instruction `begin` on; a wave can leave it, or enter it in the middle.
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

    void add_row(const EditRow& row, const Execution& execution, bool is_new_head = false) {
        if (row.row < 0) return add(Sequence::kNoSource, &row, is_new_head);
        const auto number = static_cast<size_t>(row.row - block_->first);
        const uint64_t first = execution.begin + execution.at[number],
                       stop = execution.begin + execution.at[number + 1];
        add(first, &row, is_new_head);
        for (uint64_t i = first + 1; i < stop; ++i) add(i, nullptr);
    }

    // Of the cycles before the first attempt of an instruction those that are its own: the rest belongs to the issue of
    // the instruction before it, and stays with that one.
    int32_t rest_of_wait(uint64_t i) const {
        return replay_.sources_[i].wait - (i > first_of_wave_ ? replay_.sources_[i - 1].post : 0);
    }

    // One instruction: the recorded one `from`, or kNoSource for a row that the edit puts in. `edit` is its row in the
    // block, null outside of it. A new head takes the first place of the block: what it costs to get there, such as a
    // fetch behind the branch, stays with the place.
    void add(uint64_t from, const EditRow* edit, bool is_new_head = false) {
        const bool is_new = from == Sequence::kNoSource;
        const int32_t row = is_new ? -1 : replay_.input_.row[from];
        Item item{.first_edge = static_cast<uint32_t>(sequence_.edges.size())};
        item.is_moved = edit != nullptr && (edit->is_moved || edit->is_ahead || is_new);
        item.is_wait = is_new ? edit->is_wait : at_row(replay_.rules_.is_wait, row) != 0;
        const std::span<const EditWait> waits = waits_of(item, edit, row);
        const bool has_waits = item.is_wait && !waits.empty();
        const int32_t post_before = post_;
        if (is_new) {
            set_new(item, *edit);
        } else {
            set_recorded(item, from, edit, has_waits);
        }
        if (is_new_head) item.wait = std::max(0, rest_of_wait(now_.begin) + post_before);
        turn_ = item.turn;
        if (has_waits) {
            add_wait(item, waits, from);
        } else if (!is_new && at_row(replay_.rules_.is_end, row) && replay_.sources_[from].is_explained) {
            add_end(item);
        }
        const uint16_t adds = at_row(replay_.rules_.adds, row);
        if (adds != 0) count_operation(row, adds, item);
        if (item.is_moved && !item.is_wait) add_edges(*edit);
        sequence_.items.push_back(item);
    }

    // A wait takes an issue slot, padding as many as it has states.
    void set_new(Item& item, const EditRow& edit) {
        const int32_t slot = replay_.input_.issue_cycles;
        item.wait = post_;
        item.own = edit.is_wait ? slot : slot * edit.padding_states;
        item.turn = turn_;
        post_ = 0;
    }

    // An instruction keeps what was recorded of it. One that was moved loses the gap before it, and its stalls where
    // edges say what it needs instead: not those of memory, which a full queue makes, and not of waits.
    void set_recorded(Item& item, uint64_t from, const EditRow* edit, bool has_waits) {
        const Source& source = replay_.sources_[from];
        item.source = static_cast<uint32_t>(from);
        item.wait = std::max(0, rest_of_wait(from) + post_);
        item.own = source.own;
        item.turn = source.issue;
        const uint8_t dwords = at_row(replay_.rules_.dwords, replay_.input_.row[from]);
        item.dwords = edit != nullptr && edit->dwords != 0 ? edit->dwords : dwords;
        if (item.is_moved && source.meeting < 0) {
            item.wait = post_;
            if (source.port != kMemoryPort && !has_waits) item.own = 0;
        }
        post_ = source.post;
        if (edit == nullptr) return;
        for (const int32_t joined : edit->joined) {
            const Source& other = replay_.sources_[now_.begin + now_.at[static_cast<size_t>(joined - block_->first)]];
            item.longest_latency = std::max(item.longest_latency, other.issue + other.latency - source.issue);
        }
    }

    // What a row waits for: a recorded one as its code says, one that was put in as the edit says.
    std::span<const EditWait> waits_of(const Item& item, const EditRow* edit, int32_t row) const {
        if (row < 0 && edit != nullptr) return edit->waits;
        if (!item.is_wait) return {};
        return replay_.waits_[static_cast<size_t>(row)];
    }

    // A wait whose stall operations explain, or that was moved, stalls as long as they take in the new order; of its
    // own stall an issue slot is left at most.
    void add_wait(Item& item, std::span<const EditWait> waits, uint64_t from) {
        const bool is_new = from == Sequence::kNoSource;
        const int32_t slot = replay_.input_.issue_cycles;
        const OperationQueues::Answer& done = queues_.wait(waits);
        if (is_new || replay_.sources_[from].is_explained || item.is_moved)
            item.own = is_new ? slot : std::min(item.own, slot);
        for (const uint32_t producer : done.producers) {
            sequence_.edges.push_back({producer, Sequence::Edge::kFromCompletion});
            if (is_new && is_latency_unknown(sequence_.items[producer].source)) ++sequence_.lacking_samples;
        }
        if (done.producers.empty() || !is_changed_) return;
        const uint32_t last = sequence_.items[done.producers.back()].source;
        if (last == Sequence::kNoSource) return;
        const uint32_t least = replay_.least_in_flight_[static_cast<size_t>(replay_.input_.row[last])];
        if (done.in_flight < least && least != std::numeric_limits<uint32_t>::max()) ++sequence_.emptier_waits;
    }

    // True of an operation that only ever shared waits which any of several may have ended.
    bool is_latency_unknown(uint32_t instruction) const {
        if (instruction == Sequence::kNoSource || replay_.input_.row[instruction] < 0) return false;
        const Source& source = replay_.sources_[instruction];
        return source.is_pinned && !source.is_tight &&
               !replay_.typical_[static_cast<size_t>(replay_.input_.row[instruction])].is_known;
    }

    // The end of the program waits for the stores that are in flight.
    void add_end(Item& item) {
        const size_t before = sequence_.edges.size();
        queues_.each([&](uint32_t operation) {
            const uint32_t source = sequence_.items[operation].source;
            if (source == Sequence::kNoSource || replay_.sources_[source].latency < 0) return;
            if (at_row(replay_.rules_.is_store, replay_.input_.row[source]))
                sequence_.edges.push_back({operation, Sequence::Edge::kFromCompletion});
        });
        if (sequence_.edges.size() == before) return;
        item.wait = replay_.input_.issue_cycles;
        item.own = 0;
        item.waits_for_stores = true;
    }

    // The item that is about to be added is an operation that the wait counters in `adds` count.
    void count_operation(int32_t row, uint16_t adds, const Item& item) {
        queues_.add(static_cast<uint32_t>(sequence_.items.size()), adds, at_row(replay_.rules_.order, row));
        if (at_row(replay_.rules_.unit, row, int32_t{-1}) == 0) sequence_.memory_dwords += item.dwords;
        const auto at = static_cast<size_t>(row);
        const bool is_load = !at_row(replay_.rules_.is_store, row);
        if (item.is_moved && is_load && !replay_.typical_[at].is_known) ++sequence_.lacking_samples;
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

    // Where the wave waits for its stores at its end, the edges have the time from the last issue on.
    void shorten_rest(size_t wave) {
        const bool has_items = sequence_.items.size() > sequence_.first.back();
        if (has_items && sequence_.items.back().waits_for_stores)
            sequence_.rest[wave] = std::min(sequence_.rest[wave], kEndSlots * replay_.input_.issue_cycles);
    }

    const EditReplay& replay_;
    const EditedBlock* block_;
    bool is_changed_ = false;  // the order of the block is another one than recorded
    Sequence sequence_;
    // Of the wave that is built:
    OperationQueues queues_;  // operations are numbers of items
    uint64_t first_of_wave_ = 0;
    int32_t post_ = 0;  // Source::post of the last item
    int64_t turn_ = 0;  // of the last item
    Execution now_, next_;
    // Items of the rows of this execution of the block, and of the one before if the wave came from there.
    std::vector<uint32_t> places_, places_before_;
};

}  // namespace wavewright

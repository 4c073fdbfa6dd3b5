// Two data flows over the blocks of the code, each to its fixed point: backwards, which values are still needed
// (follow_values), and forwards, which registers something has written (follow_definitions). A register is live where
// both hold; count() goes through the rows once more and tells how many are.
#include "wavewright/live_registers.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <vector>

#include "program/flow_blocks.hpp"
#include "wavewright/isa.hpp"

namespace wavewright {
namespace {

constexpr size_t kScalars = 192;  // scalar registers, special ones among them
constexpr size_t kSgprs = 106;
constexpr unsigned kWordBits = 64;
constexpr uint64_t kWorkPerRow = 200;           // words of sets, per row; code of compilers needs about ten times less
constexpr uint64_t kLeastWork = 1 << 24;        // words of sets that are allowed whatever the number of rows
constexpr size_t kMostWords = size_t{1} << 26;  // of the sets of all blocks

size_t words_for(size_t bits) {
    return (bits + kWordBits - 1) / kWordBits;
}

// Blocks that are still to be followed, each at most once at a time, the first by `Order` first.
template <class Order>
class Waiting {
  public:
    explicit Waiting(size_t count) : is_waiting_(count, 0) {}

    bool empty() const { return queue_.empty(); }
    void push(uint32_t block) {
        if (!is_waiting_[block]) queue_.push(block);
        is_waiting_[block] = 1;
    }
    uint32_t pop() {
        const uint32_t block = queue_.top();
        queue_.pop();
        is_waiting_[block] = 0;
        return block;
    }

  private:
    std::priority_queue<uint32_t, std::vector<uint32_t>, Order> queue_;
    std::vector<uint8_t> is_waiting_;
};

// Where registers stand in a set of bits: scalars, low halves of VGPRs, high halves, AGPRs. Halves have places of their
// own only where some operand is a half.
class Places {
  public:
    explicit Places(const CodeRows& code) {
        size_t vgprs = 0, agprs = 0;
        const auto add = [&](size_t first, size_t count) {
            const size_t end = std::min<size_t>(first + count, isa::register_end);
            if (end > isa::agpr0) agprs = std::max(agprs, end - isa::agpr0);
            if (first < isa::agpr0 && end > isa::vgpr0)
                vgprs = std::max(vgprs, std::min<size_t>(end, isa::agpr0) - isa::vgpr0);
        };
        for (size_t i = 0; i < code.operand_register.size(); ++i) {
            add(code.operand_register[i], code.operand_count[i]);
            has_halves_ |= (code.operand_role[i] & (isa::low_half | isa::high_half)) != 0;
        }
        for (const uint16_t given : code.given) add(given, 1);
        vgpr_words_ = words_for(vgprs);
        agpr_words_ = words_for(agprs);
    }

    size_t scalar_words() const { return kScalars / kWordBits; }
    size_t vgpr_words() const { return vgpr_words_; }
    size_t vector_words() const { return vgpr_words_ * (has_halves_ ? 2 : 1) + agpr_words_; }
    size_t first_agpr_word() const { return vector_words() - agpr_words_; }
    bool has_halves() const { return has_halves_; }

    // Calls visit(is_vector, bit) for the places of an operand; vector bits count from 0 on their own.
    template <class Visitor>
    void each(size_t first, size_t count, uint8_t role, Visitor&& visit) const {
        const size_t end = std::min<size_t>(first + count, isa::register_end);
        for (size_t number = first; number < end; ++number) {
            if (number < isa::vgpr0) {
                if (number < kScalars && number != isa::null_register) visit(false, number);
            } else if (number < isa::agpr0) {
                const size_t bit = number - isa::vgpr0;
                const bool is_half = (role & (isa::low_half | isa::high_half)) != 0;
                if (!is_half || (role & isa::low_half)) visit(true, bit);
                if (has_halves_ && (!is_half || (role & isa::high_half))) visit(true, vgpr_words_ * kWordBits + bit);
            } else {
                visit(true, first_agpr_word() * kWordBits + number - isa::agpr0);
            }
        }
    }

  private:
    size_t vgpr_words_ = 0;
    size_t agpr_words_ = 0;
    bool has_halves_ = false;
};

void put(uint64_t* words, size_t bit) {
    words[bit / kWordBits] |= uint64_t{1} << (bit % kWordBits);
}
void drop(uint64_t* words, size_t bit) {
    words[bit / kWordBits] &= ~(uint64_t{1} << (bit % kWordBits));
}
bool has(const uint64_t* words, size_t bit) {
    return (words[bit / kWordBits] >> (bit % kWordBits)) & 1;
}

class Analysis {
  public:
    explicit Analysis(const CodeRows& code)
        : code_(code),
          places_(code),
          blocks_(code),
          scalar_words_(places_.scalar_words()),
          vector_words_(places_.vector_words()),
          // Scalars, vector registers in active lanes, vector registers in the other lanes.
          state_words_(scalar_words_ + 2 * vector_words_),
          defined_words_(scalar_words_ + vector_words_),
          first_operand_(code.flow.size() + 1),
          everything_(state_words_) {
        size_t at = 0;
        for (size_t row = 0; row <= code.flow.size(); ++row) {
            while (at < code.operand_row.size() && code.operand_row[at] < row) ++at;
            first_operand_[row] = at;
        }
        for (size_t i = 0; i < code.operand_register.size(); ++i)
            if (code.operand_role[i] & isa::reads) add_read(everything_.data(), i, true);
    }

    Liveness answer(std::span<const int32_t> wanted) {
        Liveness liveness;
        liveness.is_complete =
            blocks_.size() * (state_words_ + defined_words_) <= kMostWords && follow_values() && follow_definitions();
        if (liveness.is_complete) count(liveness, wanted);
        return liveness;
    }

  private:
    // A state has three sets: scalars that are live, vector registers that are live in active lanes, and in the others.
    uint64_t* live_before(size_t block) { return live_.data() + block * state_words_; }
    uint64_t* defined_before(size_t block) { return defined_.data() + block * defined_words_; }

    bool spend(uint64_t words) {
        work_ += words;
        return work_ <= kLeastWork + kWorkPerRow * code_.flow.size();
    }

    void add_read(uint64_t* state, size_t operand, bool all_lanes) const {
        places_.each(code_.operand_register[operand], code_.operand_count[operand], code_.operand_role[operand],
                     [&](bool is_vector, size_t bit) {
                         put(state + (is_vector ? scalar_words_ : 0), bit);
                         if (is_vector && all_lanes) put(state + scalar_words_ + vector_words_, bit);
                     });
    }

    // From the state behind a row to the one before it.
    void step_back(uint64_t* state, size_t row) const {
        const uint8_t habits = code_.habits[row];
        uint64_t* active = state + scalar_words_;
        uint64_t* others = active + vector_words_;
        change_mask(active, others, static_cast<MaskChange>(code_.mask_change[row]));
        if (!(habits & may_not_write)) {
            for (size_t i = first_operand_[row]; i < first_operand_[row + 1]; ++i) {
                if (!(code_.operand_role[i] & isa::writes)) continue;
                places_.each(code_.operand_register[i], code_.operand_count[i], code_.operand_role[i],
                             [&](bool is_vector, size_t bit) {
                                 drop(is_vector ? active : state, bit);
                                 if (is_vector && (habits & writes_all_lanes)) drop(others, bit);
                             });
            }
        }
        for (size_t i = first_operand_[row]; i < first_operand_[row + 1]; ++i)
            if (code_.operand_role[i] & isa::reads) add_read(state, i, (habits & reads_all_lanes) != 0);
        if (habits & reads_any_vector)
            for (size_t word = scalar_words_; word < state_words_; ++word) state[word] |= everything_[word];
    }

    // A lane that is active before a change may be inactive behind it, and the other way round, as far as the change
    // allows; what is needed of a lane does not change.
    void change_mask(uint64_t* active, uint64_t* others, MaskChange change) const {
        if (change == MaskChange::none) return;
        for (size_t word = 0; word < vector_words_; ++word) {
            const uint64_t either = active[word] | others[word];
            if (change != MaskChange::widens) active[word] = either;
            if (change != MaskChange::narrows) others[word] = either;
        }
    }

    // The state behind the last row of a block.
    void join_after(size_t block, uint64_t* state) {
        std::fill(state, state + state_words_, 0);
        for (const uint32_t next : blocks_.after(block)) {
            const uint64_t* other = live_before(next);
            for (size_t word = 0; word < state_words_; ++word) state[word] |= other[word];
        }
        if (blocks_[block].leads_anywhere)
            for (size_t word = 0; word < state_words_; ++word) state[word] |= everything_[word];
    }

    // Backwards to the fixed point, blocks with later rows first.
    bool follow_values() {
        live_.assign(blocks_.size() * state_words_, 0);
        std::vector<uint64_t> state(state_words_);
        Waiting<std::less<>> waiting(blocks_.size());
        for (uint32_t block = 0; block < blocks_.size(); ++block) waiting.push(block);
        while (!waiting.empty()) {
            const uint32_t block = waiting.pop();
            const Block& rows = blocks_[block];
            const size_t operands = first_operand_[rows.end] - first_operand_[rows.begin];
            if (!spend(operands + (rows.end - rows.begin) + (blocks_.after(block).size() + 1) * state_words_))
                return false;
            join_after(block, state.data());
            for (size_t row = rows.end; row-- > rows.begin;) step_back(state.data(), row);
            if (std::equal(state.begin(), state.end(), live_before(block))) continue;
            std::copy(state.begin(), state.end(), live_before(block));
            for (const uint32_t before : blocks_.before(block)) waiting.push(before);
        }
        return true;
    }

    // Adds what a row writes; `firsts` gets the places that nothing had written, so that they can be taken back.
    void define_row(uint64_t* defined, size_t row, std::vector<uint32_t>* firsts) const {
        for (size_t i = first_operand_[row]; i < first_operand_[row + 1]; ++i) {
            if (!(code_.operand_role[i] & isa::writes)) continue;
            places_.each(code_.operand_register[i], code_.operand_count[i], code_.operand_role[i],
                         [&](bool is_vector, size_t bit) {
                             const size_t place = bit + (is_vector ? scalar_words_ * kWordBits : 0);
                             if (firsts != nullptr && !has(defined, place))
                                 firsts->push_back(static_cast<uint32_t>(place));
                             put(defined, place);
                         });
        }
    }

    // Forwards: which registers may have been written, and which rows can be reached.
    bool follow_definitions() {
        defined_.assign(blocks_.size() * defined_words_, 0);
        is_reached_.assign(blocks_.size(), 0);
        Waiting<std::greater<>> waiting(blocks_.size());
        for (const uint32_t block : blocks_.starts()) {
            if (code_.starts[blocks_[block].begin] == 1)
                for (const uint16_t given : code_.given)
                    places_.each(given, 1, 0, [&](bool is_vector, size_t bit) {
                        put(defined_before(block), bit + (is_vector ? scalar_words_ * kWordBits : 0));
                    });
            waiting.push(block);
            is_reached_[block] = 1;
        }
        std::vector<uint64_t> state(defined_words_);
        while (!waiting.empty()) {
            const uint32_t block = waiting.pop();
            const Block& rows = blocks_[block];
            const size_t operands = first_operand_[rows.end] - first_operand_[rows.begin];
            if (!spend(operands + (blocks_.after(block).size() + 1) * defined_words_)) return false;
            std::copy_n(defined_before(block), defined_words_, state.begin());
            for (size_t row = rows.begin; row < rows.end; ++row) define_row(state.data(), row, nullptr);
            for (const uint32_t next : blocks_.after(block)) {
                bool is_new = !is_reached_[next];
                uint64_t* there = defined_before(next);
                for (size_t word = 0; word < defined_words_; ++word) {
                    is_new |= (state[word] & ~there[word]) != 0;
                    there[word] |= state[word];
                }
                is_reached_[next] = 1;
                if (is_new) waiting.push(next);
            }
        }
        return true;
    }

    struct Counts {
        unsigned vgprs = 0, agprs = 0, sgprs = 0;
    };

    // Live and defined. `extra` are places that count whether live or not: what the row writes.
    Counts counts(const uint64_t* state, const uint64_t* defined, const uint64_t* extra) const {
        Counts sums;
        for (size_t word = 0; word < scalar_words_; ++word) {
            uint64_t bits = (state[word] & defined[word]) | extra[word];
            const size_t first = word * kWordBits;
            if (first >= kSgprs) break;
            if (kSgprs - first < kWordBits) bits &= (uint64_t{1} << (kSgprs - first)) - 1;
            sums.sgprs += static_cast<unsigned>(std::popcount(bits));
        }
        const auto vector = [&](size_t word) {
            const uint64_t live = state[scalar_words_ + word] | state[scalar_words_ + vector_words_ + word];
            return (live & defined[scalar_words_ + word]) | extra[scalar_words_ + word];
        };
        for (size_t word = 0; word < places_.vgpr_words(); ++word) {
            uint64_t bits = vector(word);
            if (places_.has_halves()) bits |= vector(word + places_.vgpr_words());
            sums.vgprs += static_cast<unsigned>(std::popcount(bits));
        }
        for (size_t word = places_.first_agpr_word(); word < vector_words_; ++word)
            sums.agprs += static_cast<unsigned>(std::popcount(vector(word)));
        return sums;
    }

    // Each block forwards for what is written behind each row, noting what to take back, and then backwards with what
    // is needed before each row.
    void count(Liveness& liveness, std::span<const int32_t> wanted) {
        const size_t rows = code_.flow.size();
        LiveRegisters& out = liveness.rows;
        uint16_t* columns[] = {out.vgprs.extend(rows), out.agprs.extend(rows), out.sgprs.extend(rows),
                               out.vectors.extend(rows)};
        uint8_t* reached = out.is_reached.extend(rows);
        std::vector<uint64_t> state(state_words_), defined(defined_words_), written(defined_words_),
            nothing(defined_words_);
        std::vector<uint32_t> firsts;
        std::vector<size_t> firsts_end;
        for (size_t block = 0; block < blocks_.size(); ++block) {
            const Block& range = blocks_[block];
            std::copy_n(defined_before(block), defined_words_, defined.begin());
            firsts.clear();
            firsts_end.clear();
            for (size_t row = range.begin; row < range.end; ++row) {
                firsts_end.push_back(firsts.size());
                define_row(defined.data(), row, &firsts);
            }
            join_after(block, state.data());
            for (size_t row = range.end; row-- > range.begin;) {
                std::fill(written.begin(), written.end(), 0);
                define_row(written.data(), row, nullptr);
                const Counts behind = counts(state.data(), defined.data(), written.data());
                while (firsts.size() > firsts_end[row - range.begin]) {
                    drop(defined.data(), firsts.back());
                    firsts.pop_back();
                }
                step_back(state.data(), row);
                const Counts before = counts(state.data(), defined.data(), nothing.data());
                const bool is_here = is_reached_[block] != 0;
                const unsigned values[] = {std::max(before.vgprs, behind.vgprs), std::max(before.agprs, behind.agprs),
                                           std::max(before.sgprs, behind.sgprs),
                                           std::max(before.vgprs + before.agprs, behind.vgprs + behind.agprs)};
                for (size_t i = 0; i < std::size(values); ++i)
                    columns[i][row] = static_cast<uint16_t>(is_here ? values[i] : 0);
                reached[row] = is_here;
                if (is_here && std::binary_search(wanted.begin(), wanted.end(), static_cast<int32_t>(row)))
                    list(liveness.at, row, state.data(), defined.data());
            }
        }
    }

    // The live registers before a row. Halves of a VGPR count as the VGPR.
    void list(LiveAtRows& at, size_t row, const uint64_t* state, const uint64_t* defined) const {
        const auto add = [&](size_t number, bool is_live, bool is_given) {
            if (!is_live) return;
            at.row.push_back(static_cast<int32_t>(row));
            at.live_register.push_back(static_cast<uint16_t>(number));
            at.is_given.push_back(is_given);
        };
        for (size_t bit = 0; bit < kScalars; ++bit) add(bit, has(state, bit), has(defined, bit));
        for (size_t number = isa::vgpr0; number < isa::register_end; ++number) {
            const bool is_agpr = number >= isa::agpr0;
            const size_t bit =
                is_agpr ? places_.first_agpr_word() * kWordBits + number - isa::agpr0 : number - isa::vgpr0;
            if (bit >= (is_agpr ? vector_words_ : places_.vgpr_words()) * kWordBits) continue;
            const auto live = [&](size_t place) {
                return has(state + scalar_words_, place) || has(state + scalar_words_ + vector_words_, place);
            };
            const auto is_given = [&](size_t place) { return live(place) && has(defined + scalar_words_, place); };
            const size_t high = places_.vgpr_words() * kWordBits + bit;
            const bool both = places_.has_halves() && !is_agpr;
            add(number, live(bit) || (both && live(high)), is_given(bit) || (both && is_given(high)));
        }
    }

    CodeRows code_;
    Places places_;
    Blocks blocks_;
    size_t scalar_words_;
    size_t vector_words_;
    size_t state_words_;
    size_t defined_words_;
    std::vector<size_t> first_operand_;
    std::vector<uint64_t> everything_;  // what any row reads
    std::vector<uint64_t> live_;
    std::vector<uint64_t> defined_;
    std::vector<uint8_t> is_reached_;
    uint64_t work_ = 0;
};

}  // namespace

Liveness live_registers(const CodeRows& code, std::span<const int32_t> wanted) {
    return Analysis(code).answer(wanted);
}

}  // namespace wavewright

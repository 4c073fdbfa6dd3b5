// What is certain about the numbers in registers, and arithmetic with what is certain (an abstract interpretation).
//
// A number of a wave is 64 lane values. Each lane is one of
// - known: `lane[i]`,
// - relative: `base + lane[i]`, with a base that all lanes have in common and nobody knows (the address of an array),
// - unknown, with the reason.
// A `Value` is a dword of this kind, a `Wide` a pair of dwords. Sums and products by known factors keep a base; so do
// bitwise operations that stay below the bits in which the base is certainly zero. Everything else makes an unknown.
//
// Beside this a dword can be known in other ways, which only some operations use: single bits, 16-bit halves, one of
// two numbers by a condition, or as a half of a `Wide`. Those are the members of `Value` behind `reason`.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "wavewright/evaluate.hpp"

namespace wavewright::evaluate {

constexpr unsigned kLanes = 64;
constexpr unsigned kDwordBits = 32;
using Lanes = uint64_t;               // a bit per lane
using Verdict = std::optional<bool>;  // of a question to numbers; nothing = not certain

// What is certain about a number that every lane has in common and nobody knows: a *base*.
struct Base {
    uint8_t zero_bits = 0;          // it is a multiple of 2^zero_bits, pointers in it left out
    uint8_t pointers = 0;           // how many arguments that may be pointers are added up in it; 2 = two or more
    uint64_t highest = UINT64_MAX;  // it is not larger
    int16_t region = -1;            // it is the address of this place of Start::regions; -1 = of none
    uint32_t low_half = 0;          // number of the base of its low dword (Domain::low_half); 0 = nobody asked yet
    Reason reason;                  // why it is not known
};

// 64-bit numbers, `base + lane[i]` each. Signed, because offsets can be.
struct Wide {
    uint32_t base = 0;        // number of a Base of the Domain; 0 = none: the lanes are the numbers
    Lanes lanes = 0;          // those that are known or relative
    uint8_t assumptions = 0;  // bits of Assumption under which this holds
    std::array<int64_t, kLanes> lane{};
};

struct Value;

// The operands of an addition or subtraction of low dwords, for the one of high dwords that takes its carry.
struct Carry {
    std::shared_ptr<const Value> left, right;
    uint64_t sum_version = 0;  // Value::version of the low sum
    bool subtracts = false;
    Lanes lanes = 0;  // that were added
};

// One dword register: of every lane, or of the wave (a scalar: then all lanes are equal).
struct Value {
    std::array<uint32_t, kLanes> lane{};
    uint32_t base = 0;  // number of a Base of the Domain; 0 = none
    Lanes lanes = 0;    // those whose number is `base + lane[i]`, modulo 2^32
    Reason reason;      // why the others are not certain

    // Halves: further lanes whose low or high 16 bits are those of `lane[i]`. There is no base then.
    Lanes low_lanes = 0, high_lanes = 0;

    // Links to other values. They hold in `link_lanes` and as long as those keep their version.
    uint64_t version = 0;              // differs from that of all other values; copies keep it
    uint64_t sign_of = 0;              // version of the value whose sign bit fills all bits of this one; 0 = none
    std::shared_ptr<const Wide> wide;  // this is the low or the high half of these numbers
    bool is_high_half = false;
    Lanes link_lanes = 0;
    std::shared_ptr<const Carry> carry;  // this is the carry of that addition

    // Scalars that hold one of two numbers, by a condition that is not certain: `either[0]` where it does not hold,
    // `either[1]` where it does. The number of a condition of the Domain; 0 = none.
    uint32_t condition = 0;
    std::array<uint32_t, 2> either{};

    // Scalars of which some bits are certain, where nothing above says more: masks of lanes.
    uint32_t bits = 0, certain_bits = 0;
};

inline Lanes bit_of(unsigned lane) {
    return Lanes{1} << lane;
}

// The bases and conditions of one evaluation, by number, and arithmetic with values. Number 0 stands for none of
// either.
class Domain {
  public:
    explicit Domain(unsigned lane_count)
        : all_(lane_count == kLanes ? ~Lanes{0} : bit_of(lane_count) - 1), scope_(all_), bases_(1), conditions_(1) {}

    Lanes all() const { return all_; }
    // The lanes that matter: those that the current instruction may write. Results hold for them only.
    Lanes scope() const { return scope_; }
    void set_scope(Lanes lanes) { scope_ = lanes; }
    const Base& base(uint32_t number) const { return bases_[number]; }
    uint32_t new_base(Base base);
    uint32_t low_half(uint32_t base);  // the base of the low dwords of numbers with a 64-bit base
    uint32_t new_condition();
    Verdict outcome(uint32_t condition) const { return conditions_[condition]; }
    void decide(uint32_t condition, bool holds) { conditions_[condition] = holds; }

    Value constant(uint32_t number);
    // An unknown number that all lanes have in common: a new base, with what is certain about it.
    Value common(Reason reason, unsigned zero_bits = 0, uint64_t highest = UINT32_MAX);
    Value unknown(Reason reason);  // in all lanes
    Value stamped(Value value);    // with a version of its own

    // Whether lanes hold the same number, known or not.
    bool is_common(const Value& value, Lanes lanes) const;
    // Whether lanes hold numbers without a base.
    bool is_plain(const Value& value, Lanes lanes) const { return value.base == 0 && (lanes & ~value.lanes) == 0; }
    // Whether all lanes that matter hold the same known number.
    bool is_one_number(const Value& value) const { return is_plain(value, scope_) && is_common(value, scope_); }
    // The value, or one of its two numbers where its condition has been decided since.
    Value settled(const Value& value);
    // How many low bits of a base are certainly zero; pointers are not assumed to have any.
    unsigned zero_bits(uint32_t base) const;

    Value add(const Value& left, const Value& right);
    Value subtract(const Value& left, const Value& right);
    Value multiply(const Value& left, const Value& right);
    Value shift_left(const Value& value, const Value& count);
    Value shift_right(const Value& value, const Value& count, bool is_signed);
    enum class Logic : uint8_t { and_, or_, xor_ };
    Value logic(Logic operation, const Value& left, const Value& right);
    Value invert(const Value& value);
    Value low_16(const Value& value);   // the low half, and zeros above it
    Value high_16(const Value& value);  // the high half, moved down

    // Two dwords as numbers; nothing where lanes of them cannot be told.
    std::optional<Wide> wide(const Value& low, const Value& high);
    Value low_of(const std::shared_ptr<const Wide>& wide);
    Value high_of(const std::shared_ptr<const Wide>& wide);
    Wide add(const Wide& left, const Wide& right);
    std::optional<Wide> subtract(const Wide& left, const Wide& right);
    std::optional<Wide> multiply(const Wide& left, const Wide& right);
    Wide shift_left(const Wide& value, unsigned count);
    // A dword as a 64-bit number, with or without a sign.
    Wide extended(const Value& value, bool is_signed);
    bool is_common(const Wide& wide, Lanes lanes) const;

    // A function of the numbers of each lane, as a function of values: what it gives where no source has a base, else
    // a common number where all sources are common (it is the same in all lanes, whatever it is), else unknown.
    template <class Function>
    Value lanewise(Function&& function, std::initializer_list<const Value*> sources) {
        Lanes lanes = all_;
        bool plain = true, alike = true;
        for (const Value* source : sources) {
            lanes &= source->lanes;
            plain = plain && source->base == 0;
        }
        if (plain) {
            Value result;
            result.lanes = lanes;
            result.reason = reason_of(sources, scope_);
            unsigned lane = 0;
            for (uint32_t& each : result.lane) {
                each = function(lane);
                ++lane;
            }
            return stamped(std::move(result));
        }
        for (const Value* source : sources) alike = alike && is_common(*source, scope_);
        return alike ? common(reason_of(sources, scope_)) : unknown(reason_of(sources, scope_));
    }

    // Of the first certain lane that matters.
    uint32_t first(const Value& value) const {
        const Lanes lanes = value.lanes & scope_;
        return lanes == 0 ? 0 : value.lane[static_cast<unsigned>(std::countr_zero(lanes))];
    }
    Reason reason_of(std::initializer_list<const Value*> sources, Lanes lanes) const;
    Reason reason_of(const Value& value) const;

  private:
    // A value as the sum of a number that all lanes have in common, a multiple of 2^bits, and lanes below 2^bits;
    // nothing where it is none.
    struct Split {
        uint32_t base;
        unsigned bits;
    };
    struct Bits {
        uint32_t bits, certain;
    };
    bool are_disjoint(const Value& high, const Value& low) const;
    // Parts of `logic`, in the order in which they are tried.
    Value logic_of_choice(Logic operation, const Value& choice, const Value& other, bool is_swapped);
    Value logic_of_lanes(Logic operation, const Value& left, const Value& right);
    std::optional<Value> logic_of_bits(Logic operation, const Value& left, const Value& right);
    Value logic_of_bases(Logic operation, const Value& left, const Value& right);
    Bits certain_bits_of(const Value& value);
    std::optional<Split> split(const Value& value, unsigned most_bits);

    Lanes all_, scope_;
    uint64_t version_ = 0;  // the last one that was given
    std::vector<Base> bases_;
    std::vector<Verdict> conditions_;
};

}  // namespace wavewright::evaluate

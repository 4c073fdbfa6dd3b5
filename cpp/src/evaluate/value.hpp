// What is certain about the dwords in registers: lane values, up to a base that is the same in all lanes.
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
using Lanes = uint64_t;  // a bit per lane

// What is certain about a number that every lane has in common and nobody knows: a *base*.
struct Base {
    uint8_t zero_bits = 0;          // it is a multiple of 2^zero_bits, pointers in it left out
    uint8_t pointers = 0;           // how many arguments that may be pointers are added up in it; 2 = more
    uint64_t highest = UINT64_MAX;  // it is not larger
    int16_t region = -1;            // it is the address of this region of memory with certain contents
    uint32_t low_half = 0;          // base of its low dword, once somebody asked
    Reason reason;
};

// 64-bit numbers, `bases[base] + lane` each. Signed, because offsets can be.
struct Wide {
    uint32_t base = 0;  // 0 = none: the lanes are the numbers
    Lanes lanes = 0;    // those that are certain
    uint8_t assumptions = 0;
    std::array<int64_t, kLanes> lane{};
};

struct Value;

// The operands of an addition or subtraction of low dwords, for the one of high dwords that takes its carry.
struct Carry {
    std::shared_ptr<const Value> left, right;
    uint64_t sum_version = 0;
    bool subtracts = false;
    Lanes lanes = 0;
};

// One dword register: of every lane, or of the wave (then all lanes are equal).
struct Value {
    uint32_t base = 0;                 // 0 = none
    Lanes lanes = 0;                   // those whose value is `bases[base] + lane`, modulo 2^32
    Lanes low_lanes = 0;               // others whose low 16 bits are those of `lane`; there is no base then
    Lanes high_lanes = 0;              // others whose high 16 bits are
    Reason reason;                     // why the others are not certain
    uint64_t version = 0;              // differs from all other values; copies keep it
    uint64_t sign_of = 0;              // version of the value whose sign bit fills it
    std::shared_ptr<const Wide> wide;  // it is one half of these numbers
    bool is_high_half = false;
    Lanes link_lanes = 0;  // where `sign_of` and `wide` hold
    std::shared_ptr<const Carry> carry;
    // Scalars that hold one of two numbers, by a condition that is not certain (`Condition`); 0 = none.
    uint32_t condition = 0;
    std::array<uint32_t, 2> either{};
    // Scalars of which some bits are certain, where nothing above says more: masks of lanes.
    uint32_t bits = 0, certain_bits = 0;
    std::array<uint32_t, kLanes> lane{};
};

inline Lanes bit_of(unsigned lane) {
    return Lanes{1} << lane;
}

// Bases and conditions of one evaluation, and arithmetic with values.
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
    uint32_t low_half(uint32_t base);
    uint32_t new_condition();
    // -1 = not certain
    int outcome(uint32_t condition) const { return conditions_[condition]; }
    void decide(uint32_t condition, int outcome) { conditions_[condition] = static_cast<int8_t>(outcome); }

    Value constant(uint32_t number);
    Value common(Reason reason, unsigned zero_bits = 0, uint64_t highest = UINT32_MAX);  // equal in all lanes
    Value unknown(Reason reason);
    Value stamped(Value value);  // with a version of its own

    // Whether lanes hold the same number, known or not.
    bool is_common(const Value& value, Lanes lanes) const;
    // Whether lanes hold numbers without a base.
    bool is_plain(const Value& value, Lanes lanes) const { return value.base == 0 && (lanes & ~value.lanes) == 0; }
    // Whether all lanes that matter hold the same known number.
    bool is_one_number(const Value& value) const { return is_plain(value, scope_) && is_common(value, scope_); }
    // A condition that was decided since chooses one of two numbers.
    Value settled(const Value& value);
    // Zero bits at the end that are certain, pointers not assumed to have any; of the base alone.
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

    // A value of any lanewise function of values: what function gives where all are plain, else a common number where
    // all are common, else unknown.
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
    // `value` as a base that is a multiple of 2^bits and lanes below 2^bits; nothing where that does not hold.
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
    uint64_t version_ = 0;
    std::vector<Base> bases_;
    std::vector<int8_t> conditions_;
};

}  // namespace wavewright::evaluate

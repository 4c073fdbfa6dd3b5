// Arithmetic of values and bases (value.hpp). Each operation keeps as much as is certain, in this order: plain lanes, a
// base that all lanes have in common, a number that is equal in all lanes, unknown with a reason.
#include "value.hpp"

#include <algorithm>
#include <bit>

namespace wavewright::evaluate {
namespace {

constexpr uint64_t kDwordMax = UINT32_MAX;

bool lanes_equal(const std::array<uint32_t, kLanes>& lane, Lanes lanes) {
    if (lanes == 0) return true;
    const uint32_t first = lane[static_cast<unsigned>(std::countr_zero(lanes))];
    for (unsigned each = 0; each < kLanes; ++each)
        if ((lanes >> each & 1) != 0 && lane[each] != first) return false;
    return true;
}

// At most `most`; all bits of 0 are zero.
unsigned trailing_zeros(uint64_t number, unsigned most) {
    return std::min(number == 0 ? most : static_cast<unsigned>(std::countr_zero(number)), most);
}

// Lanes of a Wide wrap as 64-bit registers do; unsigned, because signed overflow is undefined.
int64_t wrapped_sum(int64_t left, int64_t right) {
    return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

int64_t wrapped_product(int64_t left, int64_t right) {
    return static_cast<int64_t>(static_cast<uint64_t>(left) * static_cast<uint64_t>(right));
}

uint32_t apply(Domain::Logic operation, uint32_t left, uint32_t right) {
    switch (operation) {
        case Domain::Logic::and_: return left & right;
        case Domain::Logic::or_: return left | right;
        case Domain::Logic::xor_: return left ^ right;
    }
    return 0;
}

}  // namespace

uint32_t Domain::new_base(Base base) {
    bases_.push_back(base);
    return static_cast<uint32_t>(bases_.size() - 1);
}

uint32_t Domain::low_half(uint32_t number) {
    if (number == 0) return 0;
    if (bases_[number].low_half == 0) {
        Base low = bases_[number];
        low.region = -1;
        low.zero_bits = std::min<uint8_t>(low.zero_bits, kDwordBits);
        low.highest = std::min(low.highest, kDwordMax);
        const uint32_t low_number = new_base(low);
        bases_[number].low_half = low_number;
        bases_[low_number].low_half = low_number;
    }
    return bases_[number].low_half;
}

uint32_t Domain::new_condition() {
    conditions_.push_back(std::nullopt);
    return static_cast<uint32_t>(conditions_.size() - 1);
}

unsigned Domain::zero_bits(uint32_t number) const {
    const Base& base = bases_[number];
    return base.pointers == 0 ? base.zero_bits : 0;
}

Value Domain::stamped(Value value) {
    value.version = ++version_;
    return value;
}

Value Domain::constant(uint32_t number) {
    Value value;
    value.lanes = all_;
    value.lane.fill(number);
    return stamped(std::move(value));
}

Value Domain::common(Reason reason, unsigned zero_bits, uint64_t highest) {
    if (zero_bits >= kDwordBits || highest == 0) return constant(0);
    Base base;
    base.zero_bits = static_cast<uint8_t>(zero_bits);
    base.highest = std::min(highest, kDwordMax);
    base.reason = reason;
    Value value;
    value.base = new_base(base);
    value.lanes = all_;
    value.reason = reason;
    return stamped(std::move(value));
}

Value Domain::unknown(Reason reason) {
    Value value;
    value.reason = reason;
    return stamped(std::move(value));
}

bool Domain::is_common(const Value& value, Lanes lanes) const {
    return (lanes & ~value.lanes) == 0 && lanes_equal(value.lane, lanes);
}

Reason Domain::reason_of(const Value& value) const {
    return value.base != 0 ? bases_[value.base].reason : value.reason;
}

Reason Domain::reason_of(std::initializer_list<const Value*> sources, Lanes lanes) const {
    for (const Value* source : sources)
        if ((lanes & ~source->lanes) != 0) return source->reason;
    for (const Value* source : sources)
        if (source->base != 0) return bases_[source->base].reason;
    return {};
}

Value Domain::settled(const Value& value) {
    if (value.condition == 0) return value;
    const Verdict outcome = conditions_[value.condition];
    return outcome ? constant(value.either[*outcome ? 1 : 0]) : value;
}

Value Domain::add(const Value& left, const Value& right) {
    Value sum;
    sum.lanes = left.lanes & right.lanes;
    sum.reason = reason_of({&left, &right}, scope_);
    for (unsigned lane = 0; lane < kLanes; ++lane) sum.lane[lane] = left.lane[lane] + right.lane[lane];
    if (left.base != 0 && right.base != 0) {
        const Base &of_left = bases_[left.base], &of_right = bases_[right.base];
        Base base;
        base.zero_bits = std::min(of_left.zero_bits, of_right.zero_bits);
        base.pointers = static_cast<uint8_t>(std::min(2, of_left.pointers + of_right.pointers));
        base.highest = std::min(of_left.highest + of_right.highest, kDwordMax);
        // Of a pointer and an addend it is the addend's.
        base.reason = of_left.pointers != 0 ? of_right.reason : of_left.reason;
        sum.base = new_base(base);
    } else {
        sum.base = left.base | right.base;
    }
    return stamped(std::move(sum));
}

Value Domain::subtract(const Value& left, const Value& right) {
    if (right.base == 0 || right.base == left.base) {  // the same base cancels out
        Value difference;
        difference.base = right.base == 0 ? left.base : 0;
        difference.lanes = left.lanes & right.lanes;
        difference.reason = reason_of({&left, &right}, scope_);
        for (unsigned lane = 0; lane < kLanes; ++lane) difference.lane[lane] = left.lane[lane] - right.lane[lane];
        return stamped(std::move(difference));
    }
    Value negative;  // with a base of its own: nothing but its zero bits is known of a negated base
    negative.base = new_base({.zero_bits = static_cast<uint8_t>(zero_bits(right.base)),
                              .highest = kDwordMax,
                              .reason = bases_[right.base].reason});
    negative.lanes = right.lanes;
    negative.reason = right.reason;
    for (unsigned lane = 0; lane < kLanes; ++lane) negative.lane[lane] = 0U - right.lane[lane];
    return add(left, negative);
}

Value Domain::multiply(const Value& left, const Value& right) {
    if (left.base == 0 && right.base == 0) {
        Value product;
        product.lanes = left.lanes & right.lanes;
        product.reason = reason_of({&left, &right}, scope_);
        for (unsigned lane = 0; lane < kLanes; ++lane) product.lane[lane] = left.lane[lane] * right.lane[lane];
        return stamped(std::move(product));
    }
    const Value& factor = left.base == 0 ? left : right;  // the plain one, if there is one
    const Value& number = left.base == 0 ? right : left;
    if (factor.base == 0 && is_common(factor, scope_)) {
        const uint32_t times = first(factor);
        if (times == 0) return constant(0);
        if (times == 1) return number;
        const Base& base = bases_[number.base];
        Value product;
        product.base = new_base({.zero_bits = static_cast<uint8_t>(std::min<unsigned>(
                                     zero_bits(number.base) + trailing_zeros(times, kDwordBits), kDwordBits)),
                                 .highest = base.highest > kDwordMax / times ? kDwordMax : base.highest * times,
                                 .reason = base.reason});
        product.lanes = number.lanes;
        product.reason = number.reason;
        for (unsigned lane = 0; lane < kLanes; ++lane) product.lane[lane] = number.lane[lane] * times;
        return stamped(std::move(product));
    }
    if (is_common(left, scope_) && is_common(right, scope_)) {
        const auto zeros = [this](const Value& value) {
            return std::min(value.base == 0 ? kDwordBits : zero_bits(value.base),
                            trailing_zeros(first(value), kDwordBits));
        };
        return common(reason_of({&left, &right}, scope_), std::min(zeros(left) + zeros(right), kDwordBits));
    }
    return unknown(reason_of({&number, &factor}, scope_));
}

// A number is (base + high bits of the lanes) + low bits of the lanes where the high bits are the same in all lanes:
// then no carry tells lanes apart.
std::optional<Domain::Split> Domain::split(const Value& value, unsigned most_bits) {
    const unsigned bits = std::min(value.base == 0 ? kDwordBits : zero_bits(value.base), most_bits);
    if ((value.lanes & scope_) == 0) return std::nullopt;
    if (bits < kDwordBits) {
        const uint32_t high = first(value) >> bits;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            if (((value.lanes & scope_) >> lane & 1) != 0 && value.lane[lane] >> bits != high) return std::nullopt;
    }
    return Split{value.base, bits};
}

Value Domain::shift_left(const Value& value, const Value& count) {
    if (value.base != 0 && is_one_number(count)) return multiply(value, constant(1U << (first(count) & 31)));
    if (value.base != 0 && is_common(value, scope_) && is_common(count, scope_))
        return common(reason_of({&value, &count}, scope_));
    return lanewise([&](unsigned lane) { return value.lane[lane] << (count.lane[lane] & 31); }, {&value, &count});
}

Value Domain::shift_right(const Value& value, const Value& count, bool is_signed) {
    if (value.base == 0)
        return lanewise(
            [&](unsigned lane) {
                const unsigned by = count.lane[lane] & 31;
                return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(value.lane[lane]) >> by)
                                 : value.lane[lane] >> by;
            },
            {&value, &count});
    const Reason reason = reason_of({&value, &count}, scope_);
    if (!is_one_number(count))
        return is_common(value, scope_) && is_common(count, scope_) ? common(reason) : unknown(reason);
    const unsigned by = first(count) & 31;
    Value result;
    if (by == 0) {
        result = value;
    } else if (const auto parts = split(value, kDwordBits); parts && (scope_ & ~value.lanes) == 0) {
        const unsigned zeros_left = parts->bits > by ? parts->bits - by : 0;
        const Base& base = bases_[value.base];
        const uint64_t highest = base.highest + (first(value) >> parts->bits << parts->bits);
        // A number that wraps, or one that may be negative, can become anything that the shift leaves room for.
        const bool fits = highest <= (is_signed ? kDwordMax >> 1 : kDwordMax);
        const uint64_t highest_shifted = fits ? highest >> by : is_signed ? kDwordMax : kDwordMax >> by;
        result = common(base.reason, zeros_left, highest_shifted);
        const uint32_t low = parts->bits >= kDwordBits ? UINT32_MAX : (1U << parts->bits) - 1;
        for (unsigned lane = 0; lane < kLanes; ++lane) result.lane[lane] = (value.lane[lane] & low) >> by;
        result.lanes = value.lanes & scope_;
    } else {
        result = unknown(reason);
    }
    if (is_signed && by == kDwordBits - 1) {  // the high half of a number that was extended to 64 bits
        result = stamped(std::move(result));
        result.sign_of = value.version;
        result.link_lanes = scope_;
    }
    return result;
}

Value Domain::low_16(const Value& value) {
    if (value.low_lanes == 0 || value.base != 0) return logic(Logic::and_, value, constant(0xFFFF));
    Value low;
    low.lanes = value.lanes | value.low_lanes;
    low.reason = value.reason;
    for (unsigned lane = 0; lane < kLanes; ++lane) low.lane[lane] = value.lane[lane] & 0xFFFF;
    return stamped(std::move(low));
}

Value Domain::high_16(const Value& value) {
    if (value.high_lanes == 0 || value.base != 0) return shift_right(value, constant(16), false);
    Value high;
    high.lanes = value.lanes | value.high_lanes;
    high.reason = value.reason;
    for (unsigned lane = 0; lane < kLanes; ++lane) high.lane[lane] = value.lane[lane] >> 16;
    return stamped(std::move(high));
}

Value Domain::invert(const Value& value) {
    return subtract(constant(UINT32_MAX), value);
}

// Whether the low number ends below the zero bits of the high one.
bool Domain::are_disjoint(const Value& high, const Value& low) const {
    unsigned zeros = high.base == 0 ? kDwordBits : zero_bits(high.base);
    uint64_t most = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        if ((scope_ >> lane & 1) == 0) continue;
        zeros = std::min(zeros, trailing_zeros(high.lane[lane], kDwordBits));
        most = std::max<uint64_t>(most, low.lane[lane]);
    }
    if (low.base != 0) most += bases_[low.base].highest;
    return most < uint64_t{1} << zeros;
}

// Tries what is known in the order of its certainty: halves and conditions first, which later steps would lose; then
// plain numbers; then single bits; bases last.
Value Domain::logic(Logic operation, const Value& unsettled_left, const Value& unsettled_right) {
    const Value left = settled(unsettled_left), right = settled(unsettled_right);
    const auto is_low_mask = [this](const Value& mask) { return is_one_number(mask) && first(mask) <= 0xFFFF; };
    if (operation == Logic::and_ && left.low_lanes != 0 && is_low_mask(right))
        return logic(operation, low_16(left), right);
    if (operation == Logic::and_ && right.low_lanes != 0 && is_low_mask(left))
        return logic(operation, low_16(right), left);
    if (left.condition != 0 && (right.condition == left.condition || is_one_number(right)))
        return logic_of_choice(operation, left, right, false);
    if (right.condition != 0 && is_one_number(left)) return logic_of_choice(operation, right, left, true);
    if (left.base == 0 && right.base == 0 && (left.certain_bits | right.certain_bits) == 0)
        return logic_of_lanes(operation, left, right);
    if (std::optional<Value> result = logic_of_bits(operation, left, right)) return *std::move(result);
    // Numbers without a bit in common: a sum.
    if (operation != Logic::and_ && (scope_ & ~(left.lanes & right.lanes)) == 0 &&
        (are_disjoint(left, right) || are_disjoint(right, left)))
        return add(left, right);
    return logic_of_bases(operation, left, right);
}

// One of the operands is one of two numbers, by a condition; so is the result.
Value Domain::logic_of_choice(Logic operation, const Value& choice, const Value& other, bool is_swapped) {
    Value result = common(is_swapped ? reason_of({&other, &choice}, scope_) : reason_of({&choice, &other}, scope_));
    result.condition = choice.condition;
    for (size_t at = 0; at < 2; ++at) {
        const uint32_t second = other.condition == choice.condition ? other.either[at] : first(other);
        result.either[at] =
            is_swapped ? apply(operation, second, choice.either[at]) : apply(operation, choice.either[at], second);
    }
    return result.either[0] == result.either[1] ? constant(result.either[0]) : result;
}

// Plain numbers in every lane, some of which may be unknown.
Value Domain::logic_of_lanes(Logic operation, const Value& left, const Value& right) {
    Value result;
    result.lanes = left.lanes & right.lanes;
    result.reason = reason_of({&left, &right}, scope_);
    for (unsigned lane = 0; lane < kLanes; ++lane)
        result.lane[lane] = apply(operation, left.lane[lane], right.lane[lane]);
    result.low_lanes = (left.lanes | left.low_lanes) & (right.lanes | right.low_lanes) & ~result.lanes;
    result.high_lanes = (left.lanes | left.high_lanes) & (right.lanes | right.high_lanes) & ~result.lanes;
    // A lane that is unknown in one operand can still be known in the result: x & 0, x | -1.
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        for (const Value* known : {&left, &right}) {
            if ((known->lanes >> lane & 1) == 0 || (result.lanes >> lane & 1) != 0) continue;
            const uint32_t number = known->lane[lane];
            if ((operation == Logic::and_ && number == 0) || (operation == Logic::or_ && number == UINT32_MAX)) {
                result.lane[lane] = number;
                result.lanes |= bit_of(lane);
                result.low_lanes &= ~bit_of(lane);
                result.high_lanes &= ~bit_of(lane);
            }
        }
    }
    return stamped(std::move(result));
}

// The bits of a number that all lanes have in common, as far as they are certain.
Domain::Bits Domain::certain_bits_of(const Value& value) {
    if (value.certain_bits != 0) return {value.bits, value.certain_bits};
    if (!is_common(value, scope_)) return {0, 0};
    if (value.base == 0) return {first(value), UINT32_MAX};
    const unsigned zeros = zero_bits(value.base);
    const uint32_t below_base = zeros >= kDwordBits ? UINT32_MAX : (1U << zeros) - 1;
    uint32_t certain = below_base;
    const uint64_t top = bases_[value.base].highest;
    if (first(value) == 0 && top < kDwordMax)  // no bits above the highest
        certain |= ~static_cast<uint32_t>(std::bit_ceil(top + 1) - 1);
    return {first(value) & below_base, certain};
}

// Two numbers that all lanes have in common, of which some bits are certain; nothing where lanes differ.
std::optional<Value> Domain::logic_of_bits(Logic operation, const Value& left, const Value& right) {
    const bool is_masked = left.certain_bits != 0 || right.certain_bits != 0;
    const bool is_left_common = is_common(left, scope_) || left.certain_bits != 0;
    const bool is_right_common = is_common(right, scope_) || right.certain_bits != 0;
    if (!is_left_common || !is_right_common) return std::nullopt;
    const Bits of_left = certain_bits_of(left), of_right = certain_bits_of(right);
    const auto zeros_of = [](const Bits& known) { return known.certain & ~known.bits; };
    const auto ones_of = [](const Bits& known) { return known.certain & known.bits; };
    uint32_t certain = of_left.certain & of_right.certain;
    // A zero decides `and`, a one decides `or`, whatever the other bit is.
    if (operation == Logic::and_) certain |= zeros_of(of_left) | zeros_of(of_right);
    if (operation == Logic::or_) certain |= ones_of(of_left) | ones_of(of_right);
    const uint32_t bits = apply(operation, of_left.bits, of_right.bits) & certain;
    if (certain == UINT32_MAX) return constant(bits);
    // Setting bits that are certainly zero in the other is an addition, which keeps the base.
    if (!is_masked && operation != Logic::and_) {
        const Value& plain = left.base == 0 ? left : right;
        const Value& number = left.base == 0 ? right : left;
        const Bits of_number = left.base == 0 ? of_right : of_left;
        if (plain.base == 0 && (first(plain) & ~zeros_of(of_number)) == 0) return add(number, plain);
    }
    const unsigned zeros = std::min(trailing_zeros(~certain, kDwordBits), kDwordBits);
    Value result = common(reason_of({&left, &right}, scope_), zeros, static_cast<uint64_t>(bits | ~certain));
    if (zeros > 0 && (bits & ((1U << zeros) - 1)) != 0) result.lane.fill(bits & ((1U << zeros) - 1));
    result.bits = bits;
    result.certain_bits = is_masked || left.base == 0 || right.base == 0 ? certain : 0;
    return result;
}

// Numbers with a base that is the same in all lanes and has zero bits: the lanes differ only below those.
Value Domain::logic_of_bases(Logic operation, const Value& left, const Value& right) {
    unsigned bits = kDwordBits;
    for (const Value* value : {&left, &right})
        if (value->base != 0) bits = std::min(bits, zero_bits(value->base));
    const Value& plain = left.base == 0 ? left : right;
    const Value& number = left.base == 0 ? right : left;
    if (plain.base == 0 && operation == Logic::and_ && (scope_ & ~plain.lanes) == 0) {
        bool is_low = true;  // a mask of bits that the base has no part in
        for (unsigned lane = 0; lane < kLanes; ++lane)
            is_low = is_low && ((scope_ >> lane & 1) == 0 || bits >= kDwordBits || plain.lane[lane] >> bits == 0);
        if (is_low) {
            Value result;
            result.lanes = number.lanes & plain.lanes;
            result.reason = number.reason;
            for (unsigned lane = 0; lane < kLanes; ++lane) result.lane[lane] = number.lane[lane] & plain.lane[lane];
            return stamped(std::move(result));
        }
    }
    const Reason reason = reason_of({&left, &right}, scope_);
    const bool are_split = split(left, bits) && split(right, bits);
    if (!are_split || bits == 0 || (scope_ & ~(left.lanes & right.lanes)) != 0) return unknown(reason);
    const uint32_t low = bits >= kDwordBits ? UINT32_MAX : (1U << bits) - 1;
    const uint32_t plain_high = plain.base == 0 ? first(plain) & ~low : UINT32_MAX;
    Value result;
    if (plain.base == 0 && operation != Logic::and_ && plain_high == 0) {
        result.base = number.base;  // only low bits change
        const uint32_t high = first(number) & ~low;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            result.lane[lane] = high + (apply(operation, left.lane[lane], right.lane[lane]) & low);
    } else {
        result = common(reason, bits, operation == Logic::and_ ? plain_high : kDwordMax);
        for (unsigned lane = 0; lane < kLanes; ++lane)
            result.lane[lane] = apply(operation, left.lane[lane], right.lane[lane]) & low;
    }
    result.lanes = left.lanes & right.lanes & scope_;
    result.reason = reason;
    return stamped(std::move(result));
}

Wide Domain::extended(const Value& value, bool is_signed) {
    Wide wide;
    wide.lanes = value.lanes;
    if (value.base == 0) {
        for (unsigned lane = 0; lane < kLanes; ++lane)
            wide.lane[lane] = is_signed ? static_cast<int32_t>(value.lane[lane]) : int64_t{value.lane[lane]};
        return wide;
    }
    // base + offset, where the offset may be negative; that the sum stays within its 32 bits is proven or assumed.
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        wide.lane[lane] = static_cast<int32_t>(value.lane[lane]);
        if (((value.lanes & scope_) >> lane & 1) == 0) continue;
        least = std::min(least, wide.lane[lane]);
        most = std::max(most, wide.lane[lane]);
    }
    const auto highest_base = static_cast<int64_t>(bases_[value.base].highest);
    const int64_t limit = is_signed ? INT32_MAX : INT64_C(0xFFFFFFFF);
    const bool is_proven = (value.lanes & scope_) == 0 || (least >= 0 && highest_base + most <= limit);
    Base base = bases_[value.base];
    base.low_half = value.base;
    wide.base = new_base(base);
    if (!is_proven && !is_common(value, value.lanes & scope_)) wide.assumptions = no_wrap;
    return wide;
}

// In the order of what is known: halves of one 64-bit number; a dword and its sign; a high dword without a base; two
// numbers that all lanes have in common.
std::optional<Wide> Domain::wide(const Value& unsettled_low, const Value& unsettled_high) {
    const Value low = settled(unsettled_low), high = settled(unsettled_high);
    if (low.wide && low.wide == high.wide && !low.is_high_half && high.is_high_half) {
        Wide linked = *low.wide;
        linked.lanes &= low.link_lanes & high.link_lanes;
        return linked;
    }
    if (high.sign_of != 0 && high.sign_of == low.version) {
        Wide number = extended(low, true);
        number.lanes &= high.link_lanes;
        return number;
    }
    if (high.base == 0) {
        Wide number = extended(low, false);
        number.lanes &= high.lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            number.lane[lane] = wrapped_sum(number.lane[lane],
                                            static_cast<int64_t>(static_cast<uint64_t>(high.lane[lane]) << kDwordBits));
        return number.lanes == 0 ? std::nullopt : std::optional(number);
    }
    if (!is_common(high, scope_)) return std::nullopt;
    Wide number;
    number.lanes = low.lanes;
    if (low.base == 0) {
        number.base = new_base({.zero_bits = kDwordBits, .reason = bases_[high.base].reason});
        for (unsigned lane = 0; lane < kLanes; ++lane) number.lane[lane] = low.lane[lane];
        return number;
    }
    if (!is_common(low, scope_)) return std::nullopt;
    const Base& half = bases_[low.base];
    number.base =
        new_base({.zero_bits = half.zero_bits, .pointers = half.pointers, .low_half = low.base, .reason = half.reason});
    number.lane.fill(static_cast<int32_t>(first(low)));
    return number;
}

Value Domain::low_of(const std::shared_ptr<const Wide>& wide) {
    Value value;
    value.base = low_half(wide->base);
    value.lanes = wide->lanes;
    value.reason = value.base != 0 ? bases_[value.base].reason : Reason{};
    for (unsigned lane = 0; lane < kLanes; ++lane) value.lane[lane] = static_cast<uint32_t>(wide->lane[lane]);
    value.wide = wide;
    value.link_lanes = wide->lanes;
    return stamped(std::move(value));
}

Value Domain::high_of(const std::shared_ptr<const Wide>& wide) {
    Value value;
    if (wide->base == 0) {
        value.lanes = wide->lanes;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            value.lane[lane] = static_cast<uint32_t>(static_cast<uint64_t>(wide->lane[lane]) >> kDwordBits);
        value = stamped(std::move(value));
    } else if ((scope_ & ~wide->lanes) == 0 && is_common(*wide, scope_)) {
        value = common(bases_[wide->base].reason);
    } else {
        value = unknown({ReasonKind::high_half, bases_[wide->base].reason.detail});
    }
    value.wide = wide;
    value.is_high_half = true;
    value.link_lanes = wide->lanes;
    return value;
}

bool Domain::is_common(const Wide& wide, Lanes lanes) const {
    if ((lanes & ~wide.lanes) != 0) return false;
    if (lanes == 0) return true;
    const int64_t first = wide.lane[static_cast<unsigned>(std::countr_zero(lanes))];
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if ((lanes >> lane & 1) != 0 && wide.lane[lane] != first) return false;
    return true;
}

Wide Domain::add(const Wide& left, const Wide& right) {
    Wide sum;
    sum.lanes = left.lanes & right.lanes;
    sum.assumptions = left.assumptions | right.assumptions;
    for (unsigned lane = 0; lane < kLanes; ++lane) sum.lane[lane] = wrapped_sum(left.lane[lane], right.lane[lane]);
    if (left.base != 0 && right.base != 0) {
        const Base &of_left = bases_[left.base], &of_right = bases_[right.base];
        sum.base = new_base({.zero_bits = std::min(of_left.zero_bits, of_right.zero_bits),
                             .pointers = static_cast<uint8_t>(std::min(2, of_left.pointers + of_right.pointers)),
                             .reason = of_left.pointers != 0 ? of_right.reason : of_left.reason});
    } else {
        sum.base = left.base | right.base;
    }
    return sum;
}

std::optional<Wide> Domain::subtract(const Wide& left, const Wide& right) {
    if (right.base != 0 && right.base != left.base) return std::nullopt;
    Wide difference;
    difference.base = right.base == 0 ? left.base : 0;
    difference.lanes = left.lanes & right.lanes;
    difference.assumptions = left.assumptions | right.assumptions;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        difference.lane[lane] = wrapped_sum(left.lane[lane], wrapped_product(right.lane[lane], -1));
    return difference;
}

std::optional<Wide> Domain::multiply(const Wide& left, const Wide& right) {
    Wide product;
    product.lanes = left.lanes & right.lanes;
    product.assumptions = left.assumptions | right.assumptions;
    const Wide& factor = left.base == 0 ? left : right;
    const Wide& number = left.base == 0 ? right : left;
    if (factor.base != 0) return std::nullopt;
    if (number.base != 0) {
        if (!is_common(factor, scope_)) return std::nullopt;
        const int64_t times = scope_ == 0 ? 0 : factor.lane[static_cast<unsigned>(std::countr_zero(scope_))];
        if (times == 1) {
            product.base = number.base;  // as it is: pointers stay pointers
        } else if (times != 0)
            product.base =
                new_base({.zero_bits = static_cast<uint8_t>(std::min<unsigned>(
                              zero_bits(number.base) + trailing_zeros(static_cast<uint64_t>(times), 63), 63)),
                          .reason = bases_[number.base].reason});
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
        product.lane[lane] = wrapped_product(left.lane[lane], right.lane[lane]);
    return product;
}

Wide Domain::shift_left(const Wide& value, unsigned count) {
    count &= 63;
    Wide power;
    power.lanes = all_;
    power.lane.fill(static_cast<int64_t>(uint64_t{1} << count));
    return *multiply(value, power);
}

}  // namespace wavewright::evaluate

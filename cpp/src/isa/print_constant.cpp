// Inline constants and literals. A literal that an inline constant could have said is written as lit(...), so that an
// assembler gives the same bytes again.
#include <algorithm>
#include <iterator>

#include "print.hpp"

namespace wavescope::isa {
namespace {

constexpr int64_t kFirstInteger = 128, kLastPositive = 192, kLastInteger = 208, kFirstFloat = 240;

// The constants with codes from kFirstFloat on.
constexpr std::string_view kFloatTexts[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"};
constexpr std::string_view kInversePi64 = "0.15915494309189532";
constexpr uint16_t kFloats16[] = {0x3800, 0xB800, 0x3C00, 0xBC00, 0x4000, 0xC000, 0x4400, 0xC400, 0x3118};
constexpr uint16_t kBfloats16[] = {0x3F00, 0xBF00, 0x3F80, 0xBF80, 0x4000, 0xC000, 0x4080, 0xC080, 0x3E22};
constexpr uint32_t kFloats32[] = {0x3F000000, 0xBF000000, 0x3F800000, 0xBF800000, 0x40000000,
                                  0xC0000000, 0x40800000, 0xC0800000, 0x3E22F983};
constexpr uint64_t kFloats64[] = {0x3FE0000000000000, 0xBFE0000000000000, 0x3FF0000000000000,
                                  0xBFF0000000000000, 0x4000000000000000, 0xC000000000000000,
                                  0x4010000000000000, 0xC010000000000000, 0x3FC45F306DC9C882};

// The place of a value among the nine, or -1.
template <class T, size_t Count>
int place_in(const T (&values)[Count], uint64_t value) {
    const auto at = std::ranges::find(values, value);
    return at == std::end(values) ? -1 : static_cast<int>(at - std::begin(values));
}

bool is_small(int64_t value) {
    return value >= -16 && value <= 64;
}

template <class T, size_t Count>
bool is_inline_16(uint64_t literal, const T (&floats)[Count]) {
    return is_small(static_cast<int16_t>(literal)) || place_in(floats, literal & 0xFFFF) >= 0;
}

// Whether an inline constant could have said a literal of an operand.
bool is_inlinable(uint32_t literal, Constant kind, unsigned generation) {
    const bool is_integer = is_small(static_cast<int32_t>(literal));
    const uint32_t low = literal & 0xFFFF, high = literal >> 16;
    switch (kind) {
        case Constant::float_64:
        case Constant::pair_float_16_literal: return false;
        case Constant::integer_64: return literal <= 64;
        case Constant::pair_float_16_splat:
            return is_integer || ((generation >= 11 ? low == high : high == 0) && place_in(kFloats16, low) >= 0);
        case Constant::pair_bfloat_16: return is_integer || place_in(kBfloats16, literal) >= 0;
        case Constant::pair_float_16: return is_integer || place_in(kFloats16, literal) >= 0;
        case Constant::bfloat_16:
        case Constant::inline_pair_bfloat_16: return is_inline_16(literal, kBfloats16);
        case Constant::float_16:
        case Constant::inline_pair_float_16: return is_inline_16(literal, kFloats16);
        case Constant::integer_16: return is_small(static_cast<int16_t>(literal));
        default: return is_integer || place_in(kFloats32, literal) >= 0;
    }
}

bool is_64_bits_wide(Constant kind) {
    return kind == Constant::float_64 || kind == Constant::integer_64;
}

}  // namespace

void Printer::plain_32(uint32_t value) {
    const auto integer = static_cast<int32_t>(value);
    if (is_small(integer)) {
        out_ << int64_t{integer};
    } else if (const int place = place_in(kFloats32, value); place >= 0) {
        out_ << kFloatTexts[place];
    } else {
        out_.hex(value);
    }
}

void Printer::constant(const Value& value, Constant kind) {
    if (value.number == kLiteralCode) return literal(kind);
    if (value.number >= kFirstInteger && value.number <= kLastInteger) {
        out_ << (value.number <= kLastPositive ? value.number - kFirstInteger : kLastPositive - value.number);
    } else {
        const auto place = static_cast<size_t>(value.number - kFirstFloat);
        if (kind == Constant::integer_16 || kind == Constant::pair_float_16_literal) {
            out_.hex(kind == Constant::integer_16 ? kFloats16[place] : kFloats32[place]);
        } else {
            out_ << (place == 8 && is_64_bits_wide(kind) ? kInversePi64 : kFloatTexts[place]);
        }
    }
    if (kind == Constant::no_constant) out_ << std::string_view("/*Invalid immediate*/");
}

void Printer::literal(Constant kind) {
    const auto bits = static_cast<uint32_t>(instruction_.literal);
    if (kind == Constant::no_constant) {
        plain_32(bits);
        out_ << std::string_view("/*Invalid immediate*/");
    } else if (is_inlinable(bits, kind, target_.generation())) {
        out_ << std::string_view("lit(");
        out_.hex(bits) << ')';
    } else if ((kind == Constant::float_64 && bits == 0) || kind == Constant::pair_float_16_literal) {
        is_small(static_cast<int32_t>(bits)) ? plain_32(bits) : void(out_.hex(bits));
    } else if (kind == Constant::integer_16 && place_in(kFloats32, bits) >= 0) {
        plain_32(bits);
    } else if (kind == Constant::integer_16 || kind == Constant::float_16) {
        out_.hex(bits & 0xFFFF);
    } else {
        out_.hex(bits);
    }
}

// A literal of 64 bits as a source. Narrower operands take its lower half.
void Printer::literal_64(uint64_t value, Constant kind) {
    const auto low = static_cast<uint32_t>(value);
    if (value >> 32 == 0) {
        out_ << std::string_view("lit64(");
        out_.hex(value) << ')';
    } else if (is_64_bits_wide(kind)) {
        const int place = place_in(kFloats64, value);
        if (kind == Constant::integer_64 && is_small(static_cast<int64_t>(value))) {
            out_ << static_cast<int64_t>(value);
        } else if (place >= 0) {
            out_ << (place == 8 ? kInversePi64 : kFloatTexts[place]);
        } else {
            out_.hex(kind == Constant::float_64 && low == 0 ? value >> 32 : value);
        }
    } else if (kind == Constant::float_16 ||
               (kind == Constant::integer_16 && !is_small(static_cast<int32_t>(low)) && place_in(kFloats32, low) < 0)) {
        out_.hex(low & 0xFFFF);
    } else {
        plain_32(low);
    }
}

void Printer::literal_field_64(uint64_t value) {
    if (value >> 32 == 0) {
        out_ << std::string_view("lit64(");
        out_.hex(value) << ')';
    } else {
        out_.hex((value & 0xFFFFFFFF) == 0 ? value >> 32 : value);
    }
}

bool Printer::is_expression(const Value& value, Constant kind) const {
    if (value.kind == Value::Kind::literal_64) return static_cast<uint64_t>(value.number) >> 32 == 0;
    return value.number == kLiteralCode && kind != Constant::no_constant &&
           is_inlinable(static_cast<uint32_t>(instruction_.literal), kind, target_.generation());
}

}  // namespace wavescope::isa

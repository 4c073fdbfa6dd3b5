#include "dwords.hpp"

namespace wavewright::evaluate::operations {
namespace {

uint32_t plain_field(uint32_t source, unsigned offset, unsigned width, bool is_signed) {
    if (width == 0) return 0;
    const uint32_t moved = source >> offset;
    if (!is_signed) return moved & ((1U << width) - 1);
    if (offset + width >= kDwordBits) return static_cast<uint32_t>(static_cast<int32_t>(source) >> offset);
    const unsigned above = kDwordBits - width;
    return static_cast<uint32_t>(static_cast<int32_t>(moved << above) >> above);
}

}  // namespace

Value field(Domain& domain, const Value& source, const Value& offset, const Value& width, bool is_signed) {
    const bool is_in_low_half = source.low_lanes != 0 && domain.is_one_number(offset) && domain.is_one_number(width) &&
                                (domain.first(offset) & 31) + (domain.first(width) & 31) <= 16;
    const Value a = is_in_low_half ? domain.low_16(source) : source;
    if (a.base != 0 && !is_signed && domain.is_one_number(width)) {
        const uint32_t mask = (1U << (domain.first(width) & 31)) - 1;
        return and_(domain, domain.shift_right(a, offset, false), domain.constant(mask));
    }
    return domain.lanewise(
        [&](unsigned lane) {
            return plain_field(a.lane[lane], offset.lane[lane] & 31, width.lane[lane] & 31, is_signed);
        },
        {&a, &offset, &width});
}

}  // namespace wavewright::evaluate::operations

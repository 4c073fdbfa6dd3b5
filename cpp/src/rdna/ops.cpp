// The op codes of all RDNA families as one table (spec_rdna 9.2), expanded to one array per family when compiled.
#include "rdna/ops.hpp"

namespace wavewright::rdna {
namespace {

enum Family : uint8_t {
    gfx10 = 1,
    gfx11 = 2,
    gfx12 = 4,
    mi400 = 8,
    from11 = gfx11 | gfx12 | mi400,
    from12 = gfx12 | mi400,
    all = 15
};

// The op codes `first` to `last` of some families. Codes that follow each other often differ by their cycles only.
struct OpRow {
    uint8_t families;
    uint16_t first, last;
    OpKind kind;
    Category category;
    uint16_t cycles;      // of the first code
    uint16_t growth = 0;  // from one code to the next
    Rate rate = Rate::one;
};

using enum OpKind;
using C = Category;
constexpr Rate kDp = Rate::double_precision;

// Codes not listed are OpKind::nothing.
constexpr OpRow kRows[] = {
    // scalar, branches, messages
    {all, 0, 0, issue, C::salu, 1},
    {all, 1, 2, issue, C::smem, 1},
    {all, 3, 3, issue, C::jump, 1},
    {all, 4, 4, issue, C::next, 1},
    {all, 5, 5, register_jump, C::salu, 1},
    {all, 6, 6, trap_entry, C::context, 1},
    {all, 7, 7, issue, C::salu, 1},
    {all, 8, 8, issue, C::context, 1},
    {all, 9, 9, issue, C::message, 1},
    {all, 19, 19, wait, C::immed, 1},
    {gfx10 | gfx11, 112, 113, issue, C::salu, 1},
    {from11, 114, 114, issue, C::salu, 1},
    {all, 117, 117, trap_return, C::none, 0},
    {from12, 122, 122, issue, C::message, 1},
    {from12, 135, 137, issue, C::salu, 1},
    {from12, 138, 138, issue, C::message, 1},
    {from12, 150, 151, issue, C::smem, 1},
    {from12, 152, 152, issue, C::salu, 3},
    {from12, 155, 156, issue, C::salu, 2, 3},
    {mi400, 174, 174, issue, C::message, 1},
    // vector ALU
    {gfx10 | from12, 10, 10, issue, C::valu, 1},
    {gfx11, 10, 10, issue, C::valu, 1, 0, kDp},
    {gfx10 | gfx11 | gfx12, 11, 11, issue, C::valu, 4},
    {mi400, 11, 11, issue, C::valu, 2, 0, Rate::transcendental},
    {gfx10, 12, 13, issue, C::valu, 1, 1, kDp},
    {gfx10, 14, 14, issue, C::valu, 4, 0, kDp},
    {gfx10, 15, 15, issue, C::valu, 16, 0, kDp},
    {from11, 12, 13, issue, C::valu, 1, 1},
    {from11, 14, 14, issue, C::valu, 4},
    {gfx11, 15, 15, issue, C::valu, 1, 0, kDp},
    {from12, 15, 15, issue, C::valu, 16},
    {gfx10, 16, 17, issue, C::valu, 1, 0, kDp},
    {gfx11, 16, 17, issue, C::valu, 1},
    {mi400, 16, 16, issue, C::valu, 32},
    {mi400, 17, 17, issue, C::valu, 8},
    {all, 18, 18, issue, C::valu, 1},
    {from11, 115, 116, issue, C::valu, 1, 1},
    {gfx12, 140, 140, issue, C::valu, 8},
    {gfx12, 141, 141, issue, C::valu, 16},
    {gfx12, 142, 142, issue, C::valu, 32},
    {gfx12, 143, 143, issue, C::valu, 64},
    {gfx12, 146, 146, issue, C::valu, 1, 0, kDp},
    {gfx12, 147, 147, issue, C::valu, 1, 0, Rate::derated_double_precision},
    {from12, 153, 153, issue, C::valu, 1},
    {mi400, 169, 169, issue, C::valu, 1},
    {mi400, 175, 175, issue, C::valu, 16},
    {mi400, 176, 176, issue, C::valu, 32},
    {mi400, 177, 177, issue, C::valu, 16},
    {mi400, 178, 178, issue, C::valu, 8},
    {mi400, 179, 179, issue, C::valu, 16},
    {mi400, 180, 180, issue, C::valu, 1},
    {mi400, 181, 181, issue, C::valu, 4},
    {mi400, 182, 182, issue, C::valu, 2},
    {mi400, 183, 183, matrix_scale, C::none, 0},
    {mi400, 184, 184, issue, C::valu, 4},
    {mi400, 187, 187, issue, C::valu, 32},
    // memory
    {mi400, 26, 27, issue, C::flat, 1, 1},
    {from11, 28, 32, issue, C::flat, 2, 1},
    {gfx10, 30, 34, issue, C::flat, 1, 1},
    {from11, 33, 34, issue, C::vmem, 1, 1},
    {gfx10, 35, 35, issue, C::vmem, 1},
    {gfx10, 36, 40, issue, C::vmem, 1, 1},
    {from11, 35, 40, issue, C::vmem, 1, 1},
    {all, 41, 41, issue, C::lds, 1},
    {all, 42, 46, issue, C::lds, 1, 1},
    {all, 47, 48, issue, C::vmem, 1, 1},
    {all, 49, 54, issue, C::vmem, 1, 1},
    {all, 55, 66, issue, C::vmem, 1, 1},
    {all, 68, 71, issue, C::vmem, 1, 1},
    {all, 72, 78, issue, C::vmem, 2, 1},
    {mi400, 79, 79, replay, C::none, 0},
    {all, 103, 104, issue, C::bvh, 8, 1},
    {all, 105, 106, issue, C::bvh, 11, 1},
    {all, 110, 111, issue, C::lds, 1},
    {gfx11, 118, 118, issue, C::lds, 6},
    {gfx12, 118, 118, issue, C::bvh, 6},
    {gfx12, 121, 121, issue, C::bvh, 10},
    {mi400, 157, 159, issue, C::vmem, 1},
    {mi400, 160, 161, issue, C::vmem, 2},
    {mi400, 162, 162, issue, C::vmem, 3},
    {mi400, 163, 163, issue, C::vmem, 5},
    {mi400, 170, 171, issue, C::vmem, 1},
    {mi400, 173, 173, issue, C::lds, 1},
    {from12, 222, kOpCodes - 1, issue, C::vmem, 1, 1},
    // the same on the neighbour SIMD
    {from11, 80, 84, other_simd, C::lds, 1, 1},
    {from11, 85, 89, other_simd, C::flat, 2, 1},
    {gfx11, 90, 101, other_simd, C::vmem, 1, 1},
    {from11, 119, 119, other_simd, C::lds, 6},
    {from12, 120, 120, other_simd, C::lds, 10},
    {from12, 188, 221, other_simd, C::vmem, 1, 1},
};

constexpr OpTable expand(Family family) {
    OpTable table;
    table.fill(Op{});
    for (const OpRow& row : kRows) {
        if ((row.families & family) == 0) continue;
        for (uint32_t code = row.first; code <= row.last; ++code) {
            table[code] = {row.kind, row.category, row.rate, row.cycles + row.growth * (code - row.first)};
            if (row.rate != Rate::one) table[code].kind = OpKind::scaled_issue;
        }
    }
    return table;
}

static_assert(expand(gfx10)[255].kind == OpKind::nothing);
constexpr OpTable kGfx10 = expand(gfx10), kGfx11 = expand(gfx11), kGfx12 = expand(gfx12), kMi400 = expand(mi400);

}  // namespace

const OpTable& ops_for(uint32_t tt) {
    if (tt <= 2) return kGfx10;
    if (tt == 3) return kGfx11;
    return tt == 4 ? kGfx12 : kMi400;
}

}  // namespace wavewright::rdna

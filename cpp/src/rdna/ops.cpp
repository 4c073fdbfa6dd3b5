// The op codes of all RDNA families as one table, expanded to one array per family when compiled. Categories, cycles
// and what each code means: spec_rdna 9.2.
#include "rdna/ops.hpp"

namespace wavewright::rdna {
namespace {

enum Family : uint8_t {  // bits
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
    uint8_t families;  // Family bits
    uint16_t first, last;
    OpKind kind;
    Category category;
    uint16_t cycles;      // of the first code
    uint16_t growth = 0;  // cycles that each code takes more than the one before it
    Rate rate = Rate::one;
};

using enum OpKind;
using C = Category;
constexpr Rate kDp = Rate::double_precision;

// By unit, and by code within a unit. Codes not listed are OpKind::nothing, such as the export requests 20 and 21.
constexpr OpRow kRows[] = {
    // scalar, branches, messages
    {all, 0, 0, issue, C::salu, 1},                // scalar ALU
    {all, 1, 2, issue, C::smem, 1},                // scalar memory read, write
    {all, 3, 3, issue, C::jump, 1},                // branch taken
    {all, 4, 4, issue, C::next, 1},                // branch not taken
    {all, 5, 5, register_jump, C::salu, 1},        // jump or call by register
    {all, 6, 6, trap_entry, C::context, 1},        // trap entry
    {all, 7, 7, issue, C::salu, 1},                // scalar ALU, skipped
    {all, 8, 8, issue, C::context, 1},             // fatal halt
    {all, 9, 9, issue, C::message, 1},             // message
    {all, 19, 19, wait, C::immed, 1},              // barrier (v1 to v3), barrier wait (v4 and later)
    {gfx10 | gfx11, 112, 113, issue, C::salu, 1},  // sub-vector loop
    {from11, 114, 114, issue, C::salu, 1},         // scalar, writes EXEC
    {all, 117, 117, trap_return, C::none, 0},      // return from trap
    {from12, 122, 122, issue, C::message, 1},      // barrier signal
    {from12, 135, 137, issue, C::salu, 1},         // dynamic VGPRs, try-lock, unlock
    {from12, 138, 138, issue, C::message, 1},      // barrier join
    {from12, 150, 151, issue, C::smem, 1},         // instruction prefetch, constant prefetch
    {from12, 152, 152, issue, C::salu, 3},         // scalar float
    {from12, 155, 156, issue, C::salu, 2, 3},      // slower scalar
    {mi400, 174, 174, issue, C::message, 1},       // cluster barrier signal
    // vector ALU
    {gfx10 | from12, 10, 10, issue, C::valu, 1},  // vector ALU
    {gfx11, 10, 10, issue, C::valu, 1, 0, kDp},
    {gfx10 | gfx11 | gfx12, 11, 11, issue, C::valu, 4},  // transcendental
    {mi400, 11, 11, issue, C::valu, 2, 0, Rate::transcendental},
    {gfx10, 12, 13, issue, C::valu, 1, 1, kDp},   // vector, 1 and 2 passes
    {gfx10, 14, 14, issue, C::valu, 4, 0, kDp},   // 4 passes
    {gfx10, 15, 15, issue, C::valu, 16, 0, kDp},  // 16 passes
    {from11, 12, 13, issue, C::valu, 1, 1},
    {from11, 14, 14, issue, C::valu, 4},
    {gfx11, 15, 15, issue, C::valu, 1, 0, kDp},
    {from12, 15, 15, issue, C::valu, 16},
    {gfx10, 16, 17, issue, C::valu, 1, 0, kDp},  // double precision, and derated
    {gfx11, 16, 17, issue, C::valu, 1},
    {mi400, 16, 16, issue, C::valu, 32},
    {mi400, 17, 17, issue, C::valu, 8},
    {all, 18, 18, issue, C::valu, 1},          // interpolation
    {from11, 115, 116, issue, C::valu, 1, 1},  // vector, writes EXEC
    {gfx12, 140, 140, issue, C::valu, 8},      // matrix
    {gfx12, 141, 141, issue, C::valu, 16},
    {gfx12, 142, 142, issue, C::valu, 32},
    {gfx12, 143, 143, issue, C::valu, 64},
    {gfx12, 146, 146, issue, C::valu, 1, 0, kDp},  // double precision
    {gfx12, 147, 147, issue, C::valu, 1, 0, Rate::derated_double_precision},
    {from12, 153, 153, issue, C::valu, 1},  // transcendental with a scalar result
    {mi400, 169, 169, issue, C::valu, 1},   // vector, skipped
    {mi400, 175, 175, issue, C::valu, 16},  // 175 to 182: matrix and reserved vector codes
    {mi400, 176, 176, issue, C::valu, 32},
    {mi400, 177, 177, issue, C::valu, 16},
    {mi400, 178, 178, issue, C::valu, 8},
    {mi400, 179, 179, issue, C::valu, 16},
    {mi400, 180, 180, issue, C::valu, 1},
    {mi400, 181, 181, issue, C::valu, 4},
    {mi400, 182, 182, issue, C::valu, 2},
    {mi400, 183, 183, matrix_scale, C::none, 0},  // load of a matrix scale
    {mi400, 184, 184, issue, C::valu, 4},         // matrix
    {mi400, 187, 187, issue, C::valu, 32},        // double precision, accumulates
    // memory
    {mi400, 26, 27, issue, C::flat, 1, 1},   // flat read
    {from11, 28, 32, issue, C::flat, 2, 1},  // flat
    {gfx10, 30, 34, issue, C::flat, 1, 1},
    {from11, 33, 34, issue, C::vmem, 1, 1},  // global and scratch
    {gfx10, 35, 35, issue, C::vmem, 1},
    {gfx10, 36, 40, issue, C::vmem, 1, 1},  // global and scratch
    {from11, 35, 40, issue, C::vmem, 1, 1},
    {all, 41, 41, issue, C::lds, 1},       // LDS read
    {all, 42, 46, issue, C::lds, 1, 1},    // LDS write
    {all, 47, 48, issue, C::vmem, 1, 1},   // buffer read
    {all, 49, 54, issue, C::vmem, 1, 1},   // buffer write
    {all, 55, 66, issue, C::vmem, 1, 1},   // image sample
    {all, 68, 71, issue, C::vmem, 1, 1},   // image read
    {all, 72, 78, issue, C::vmem, 2, 1},   // image write
    {mi400, 79, 79, replay, C::none, 0},   // replay after XNACK
    {all, 103, 104, issue, C::bvh, 8, 1},  // ray tracing
    {all, 105, 106, issue, C::bvh, 11, 1},
    {all, 110, 111, issue, C::lds, 1},    // LDS direct load, parameter load
    {gfx11, 118, 118, issue, C::lds, 6},  // LDS stack of ray tracing
    {gfx12, 118, 118, issue, C::bvh, 6},
    {gfx12, 121, 121, issue, C::bvh, 10},
    {mi400, 157, 159, issue, C::vmem, 1},  // 157 to 160: multicast and asynchronous loads
    {mi400, 160, 161, issue, C::vmem, 2},  // 161 to 163: asynchronous stores
    {mi400, 162, 162, issue, C::vmem, 3},
    {mi400, 163, 163, issue, C::vmem, 5},
    {mi400, 170, 171, issue, C::vmem, 1},               // vector prefetch, tensor data mover
    {mi400, 173, 173, issue, C::lds, 1},                // asynchronous LDS barrier
    {from12, 222, kOpCodes - 1, issue, C::vmem, 1, 1},  // block store
    // memory instructions of the neighbour SIMD
    {from11, 80, 84, other_simd, C::lds, 1, 1},   // LDS
    {from11, 85, 89, other_simd, C::flat, 2, 1},  // flat
    {gfx11, 90, 101, other_simd, C::vmem, 1, 1},  // vector memory
    {from11, 119, 119, other_simd, C::lds, 6},    // LDS
    {from12, 120, 120, other_simd, C::lds, 10},
    {from12, 188, 221, other_simd, C::vmem, 1, 1},  // vector memory
};

// expand() would let the later one of two rows for a code win without a word.
constexpr bool has_one_row_per_code(Family family) {
    std::array<bool, kOpCodes> is_taken{};
    for (const OpRow& row : kRows) {
        if ((row.families & family) == 0) continue;
        for (uint32_t code = row.first; code <= row.last; ++code) {
            if (is_taken[code]) return false;
            is_taken[code] = true;
        }
    }
    return true;
}
static_assert(has_one_row_per_code(gfx10) && has_one_row_per_code(gfx11) && has_one_row_per_code(gfx12) &&
              has_one_row_per_code(mi400));

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

static_assert(expand(gfx10)[255].kind == OpKind::nothing);  // a code that no row lists
constexpr OpTable kGfx10 = expand(gfx10), kGfx11 = expand(gfx11), kGfx12 = expand(gfx12), kMi400 = expand(mi400);

}  // namespace

// Stream versions 0 to 2 are gfx10, 3 is gfx11, 4 is gfx12, 5 is mi400 (spec_rdna 2.2).
const OpTable& ops_for(uint32_t tt) {
    if (tt <= 2) return kGfx10;
    if (tt == 3) return kGfx11;
    return tt == 4 ? kGfx12 : kMi400;
}

}  // namespace wavewright::rdna

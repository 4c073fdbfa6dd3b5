// The token alphabet of the RDNA streams and the bit fields of each token (spec_rdna 2.2, 4 and 6), declared as tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "decode/bit_field.hpp"

namespace wavewright::rdna {

enum class Token : uint8_t {
    // Known to the reader alone.
    nop,
    time,
    timestamp,
    // Delivered, but only their time counts.
    unknown,
    alu_exec,
    vmem_exec,
    wave_alloc,
    util_counter,
    event_sync,
    exec_popcount,
    lds_config,
    medium_time,
    // Delivered and handled.
    inst,
    valu,
    imm_one,
    immediate,
    wave_ready,
    new_pc,
    wave_start,
    wave_start_ext,
    wave_end,
    shader_data,
    shader_data_short,
    misc,
    event,
    reg,
    reg_init,
    header,
};

constexpr bool is_time_only(Token token) {
    return token >= Token::unknown && token <= Token::medium_time;
}

struct TokenRow {
    std::string_view pattern;  // most significant bit first; it is the low bits of the token
    Token token;
    uint8_t length;          // in bits
    uint8_t time_begin = 0;  // the time field is [time_begin, time_end)
    uint8_t time_end = 0;
    uint8_t bias = 0;                   // added to the time field
    std::span<const uint8_t> deltas{};  // instead of a field: cycles by bits 4..7 of the token
};

// Cycles and place in the most-recently-used list of the 8-bit VALU token, by its bits 4..7 (spec_rdna 10.2).
constexpr std::array<uint8_t, 16> kShortValuDelta{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 1, 2};
constexpr std::array<uint8_t, 16> kShortValuPlace{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4};

// Each generation starts from the table before it, and later rows overwrite earlier ones (spec_rdna 4.1).
constexpr TokenRow kRowsV1[] = {
    {"010", Token::inst, 20, 4, 7},
    {"011", Token::valu, 12, 3, 6},
    {"1101", Token::imm_one, 12, 4, 7},
    {"00100", Token::immediate, 24, 5, 8},
    {"10100", Token::wave_ready, 24, 5, 8},
    {"0100001", Token::new_pc, 64, 8, 11},
    {"01100", Token::wave_start, 32, 5, 7},
    {"11100", Token::wave_start_ext, 48, 5, 7},
    {"00101", Token::wave_alloc, 20, 5, 8},
    {"10101", Token::wave_end, 20, 5, 8},
    {"00110", Token::shader_data, 52, 5, 8},
    {"10110", Token::shader_data_short, 28, 5, 8},
    {"0110001", Token::util_counter, 64, 7, 9},
    {"1000", Token::time, 8, 4, 8, 4},
    {"0000", Token::nop, 4},
    {"1010001", Token::misc, 24, 7, 16},
    {"01100001", Token::event, 24, 8, 11},
    {"11100001", Token::event_sync, 32, 8, 11},
    {"1001", Token::reg, 64, 4, 7},
    {"1110001", Token::reg_init, 64, 7, 10},
    {"0000001", Token::timestamp, 64},
    {"0010001", Token::header, 64},
};
constexpr TokenRow kRowsV3[] = {
    {"0110001", Token::util_counter, 48, 7, 9},
    {"0000001", Token::timestamp, 48},
};
constexpr TokenRow kRowsV4[] = {
    {"010", Token::inst, 20, 3, 6},
    {"0000110", Token::shader_data, 56, 7, 10},
    {"1000110", Token::shader_data_short, 32, 7, 10},
    {"1100110", Token::exec_popcount, 24, 7, 10},
    {"010110", Token::exec_popcount, 48, 6, 9},
    {"0100001", Token::new_pc, 72, 8, 11},
    {"11100", Token::wave_start_ext, 40, 5, 7},
    {"00101", Token::wave_alloc, 24, 5, 8},
    {"0000001", Token::timestamp, 64},
};
constexpr TokenRow kRowsV5[] = {
    {"0010", Token::inst, 24, 4, 6},
    {"011", Token::valu, 8, 0, 0, 0, kShortValuDelta},
    {"0000", Token::nop, 8},
    {"1101", Token::imm_one, 16, 7, 10},
    {"1000001", Token::wave_end, 24, 7, 10},
    {"00100110", Token::lds_config, 24, 8, 10},
    {"1010001", Token::misc, 24, 7, 10},
    {"1000", Token::time, 8, 4, 8, 1},
    {"1110", Token::time, 8, 4, 8, 1},
    {"10100110", Token::medium_time, 16, 8, 16},
};
// Absent in the reference's present source but sent by the hardware of v1..v4 (spec_rdna 4.4).
constexpr TokenRow kExecutionRows[] = {
    {"1110", Token::alu_exec, 8, 4, 6},
    {"1111", Token::vmem_exec, 8, 4, 6},
};

// What the low byte of a token says. Time fields inside that byte are already evaluated.
struct TokenEntry {
    Token token = Token::unknown;
    uint8_t length = 4;  // in bits, as declared
    uint8_t step = 4;    // bits to the next token: v5 rounds up to bytes
    uint8_t delta = 0;   // cycles that the low byte alone gives
    uint16_t time_mask = 0;
    uint8_t time_begin = 0;
    bool ends_wait = false;  // v1..v3: enters the reader's queue, in a later cycle than the token before it for sure
};
using TokenTable = std::array<TokenEntry, 256>;

constexpr void fill(TokenTable& table, std::span<const TokenRow> rows) {
    for (const TokenRow& row : rows) {
        size_t prefix = 0;
        for (const char digit : row.pattern) prefix = prefix * 2 + (digit == '1');
        const size_t stride = size_t{1} << row.pattern.size();
        for (size_t byte = prefix; byte < table.size(); byte += stride) {
            TokenEntry entry{.token = row.token, .length = row.length, .step = row.length};
            const auto mask = static_cast<uint16_t>((1U << (row.time_end - row.time_begin)) - 1);
            entry.delta = row.bias;
            if (!row.deltas.empty()) {
                entry.delta = row.deltas[byte >> 4];
            } else if (row.time_end <= 8) {
                entry.delta = static_cast<uint8_t>(row.bias + ((byte >> row.time_begin) & mask));
            } else {
                entry.time_mask = mask;
                entry.time_begin = row.time_begin;
            }
            const uint8_t early = row.token == Token::wave_ready ? 1 : 0;  // reported one cycle late
            entry.ends_wait = row.token >= Token::unknown && entry.delta > early;
            table[byte] = entry;
        }
    }
}

// `version` 1 (also 2), 3, 4 or 5: the reader's generation.
constexpr TokenTable token_table(int version) {
    TokenTable table;
    table.fill(TokenEntry{});  // g++ 12 forgets the initial values of an array's elements in constant expressions
    fill(table, kRowsV1);
    if (version >= 3) fill(table, kRowsV3);
    if (version >= 4) fill(table, kRowsV4);
    if (version >= 5) {
        fill(table, kRowsV5);
        for (TokenEntry& entry : table) entry.step = static_cast<uint8_t>((entry.length + 7) / 8 * 8);
    } else {
        fill(table, kExecutionRows);
    }
    return table;
}

template <int version>
inline constexpr TokenTable kTokenTable = token_table(version);

// Bits to the next token; 0 where it depends on more than the kind, or where there is no such token.
constexpr uint8_t step_of(const TokenTable& table, Token token) {
    uint8_t step = 0;
    for (const TokenEntry& entry : table) {
        if (entry.token != token) continue;
        if (step != 0 && step != entry.step) return 0;
        step = entry.step;
    }
    return step;
}

constexpr bool has_late_field(const TokenTable& table, Token token) {
    for (const TokenEntry& entry : table) {
        if (entry.token == token && entry.time_mask != 0) return true;
    }
    return false;
}

// Reading always moves on.
constexpr bool moves_on(const TokenTable& table) {
    for (const TokenEntry& entry : table) {
        if (entry.step < 4 || entry.step > 72) return false;
    }
    return true;
}
static_assert(moves_on(kTokenTable<1>) && moves_on(kTokenTable<3>) && moves_on(kTokenTable<4>) &&
              moves_on(kTokenTable<5>));

// Fields whose place depends on `tt`, the version in the last HEADER token (0 before the first one).
struct Layout {
    struct {
        Field sa, simd, wgp, slot, pipe, me, count, ext, lds_extension, workgroup;
    } start;
    struct {
        Field sa, simd, wgp, slot;
    } end;
    struct {
        Field slot, op;
    } inst;
    Field imm_one_slot;
    struct {
        Field sample_or_loss, rinse, save, stall_begin, stall_end, didt_begin, didt_end;
        Field cluster_first, cluster_last, cluster;
        Field any;  // all of them
    } misc;
    struct {
        Field sa, simd, wgp, exec_masked, slot, data, data_short, privileged, privileged_short;
    } shader_data;
    Field target_wgp;
};

constexpr Layout kLayoutV3 = {
    .start = {.sa = bit(7),
              .simd = bits(8, 9),
              .wgp = bits(10, 12),
              .slot = bits(13, 17),
              .pipe = bits(21, 22),
              .me = bit(23),
              .count = bits(25, 31),
              .ext = {},
              .lds_extension = {},
              .workgroup = {}},
    .end = {.sa = bit(8), .simd = bits(9, 10), .wgp = bits(11, 13), .slot = bits(15, 19)},
    .inst = {.slot = bits(8, 12), .op = bits(13, 19)},
    .imm_one_slot = bits(7, 11),
    .misc = {.sample_or_loss = bit(16),
             .rinse = bit(17),
             .save = bit(19),
             .stall_begin = bit(20),
             .stall_end = bit(21),
             .didt_begin = bit(22),
             .didt_end = bit(23),
             .cluster_first = {},
             .cluster_last = {},
             .cluster = {},
             .any = bits(16, 23)},
    .shader_data = {.sa = bit(8),
                    .simd = bits(9, 10),
                    .wgp = bits(11, 13),
                    .exec_masked = bit(14),
                    .slot = bits(15, 19),
                    .data = bits(20, 51),
                    .data_short = bits(20, 27),
                    .privileged = {},
                    .privileged_short = {}},
    .target_wgp = bits(15, 17),
};

constexpr Layout layout_v4() {
    Layout layout = kLayoutV3;
    layout.start = {.sa = bit(7),
                    .simd = bits(8, 9),
                    .wgp = bits(10, 13),
                    .slot = bits(15, 19),
                    .pipe = bits(20, 21),
                    .me = bit(22),
                    .count = bits(25, 31),
                    .ext = bit(4),
                    .lds_extension = bit(32),
                    .workgroup = bits(33, 37)};
    layout.end.wgp = bits(11, 14);
    layout.inst = {.slot = bits(7, 11), .op = bits(12, 19)};
    layout.shader_data = {.sa = bit(10),
                          .simd = bits(11, 12),
                          .wgp = bits(13, 16),
                          .exec_masked = {},
                          .slot = bits(17, 21),
                          .data = bits(22, 53),
                          .data_short = bits(22, 29),
                          .privileged = bits(54, 55),
                          .privileged_short = bits(30, 31)};
    return layout;
}

constexpr Layout layout_v5() {
    Layout layout = layout_v4();
    layout.end = {.sa = bit(10), .simd = bits(11, 12), .wgp = bits(13, 16), .slot = bits(17, 21)};
    layout.inst.op = bits(12, 20);
    layout.imm_one_slot = bits(10, 14);
    layout.misc = {.sample_or_loss = bit(10),
                   .rinse = bit(11),
                   .save = bit(12),
                   .stall_begin = bit(13),
                   .stall_end = bit(14),
                   .didt_begin = bit(15),
                   .didt_end = bit(16),
                   .cluster_first = bit(17),
                   .cluster_last = bit(18),
                   .cluster = bits(19, 22),
                   .any = bits(10, 22)};
    layout.target_wgp = bits(15, 18);
    return layout;
}

inline constexpr Layout kLayoutV4 = layout_v4();
inline constexpr Layout kLayoutV5 = layout_v5();

constexpr const Layout& layout_for(uint32_t tt) {
    return tt <= 3 ? kLayoutV3 : tt == 4 ? kLayoutV4 : kLayoutV5;
}

// NEW_PC, by the reader's generation and not by `tt`; pc in units of 4 bytes.
struct NewPc {
    Field slot, pc;
};
constexpr NewPc kShortNewPc = {.slot = bits(11, 15), .pc = bits(16, 61)};
constexpr NewPc kLongNewPc = {.slot = bits(3, 7), .pc = bits(8, 62)};  // v4 and v5: 72 bits without the first byte

// Fields that have the same place in every version.
namespace header_field {
constexpr Field version = bits(7, 12), simd = bits(13, 14), sa = bit(19), dp_rate = bits(28, 31),
                dp_derate = bits(33, 35), double_buffer = bit(43), exclude_barrier = bit(59), half_rate_trans = bit(60);
}
constexpr Field kValuSlot = bits(7, 11);  // v5: where the reader puts the slot that it found in its list
constexpr Field kSlotMask = bits(8, 23);  // IMMEDIATE and WAVE_READY: one bit for each of the slots 0..15
namespace event_field {
constexpr Field bottom_of_pipe = bit(11), pipe = bits(14, 15), me = bits(16, 17), id = bits(18, 23);
}
namespace reg_field {
constexpr Field pipe = bits(7, 8), me = bits(9, 10), compute = bit(15), address = bits(16, 31), data = bits(32, 63);
}
namespace reg_init_field {
constexpr Field pipe = bits(14, 15), me = bits(16, 17), type = bits(18, 19), data = bits(20, 51);
}

}  // namespace wavewright::rdna

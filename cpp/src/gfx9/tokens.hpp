// The gfx9 token alphabet: kinds, lengths and bit fields (spec_gfx9 section 2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "decode/bit_field.hpp"
#include "wavewright/records.hpp"

namespace wavewright::gfx9 {

inline constexpr size_t kHeaderBytes = 8;
inline constexpr size_t kLongestToken = 8;
inline constexpr int64_t kCyclesPerDelta = 4;
inline constexpr uint32_t kSimds = 4;
inline constexpr uint32_t kSlots = 10;  // wave slots per SIMD; token fields can name 16

// SIMD and slot of a wave on its CU, as most tokens have it: 4 bits of slot below 2 bits of SIMD.
struct WaveSlot {
    static constexpr uint32_t kCount = 64;
    uint32_t index;
    uint32_t slot() const { return index & 15; }
    uint32_t simd() const { return index >> 4; }
    bool exists() const { return slot() < kSlots; }
};

// The software header in front of the tokens (1.2).
struct Header {
    static constexpr Field target_cu = bits(20, 24);
    static constexpr Field double_buffer = bit(32);
};

enum class TokenType : uint8_t {
    misc = 0,
    timestamp = 1,
    reg = 2,
    wave_start = 3,
    wave_alloc = 4,
    reg_cs_priv = 5,
    wave_end = 6,
    event = 7,
    event_cs = 8,
    event_gfx1 = 9,
    inst = 10,
    inst_pc = 11,
    inst_userdata = 12,
    issue = 13,
    perf = 14,
    reg_cs = 15,
};

struct TokenShape {
    uint8_t bytes;
    uint8_t slot_bit;  // first bit of the 4-bit wave slot; 0 = the token names no slot
};

inline constexpr std::array<TokenShape, 16> kTokens = {{
    {2, 0},   // misc
    {8, 0},   // timestamp
    {8, 0},   // reg
    {4, 10},  // wave_start
    {2, 10},  // wave_alloc
    {6, 0},   // reg_cs_priv
    {2, 10},  // wave_end
    {2, 0},   // event
    {2, 0},   // event_cs
    {2, 0},   // event_gfx1
    {2, 5},   // inst
    {8, 5},   // inst_pc
    {6, 10},  // inst_userdata
    {4, 0},   // issue
    {8, 0},   // perf
    {6, 0},   // reg_cs
}};

constexpr size_t bytes_of(TokenType type) {
    return kTokens[static_cast<size_t>(type)].bytes;
}

struct Token {
    static constexpr Field type = bits(0, 3);
    static constexpr Field delta = bit(4);  // every type but misc
};

struct Misc {
    static constexpr Field delta = bits(4, 11);
    static constexpr Field kind = bits(13, 15);
    enum : uint32_t {
        time = 0,
        time_reset = 1,
        packet_lost = 2,
        surface_sync = 3,
        trace_stall_begin = 4,
        trace_stall_end = 5,
        save_context = 6,
    };
};

struct Timestamp {
    static constexpr Field time = bits(16, 63);
};

struct Reg {
    static constexpr Field pipe = bits(5, 6);
    static constexpr Field raw_me = bits(7, 8);
    static constexpr Field write = bit(15);
    static constexpr Field address = bits(16, 31);
    static constexpr Field data = bits(32, 63);
};

struct RegCs {
    static constexpr Field pipe = bits(5, 6);
    static constexpr Field raw_me = bits(7, 8);
    static constexpr Field address = bits(9, 15);
    static constexpr Field data = bits(16, 47);
};

// The register tokens number the micro engines the other way round than WAVE_START does.
constexpr uint32_t effective_me(uint32_t raw_me) {
    return (raw_me + 1) & 1;
}

struct WaveIdentity {  // wave_start, wave_end, inst_userdata
    static constexpr Field sh = bit(5);
    static constexpr Field cu = bits(6, 9);
    static constexpr Field slot = bits(10, 13);
    static constexpr Field simd = bits(14, 15);
    static constexpr Field wave_slot = bits(10, 15);
    static constexpr Field key = bits(6, 15);  // CU, SIMD and slot: a wave of any CU
};

struct WaveId {
    uint8_t cu, simd, slot;
    static WaveId of(uint64_t word) {
        return {WaveIdentity::cu.byte(word), WaveIdentity::simd.byte(word), WaveIdentity::slot.byte(word)};
    }
};

struct WaveStart : WaveIdentity {
    static constexpr Field pipe = bits(16, 17);
    static constexpr Field me = bits(18, 19);
    static constexpr Field count = bits(22, 28);  // active work-items
    static constexpr Field workgroup = bits(29, 31);
    static constexpr uint32_t kMaxCount = 64;  // larger: a wave coming back from its trap handler (4.4)
};

struct InstUserdata : WaveIdentity {
    static constexpr Field value = bits(16, 47);
};

struct Inst {
    static constexpr Field wave_slot = bits(5, 10);
    static constexpr Field kind = bits(11, 15);
};

struct InstPc {
    static constexpr Field wave_slot = bits(5, 10);
    static constexpr Field dword = bits(16, 63);  // pc >> 2
};

struct Issue {
    static constexpr Field simd = bits(5, 6);
    // Two bits per slot from here on; the low bit of each pair of the slots that exist:
    static constexpr unsigned kFirstBit = 8;
    static constexpr uint32_t kLowBits = 0x05555500;
    enum : uint32_t { none = 0, stall = 1, inst = 2, immed = 3 };
};

struct Perf {
    static constexpr Field sh = bit(5);
    static constexpr Field cu = bits(6, 9);
    static constexpr Field bank = bits(10, 11);
    static constexpr Field value0 = bits(12, 24);
    static constexpr Field value1 = bits(25, 37);
    static constexpr Field value2 = bits(38, 50);
    static constexpr Field value3 = bits(51, 63);
};

// What an INST token of each kind says about the oldest untyped instruction of its wave (2.6, 5.3, 5.4).
struct InstKind {
    enum Effect : uint8_t {
        typed,      // the instruction has this category
        new_pc,     // ... and the next one is elsewhere
        trap,       // ... and the wave enters its trap handler
        take_back,  // it was no instruction of its own
        replay,     // likewise: an XNACK replay, for which the last instruction of the kind `replay_of` waits
    };
    Category category = Category::none;
    uint8_t phase = 0;  // how late the report comes, in quarters of an issue turn
    Effect effect = typed;
    uint8_t replay_of = 0;
};

inline constexpr std::array<InstKind, 32> kInstKinds = {{
    {Category::smem, 5},                        // 0 SMEM_RD
    {Category::salu, 5},                        // 1 SALU_32
    {Category::vmem, 0},                        // 2 VMEM_RD
    {Category::vmem, 0},                        // 3 VMEM_WR
    {Category::flat, 0},                        // 4 FLAT_WR
    {Category::valu, 2},                        // 5 VALU_32
    {Category::lds, 1},                         // 6 LDS
    {Category::salu, 0, InstKind::new_pc},      // 7 PC
    {Category::none, 0, InstKind::take_back},   // 8 EXPREQ_GDS
    {Category::none, 0, InstKind::take_back},   // 9 EXPREQ_GFX
    {Category::none, 0, InstKind::take_back},   // 10 EXPGNT_PAR_COL
    {Category::none, 0, InstKind::take_back},   // 11 EXPGNT_POS_GDS
    {Category::jump, 1},                        // 12 JUMP
    {Category::next, 1},                        // 13 NEXT
    {Category::flat, 0},                        // 14 FLAT_RD
    {Category::message, 1},                     // 15 OTHER_MSG
    {Category::smem, 5},                        // 16 SMEM_WR
    {Category::salu, 5},                        // 17 SALU_64
    {Category::valu, 2},                        // 18 VALU_64
    {Category::none, 0, InstKind::replay, 0},   // 19 SMEM_RD_REPLAY
    {Category::none, 0, InstKind::replay, 16},  // 20 SMEM_WR_REPLAY
    {Category::none, 0, InstKind::replay, 2},   // 21 VMEM_RD_REPLAY
    {Category::none, 0, InstKind::replay, 3},   // 22 VMEM_WR_REPLAY
    {Category::none, 0, InstKind::replay, 4},   // 23 FLAT_WR_REPLAY (the public register header swaps 23 and 24)
    {Category::none, 0, InstKind::replay, 14},  // 24 FLAT_RD_REPLAY
    {Category::none, 0, InstKind::take_back},   // 25 FATAL_HALT
    {Category::none, 0, InstKind::take_back},   // 26 reserved
    {Category::none, 0, InstKind::take_back},   // 27 reserved
    {Category::valu, 2},                        // 28 VALU_MAI
    {Category::context, 0, InstKind::trap},     // 29 GO_TO_TRAP
    {Category::none, 0, InstKind::take_back},   // 30
    {Category::none, 0, InstKind::take_back},   // 31
}};

// The tokens of a buffer by byte position. Loads never leave the buffer: bytes after its end read as zero.
class TokenBytes {
  public:
    explicit TokenBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    size_t size() const { return bytes_.size(); }

    // Needs kLongestToken bytes from `at` on.
    uint64_t load_inside(size_t at) const {
        uint64_t word;
        std::memcpy(&word, bytes_.data() + at, sizeof word);
        return word;
    }

    uint64_t load(size_t at) const {
        if (bytes_.size() - at >= kLongestToken) return load_inside(at);
        uint64_t word = 0;
        std::memcpy(&word, bytes_.data() + at, bytes_.size() - at);
        return word;
    }

    bool fits(size_t at, uint64_t word) const { return bytes_.size() - at >= kTokens[Token::type.word(word)].bytes; }

  private:
    std::span<const uint8_t> bytes_;
};

inline bool names_bad_slot(uint64_t word) {
    const unsigned slot_bit = kTokens[Token::type.word(word)].slot_bit;
    return slot_bit != 0 && ((word >> slot_bit) & 0xF) >= kSlots;
}

}  // namespace wavewright::gfx9

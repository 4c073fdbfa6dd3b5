// Writes thread-trace streams token by token, so that tests, fuzz seeds and floods say what they mean. Layouts are
// those of spec_gfx9 section 2.3 and spec_rdna sections 4 and 6.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace wavewright::testing {

struct Field {
    unsigned bit;  // lowest bit of the field inside the token
    uint64_t value;
};

// A little-endian bit string that grows by whole tokens.
class BitWriter {
  public:
    void token(unsigned bit_count, std::initializer_list<Field> fields) {
        const size_t start = bits_;
        bits_ += bit_count;
        bytes_.resize((bits_ + 7) / 8);
        for (const Field& field : fields) put(start + field.bit, field.value, start + bit_count);
    }
    void zeros(size_t byte_count) {
        bits_ = bytes_.size() * 8 + byte_count * 8;
        bytes_.resize(bits_ / 8);
    }
    // Zeros up to the end of the block; the first one begins behind `header_bits`.
    void fill_block(size_t header_bits) {
        constexpr size_t kBlockBits = 256;
        const size_t used = (bits_ - header_bits) % kBlockBits;
        token(used == 0 ? 0 : static_cast<unsigned>(kBlockBits - used), {});
    }
    const std::vector<uint8_t>& bytes() const { return bytes_; }

  private:
    void put(size_t at, uint64_t value, size_t end) {
        if (end - at < 64) value &= (uint64_t{1} << (end - at)) - 1;
        for (size_t shift = at % 8; value != 0; at += 8 - shift, shift = 0) {
            bytes_[at / 8] = static_cast<uint8_t>(bytes_[at / 8] | value << shift);
            value >>= 8 - shift;
        }
    }

    std::vector<uint8_t> bytes_;
    size_t bits_ = 0;
};

// Where a wave runs. `me` and `pipe` name its queue.
struct Place {
    uint32_t cu = 0;
    uint32_t simd = 0;
    uint32_t slot = 0;
    uint32_t me = 0;
    uint32_t pipe = 0;
};

// Compute registers and the two user-data registers, numbered alike in both families.
enum Register : uint32_t {
    kNumThreadX = 0x07,
    kProgramLow = 0x0C,
    kProgramHigh = 0x0D,
    kRsrc1 = 0x12,
    kRsrc2 = 0x13,
    kUserData2 = 0xC342,
    kUserData3 = 0xC343,
};

// Header words of the instrumentation stream (spec_gfx9 3.3).
constexpr uint32_t kEnable = 0x434F5200;
constexpr uint32_t code_object_word(uint32_t type) {
    return 4 | type << 8;
}
constexpr uint32_t agent_word(uint32_t type, uint32_t data) {
    return 6 | type << 8 | data << 12;
}

class Gfx9Writer : public BitWriter {
  public:
    enum Misc : uint32_t {
        time = 0,
        time_reset = 1,
        packet_lost = 2,
        stall_begin = 4,
        stall_end = 5,
        save_context = 6
    };
    enum Issue : uint32_t { stall = 1, inst = 2, immed = 3 };
    enum Inst : uint32_t {
        smem = 0,
        salu = 1,
        vmem = 2,
        valu = 5,
        lds = 6,
        pc = 7,
        jump = 12,
        next = 13,
        flat = 14,
        message = 15,
        smem_replay = 19,
        trap = 29,
    };

    explicit Gfx9Writer(uint32_t target_cu, uint32_t version = 5) {
        token(64, {{0, 0x11}, {13, version}, {16, 0xF}, {20, target_cu}});
    }
    // How a trace ends: a flush, and the rest of the block.
    void stop() {
        compute_reg(0x7F, 7);
        fill_block(64);
    }
    void misc(uint32_t type, uint32_t delta = 0) { token(16, {{0, 0}, {4, delta}, {13, type}}); }
    void timestamp(uint64_t cycles) { token(64, {{0, 1}, {16, cycles}}); }
    // `me` as decoded; the token holds its complement.
    void reg(uint32_t address, uint32_t data, uint32_t me = 0, uint32_t pipe = 0) {
        token(64, {{0, 2}, {5, pipe}, {7, 1 - me}, {15, 1}, {16, address}, {32, data}});
    }
    void compute_reg(uint32_t address, uint32_t data, uint32_t me = 0, uint32_t pipe = 0) {
        token(48, {{0, 5}, {5, pipe}, {7, 1 - me}, {9, address}, {16, data}});
    }
    void wave_start(Place at, uint32_t work_items = 64, uint32_t group = 0) {
        token(32, {{0, 3},
                   {6, at.cu},
                   {10, at.slot},
                   {14, at.simd},
                   {16, at.pipe},
                   {18, at.me},
                   {22, work_items},
                   {29, group}});
    }
    void wave_end(Place at) { token(16, {{0, 6}, {6, at.cu}, {10, at.slot}, {14, at.simd}}); }
    void instruction(Place at, uint32_t type, uint32_t delta = 0) {
        token(16, {{0, 10}, {4, delta}, {5, at.slot}, {9, at.simd}, {11, type}});
    }
    void new_pc(Place at, uint64_t address) { token(64, {{0, 11}, {5, at.slot}, {9, at.simd}, {16, address >> 2}}); }
    void shader_data(Place at, uint32_t value) {
        token(48, {{0, 12}, {6, at.cu}, {10, at.slot}, {14, at.simd}, {16, value}});
    }
    void issue(uint32_t simd, uint32_t slot, uint32_t state, uint32_t delta = 0) {
        token(32, {{0, 13}, {4, delta}, {5, simd}, {8 + 2 * slot, state}});
    }
    void counters(uint32_t cu, uint32_t bank, uint32_t value) {
        token(64, {{0, 14}, {6, cu}, {10, bank}, {12, value}, {25, value + 1}});
    }
};

// Versions 1, 2 gfx10; 3 gfx11; 4 gfx12; 5 gfx1250.
class RdnaWriter : public BitWriter {
  public:
    RdnaWriter(uint32_t version, uint32_t target_simd, uint32_t target_wgp, uint64_t switches = 0) : version_(version) {
        token(64, {{0, 0x11}, {7, version}, {13, target_simd}, {15, target_wgp}, {32, switches >> 32}});
    }
    uint32_t version() const { return version_; }

    // How a trace ends: it is switched off, and a block is empty.
    void stop() {
        reg(0x1E, 0, true);
        event(0x37);
        zeros(32);
        fill_block(0);
    }

    void time(uint32_t cycles) {  // 4..19, on gfx1250 1..16
        if (version_ == 5) {
            token(8, {{0, 0xE}, {4, cycles - 1}});
        } else {
            token(8, {{0, 8}, {4, cycles - 4}});
        }
    }
    void advance(uint64_t cycles, bool lost = false) {  // the long way
        if (version_ <= 2) token(64, {{0, 1}, {14, 1}, {16, cycles}});
        if (version_ == 3) token(48, {{0, 1}, {8, lost}, {12, cycles}});
        if (version_ >= 4) token(64, {{0, 1}, {8, lost}, {12, cycles}});
    }
    void realtime(uint64_t ticks) {
        if (version_ <= 2) token(64, {{0, 1}, {14, 2}, {16, ticks}});
        if (version_ == 3) token(48, {{0, 1}, {9, 1}, {12, ticks}});
        if (version_ >= 4) token(64, {{0, 1}, {7, 1}, {12, ticks}});
    }
    void reg(uint32_t address, uint32_t data, bool compute, uint32_t me = 0, uint32_t pipe = 0, uint32_t delta = 0) {
        token(64, {{0, 9}, {4, delta}, {7, pipe}, {9, me}, {15, compute}, {16, address}, {32, data}});
    }
    void dispatch(uint32_t me = 0, uint32_t pipe = 0) {
        token(64, {{0, 0x71}, {14, pipe}, {16, me}, {18, 2}, {20, 1}});
    }
    void event(uint32_t id) { token(24, {{0, 0x61}, {18, id}}); }
    void misc(uint32_t bit, uint32_t delta = 0) {  // bit 0 loss or sample, 3 save context, ...
        token(24, {{0, 0x51}, {7, delta}, {version_ == 5 ? 10 + bit : 16 + bit, 1}});
    }
    void wave_start(Place at, uint32_t delta = 0, uint32_t count = 0) {
        if (version_ <= 3) {
            token(32, {{0, 0xC},
                       {5, delta},
                       {8, at.simd},
                       {10, at.cu},
                       {13, at.slot},
                       {21, at.pipe},
                       {23, at.me},
                       {25, count}});
        } else {
            token(32, {{0, 0xC},
                       {5, delta},
                       {8, at.simd},
                       {10, at.cu},
                       {15, at.slot},
                       {20, at.pipe},
                       {22, at.me},
                       {25, count}});
        }
    }
    void wave_end(Place at, uint32_t delta = 0) {
        if (version_ == 5) {
            token(24, {{0, 0x41}, {7, delta}, {11, at.simd}, {13, at.cu}, {17, at.slot}});
        } else {
            token(20, {{0, 0x15}, {5, delta}, {9, at.simd}, {11, at.cu}, {15, at.slot}});
        }
    }
    void instruction(Place at, uint32_t op, uint32_t delta = 0) {
        if (version_ <= 3) token(20, {{0, 2}, {4, delta}, {8, at.slot}, {13, op}});
        if (version_ == 4) token(20, {{0, 2}, {3, delta}, {7, at.slot}, {12, op}});
        if (version_ == 5) token(24, {{0, 2}, {4, delta}, {7, at.slot}, {12, op}});
    }
    void valu(Place at, uint32_t delta = 1) {  // gfx1250 has only a guess at the wave: its long form is op 10
        if (version_ == 5) {
            instruction(at, 10, delta & 3);
        } else {
            token(12, {{0, 3}, {3, delta}, {7, at.slot}});
        }
    }
    void short_valu(uint32_t index) { token(8, {{0, 3}, {4, index}}); }  // gfx1250
    void immediate_one(Place at, uint32_t delta = 0) {
        if (version_ == 5) {
            token(16, {{0, 0xD}, {7, delta}, {10, at.slot}});
        } else {
            token(12, {{0, 0xD}, {4, delta}, {7, at.slot}});
        }
    }
    void immediate(uint32_t mask, uint32_t delta = 0) { token(24, {{0, 4}, {5, delta}, {8, mask}}); }
    void ready(uint32_t mask, uint32_t delta = 0) { token(24, {{0, 0x14}, {5, delta}, {8, mask}}); }
    void new_pc(Place at, uint64_t address) {
        if (version_ <= 3) {
            token(64, {{0, 0x21}, {11, at.slot}, {16, address >> 2}});
        } else {
            token(72, {{0, 0x21}, {11, at.slot}, {16, address >> 2}});
        }
    }
    void shader_data(Place at, uint32_t value) {
        if (version_ <= 3) {
            token(52, {{0, 6}, {9, at.simd}, {11, at.cu}, {15, at.slot}, {20, value}});
        } else {
            token(56, {{0, 6}, {11, at.simd}, {13, at.cu}, {17, at.slot}, {22, value}});
        }
    }

  private:
    uint32_t version_;
};

// Registers and the instrumentation stream, for either writer.
inline void write_compute(Gfx9Writer& out, uint32_t address, uint32_t data, uint32_t me = 0, uint32_t pipe = 0) {
    out.compute_reg(address, data, me, pipe);
}
inline void write_compute(RdnaWriter& out, uint32_t address, uint32_t data, uint32_t me = 0, uint32_t pipe = 0) {
    out.reg(address, data, true, me, pipe);
}
inline void write_userdata2(Gfx9Writer& out, uint32_t word) {
    out.reg(kUserData2, word);
}
inline void write_userdata2(RdnaWriter& out, uint32_t word) {
    out.reg(kUserData2, word, false);
}

struct CodeObject {
    uint64_t id = 1;
    uint64_t address = 0;
    uint64_t size = 0;
};

constexpr uint32_t kUnload = 1, kFromStart = 2;

template <class Writer>
void write_code_object(Writer& out, const CodeObject& object, uint32_t tail) {
    const std::pair<uint32_t, uint64_t> words[] = {
        {5, object.id},   {6, object.id >> 32},   {2, object.address}, {3, object.address >> 32},
        {1, object.size}, {4, object.size >> 32}, {0, tail},
    };
    for (const auto& [type, word] : words) {
        write_userdata2(out, code_object_word(type));
        write_userdata2(out, static_cast<uint32_t>(word));
    }
}

}  // namespace wavewright::testing

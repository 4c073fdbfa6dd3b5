#include "recipe.hpp"

#include "sample.hpp"
#include "stream.hpp"

namespace wavewright::fuzz {
namespace {

using testing::Gfx9Writer;
using testing::Place;
using testing::RdnaWriter;

class Recipe {
  public:
    explicit Recipe(Bytes bytes) : bytes_(bytes) {}
    bool done() const { return at_ >= bytes_.size(); }
    uint32_t byte() { return done() ? 0 : bytes_[at_++]; }

  private:
    Bytes bytes_;
    size_t at_ = 0;
};

constexpr uint64_t kSwitches = uint64_t{1} << 43 | uint64_t{1} << 59;  // double buffer, barrier waits excluded

// Mostly the target, in a few slots.
Place place_of(uint32_t a) {
    return {.cu = a & 0x80 ? kTargetCu + 1 : kTargetCu, .simd = a & 0x40 ? 0 : kTargetSimd, .slot = a & 7};
}

template <class Writer>
void instrument(Writer& out, uint32_t a, uint32_t b) {
    const testing::CodeObject objects[] = {
        {kCodeObject, kCodeAddress, kCodeSize},
        {2, kCodeAddress + 0x8000, 0x8000},
        {3, 0x80000, 0},
        {0, 0x90000, 0x100},
        {uint64_t{1} << 40, ~uint64_t{0} - 16, ~uint64_t{0}},
    };
    switch (a % 4) {
        case 0: testing::write_userdata2(out, testing::kEnable); break;
        case 1: testing::write_userdata2(out, testing::agent_word(b & 1, b)); break;
        case 2: testing::write_userdata2(out, a << 8 | b); break;
        default: testing::write_code_object(out, objects[b % 5], b >> 5);
    }
}

template <class Writer>
void compute(Writer& out, uint32_t a, uint32_t b) {
    if (a & 1) {
        testing::write_compute(out, testing::kProgramLow, static_cast<uint32_t>(kCodeAddress >> 8) + (b & 3));
    } else {
        testing::write_compute(out, a & 0x3F, b);
    }
}

void step(Gfx9Writer& out, uint32_t kind, uint32_t a, uint32_t b) {
    const Place at = place_of(a);
    switch (kind % 14) {
        case 0: out.wave_start(at, b & 0x7F, b & 7); break;
        case 1: out.wave_end(at); break;
        case 2: out.issue(at.simd, at.slot, 1 + b % 3, b >> 7); break;
        case 3: out.instruction(at, b & 31, b >> 7); break;
        case 4: out.misc(a & 7, b); break;
        case 5: out.timestamp(uint64_t{a} << 8 | b); break;
        case 6: out.new_pc(at, kCodeAddress + b * 4); break;
        case 7: out.shader_data(at, b); break;
        case 8: out.counters(a & 15, a >> 4 & 3, b); break;
        case 9: instrument(out, a, b); break;
        case 10: compute(out, a, b); break;
        case 11: out.reg(testing::kUserData3, a & 1 ? b : 5 | (b & 3) << 12); break;
        case 12:  // a whole instruction
            out.issue(at.simd, at.slot, Gfx9Writer::inst);
            out.misc(Gfx9Writer::time, b >> 5);
            out.instruction(at, b & 31);
            break;
        default: out.token(16, {{0, a}, {8, b}});
    }
}

void step(RdnaWriter& out, uint32_t kind, uint32_t a, uint32_t b) {
    const Place at = place_of(a);
    switch (kind % 16) {
        case 0: out.wave_start(at, b & 3, b & 0x80 ? 64 + (b & 31) : 0); break;
        case 1: out.wave_end(at, b & 7); break;
        case 2: out.instruction(at, out.version() <= 3 ? b & 0x7F : b, a >> 4 & 3); break;
        case 3: out.valu(at, b & 7); break;
        case 4: out.immediate_one(at, b & 7); break;
        case 5: out.immediate(a << 8 | b, b & 7); break;
        case 6: out.ready(a << 8 | b, b & 7); break;
        case 7: out.new_pc(at, kCodeAddress + b * 4); break;
        case 8: out.shader_data(at, b); break;
        case 9: out.misc(a & 7, b & 7); break;
        case 10: out.event(b & 0x3F); break;
        case 11:
            if (a & 1) {
                out.time(4 + (b & 7));
            } else if (a & 2) {
                out.realtime(b);
            } else {
                out.advance(b, (a & 4) != 0);
            }
            break;
        case 12: instrument(out, a, b); break;
        case 13:
            if (a & 0x40) {
                out.dispatch(b & 1, b >> 1 & 3);
            } else {
                compute(out, a, b);
            }
            break;
        case 14: out.short_valu(b & 15); break;
        default: out.token(out.version() == 5 ? 8 : 4, {{0, b}});
    }
}

template <class Writer>
std::vector<uint8_t> written(Writer& out, const Control& control, Bytes bytes) {
    if (control.loaded) {
        testing::write_userdata2(out, testing::kEnable);
        testing::write_code_object(out, {kCodeObject, kCodeAddress, kCodeSize}, testing::kFromStart);
    }
    testing::write_compute(out, testing::kProgramLow, kCodeAddress >> 8);
    Recipe recipe(bytes);
    while (!recipe.done()) {
        const uint32_t kind = recipe.byte(), a = recipe.byte(), b = recipe.byte();
        step(out, kind, a, b);
    }
    out.zeros(32);
    return out.bytes();
}

}  // namespace

std::vector<uint8_t> stream_of(const Control& control, Bytes recipe) {
    const uint32_t version = testing::kFamilies[control.family].version;
    if (version == 0) {
        Gfx9Writer out(kTargetCu);
        return written(out, control, recipe);
    }
    RdnaWriter out(version, kTargetSimd, kTargetCu, control.switches ? kSwitches : 0);
    return written(out, control, recipe);
}

std::vector<uint8_t> raw_stream_of(const Control& control, Bytes body) {
    const uint32_t version = testing::kFamilies[control.family].version;
    std::vector<uint8_t> stream =
        version == 0 ? Gfx9Writer(kTargetCu).bytes()
                     : RdnaWriter(version, kTargetSimd, kTargetCu, control.switches ? kSwitches : 0).bytes();
    stream.insert(stream.end(), body.begin(), body.end());
    return stream;
}

}  // namespace wavewright::fuzz

#include "sample.hpp"

#include <algorithm>

#include "stream.hpp"

namespace wavewright::testing {
namespace {

enum class Kind : uint8_t { smem, valu, silent, wait, barrier, signal, vmem, lds, salu, branch, end };

struct Step {
    Kind kind;
    uint32_t size;
    const char* text;
};

constexpr Step kGfx9[] = {
    {Kind::smem, 8, "s_load_dwordx2 s[0:1], s[2:3], 0x0"},
    {Kind::valu, 4, "v_add_f32_e32 v0, v1, v2"},
    {Kind::wait, 4, "s_waitcnt lgkmcnt(0)"},
    {Kind::barrier, 4, "s_barrier"},
    {Kind::vmem, 8, "global_load_dword v3, v[1:2], off"},
    {Kind::lds, 8, "ds_write_b32 v0, v3"},
    {Kind::salu, 4, "s_add_u32 s4, s4, 1"},
    {Kind::branch, 4, "s_cbranch_scc1 "},
    {Kind::end, 4, "s_endpgm"},
};
constexpr Step kGfx10And11[] = {
    {Kind::smem, 8, "s_load_b64 s[0:1], s[2:3], 0x0"},
    {Kind::valu, 4, "v_add_f32_e32 v0, v1, v2"},
    {Kind::silent, 4, "s_delay_alu instid0(VALU_DEP_1)"},
    {Kind::wait, 4, "s_waitcnt lgkmcnt(0)"},
    {Kind::barrier, 4, "s_barrier"},
    {Kind::vmem, 8, "global_load_b32 v3, v[1:2], off"},
    {Kind::lds, 8, "ds_store_b32 v0, v3"},
    {Kind::salu, 4, "s_add_i32 s4, s4, 1"},
    {Kind::branch, 4, "s_cbranch_scc1 "},
    {Kind::end, 4, "s_endpgm"},
};
constexpr Step kGfx12[] = {
    {Kind::smem, 8, "s_load_b64 s[0:1], s[2:3], 0x0"},
    {Kind::valu, 4, "v_add_f32_e32 v0, v1, v2"},
    {Kind::silent, 4, "s_wait_alu 0xfffe"},
    {Kind::wait, 4, "s_wait_kmcnt 0x0"},
    {Kind::signal, 4, "s_barrier_signal -1"},
    {Kind::barrier, 4, "s_barrier_wait 0xffff"},
    {Kind::vmem, 8, "global_load_b32 v3, v[1:2], off"},
    {Kind::lds, 8, "ds_store_b32 v0, v3"},
    {Kind::salu, 4, "s_add_co_i32 s4, s4, 1"},
    {Kind::branch, 4, "s_cbranch_scc1 "},
    {Kind::end, 4, "s_endpgm"},
};
constexpr size_t kLoopStart = 1;  // in each table

std::span<const Step> steps_of(const Family& family) {
    if (family.version == 0) return kGfx9;
    return family.version <= 3 ? std::span<const Step>(kGfx10And11) : kGfx12;
}

std::string listing_of(std::span<const Step> steps) {
    std::string tsv;
    int64_t address = 0, loop_start = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
        if (i == kLoopStart) loop_start = address;
        std::string text = steps[i].text;
        if (steps[i].kind == Kind::branch) text += std::to_string(((loop_start - address - 4) / 4) & 0xFFFF);
        tsv += std::to_string(address) + "\t" + std::to_string(steps[i].size) + "\t" + text + "\n";
        address += steps[i].size;
    }
    return tsv;
}

// The order in which a wave runs the steps.
std::vector<size_t> path_of(std::span<const Step> steps, uint32_t iterations) {
    std::vector<size_t> path;
    for (size_t i = 0; i < kLoopStart; ++i) path.push_back(i);
    for (uint32_t turn = 0; turn < iterations; ++turn) {
        for (size_t i = kLoopStart; i + 1 < steps.size(); ++i) path.push_back(i);
    }
    path.push_back(steps.size() - 1);
    return path;
}

constexpr uint32_t kTargetCu = 2, kTargetSimd = 1;
constexpr CodeObject kKernel{1, 0x7F0000010000, 0x1000}, kOther{9, 0x7F0000020000, 0x1000};
constexpr uint32_t kMarkerEnter = 5 << 2 | 2, kMarkerLeave = 1;

void leave_tokens(Gfx9Writer& out, Place at, Kind kind, bool again) {
    const auto traced = [&](uint32_t type) {
        out.issue(at.simd, at.slot, Gfx9Writer::inst);
        out.misc(Gfx9Writer::time, 2);
        out.instruction(at, type, 1);
    };
    switch (kind) {
        case Kind::smem: traced(Gfx9Writer::smem); break;
        case Kind::valu:
            out.issue(at.simd, at.slot, Gfx9Writer::stall);
            out.misc(Gfx9Writer::time, 3);
            traced(Gfx9Writer::valu);
            break;
        case Kind::barrier: traced(Gfx9Writer::message); [[fallthrough]];
        case Kind::wait:
            out.misc(Gfx9Writer::time, 9);
            out.issue(at.simd, at.slot, Gfx9Writer::immed);
            break;
        case Kind::vmem: traced(Gfx9Writer::flat); break;
        case Kind::lds: traced(Gfx9Writer::lds); break;
        case Kind::salu: traced(Gfx9Writer::salu); break;
        case Kind::branch: traced(again ? Gfx9Writer::jump : Gfx9Writer::next); break;
        case Kind::end: traced(Gfx9Writer::message); break;
        case Kind::signal:
        case Kind::silent: break;
    }
    out.misc(Gfx9Writer::time, 2);
}

void leave_tokens(RdnaWriter& out, Place at, Kind kind, bool again) {
    switch (kind) {
        case Kind::smem: out.instruction(at, 1, 1); break;
        case Kind::valu:
            out.ready(1U << at.slot, 3);
            out.valu(at, 2);
            break;
        case Kind::wait: out.immediate_one(at, 5); break;
        case Kind::barrier: out.instruction(at, 19, 2); break;
        case Kind::signal: out.instruction(at, 122, 1); break;
        case Kind::vmem: out.instruction(at, 35, 1); break;
        case Kind::lds: out.instruction(at, 42, 1); break;
        case Kind::salu: out.instruction(at, 0, 1); break;
        case Kind::branch: out.instruction(at, again ? 3 : 4, 1); break;
        case Kind::silent:
        case Kind::end: break;  // no tokens of their own
    }
    out.time(9);
}

void aside(Gfx9Writer& out, uint32_t turn) {
    switch (turn % 6) {
        case 0: out.counters(turn % 16, turn % 2, turn); break;
        case 1: out.shader_data({kTargetCu, kTargetSimd, turn % 4}, kMarkerEnter); break;
        case 2: out.shader_data({kTargetCu, kTargetSimd, turn % 4}, kMarkerLeave); break;
        case 3:
            out.misc(Gfx9Writer::time_reset, 255);
            out.misc(Gfx9Writer::time, 1);
            out.timestamp(0x1000000 + uint64_t{turn} * 4096);
            break;
        case 4: out.misc(Gfx9Writer::stall_begin); break;
        default:
            for (const uint32_t word : {5U, turn, 1U, turn + 3}) out.reg(kUserData3, word);
    }
}

void aside(RdnaWriter& out, uint32_t turn) {
    switch (turn % 6) {
        case 0: out.event(7); break;
        case 1: out.shader_data({kTargetCu, kTargetSimd, turn % 4}, kMarkerEnter); break;
        case 2: out.shader_data({kTargetCu, kTargetSimd, turn % 4}, kMarkerLeave); break;
        case 3: out.realtime(0x100000 + turn * 64); break;
        case 4: out.advance(1000); break;
        default: out.dispatch(0, 0);
    }
}

// Announces the kernel's code object, then another that is unloaded again.
template <class Writer>
void prologue(Writer& out) {
    write_userdata2(out, kEnable);
    write_userdata2(out, agent_word(0, 100'000));
    write_userdata2(out, agent_word(1, 640));
    write_code_object(out, kKernel, kFromStart);
    write_code_object(out, kOther, 0);
    write_code_object(out, kOther, kUnload);
    write_compute(out, kNumThreadX, 64);
    write_compute(out, kRsrc1, 0x2C0041);
    write_compute(out, kRsrc2, 0x8090);
    write_compute(out, kProgramLow, static_cast<uint32_t>(kKernel.address >> 8));
    write_compute(out, kProgramHigh, static_cast<uint32_t>(kKernel.address >> 40));
}

template <class Writer>
void pause(Writer& out) {
    if constexpr (std::is_same_v<Writer, Gfx9Writer>) {
        out.misc(Gfx9Writer::time, 5);
    } else {
        out.time(12);
    }
}

// Four waves at a time, their steps interleaved.
template <class Writer>
void run(Writer& out, std::span<const Step> steps, const Shape& shape) {
    constexpr uint32_t kAtOnce = 4;
    const std::vector<size_t> path = path_of(steps, shape.iterations);
    uint32_t turn = 0;
    for (uint32_t first = 0; first < shape.waves; first += kAtOnce) {
        const uint32_t count = std::min(kAtOnce, shape.waves - first);
        for (uint32_t w = 0; w < count; ++w) {
            out.wave_start({kTargetCu, kTargetSimd, w});
            out.wave_start({kTargetCu + 1, kTargetSimd, w});
        }
        pause(out);
        size_t branches = 0;
        for (const size_t step : path) {
            const bool last_turn = steps[step].kind == Kind::branch && ++branches == shape.iterations;
            for (uint32_t w = 0; w < count; ++w) {
                leave_tokens(out, {kTargetCu, kTargetSimd, w}, steps[step].kind, !last_turn);
            }
            aside(out, turn++);
        }
        pause(out);
        for (uint32_t w = 0; w < count; ++w) {
            out.wave_end({kTargetCu, kTargetSimd, w});
            out.wave_end({kTargetCu + 1, kTargetSimd, w});
        }
    }
}

}  // namespace

Sample sample(const Family& family, const Shape& shape) {
    const std::span<const Step> steps = steps_of(family);
    Sample made;
    made.listing = listing_of(steps);
    made.funcmap = "F:5:outer@a.hip:3\nU:6:inner\nP:7:point\nK:kernel@a.hip:1\nR:7:extra_payload_count=2\nW:64\n";
    for (const size_t step : path_of(steps, shape.iterations)) {
        const Kind kind = steps[step].kind;
        const bool twice = kind == Kind::barrier && family.version == 0;
        made.instructions_per_wave += kind == Kind::silent ? 0 : twice ? 2 : 1;
    }
    if (family.version == 0) {
        Gfx9Writer out(kTargetCu);
        prologue(out);
        run(out, steps, shape);
        for (const uint32_t word : {5U, 1000U, 1U, 1003U}) out.reg(kUserData3, word);  // the clocks once more
        out.stop();
        made.stream = out.bytes();
    } else {
        RdnaWriter out(family.version, kTargetSimd, kTargetCu);
        prologue(out);
        run(out, steps, shape);
        out.stop();
        made.stream = out.bytes();
    }
    return made;
}

}  // namespace wavewright::testing

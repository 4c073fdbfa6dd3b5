// The test vectors of spec_rdna section 19 and further hand-made streams.
#include <algorithm>

#include "check.hpp"
#include "rows.hpp"
#include "stream.hpp"
#include "wavewright/decode.hpp"

namespace wavewright {
namespace {

using testing::Event;
using testing::Instruction;
using testing::Occupancy;
using testing::Place;
using testing::RdnaWriter;
using testing::State;

constexpr Place kWave{.cu = 2, .simd = 1, .slot = 3, .me = 1, .pipe = 1};

constexpr std::string_view kListing =
    "0x1000\t8\ts_load_b64 s[0:1], s[2:3], 0x0\n"
    "0x1008\t4\tv_add_f32_e32 v0, v1, v2\n"
    "0x100C\t4\ts_delay_alu instid0(VALU_DEP_1)\n"
    "0x1010\t4\tv_mul_f32_e32 v0, v0, v2\n"
    "0x1014\t4\ts_wait_kmcnt 0x0\n"
    "0x1018\t4\ts_barrier\n"
    "0x101C\t8\tglobal_store_b32 v[1:2], v0, off\n"
    "0x1024\t4\ts_cbranch_scc1 65528\n"
    "0x1028\t4\ts_endpgm\n"
    "0x102C\t4\ts_code_end\n";

Program program_of(std::string_view listing) {
    Program program;
    program.add_listing(0, {}, listing);
    program.link();
    return program;
}

const std::vector<uint8_t> kGfx11 = {0x91, 0x21, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0xa9, 0x82, 0x0c, 0x00, 0x10,
                                     0x00, 0x00, 0x00, 0x01, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x01, 0x62, 0x45, 0x23,
                                     0x01, 0x00, 0x2c, 0x69, 0xa0, 0x00, 0x68, 0x12, 0x23, 0x40, 0x85, 0x00, 0x30,
                                     0x1a, 0x8b, 0xd1, 0x1f, 0x22, 0x63, 0x82, 0x2f, 0x31, 0x48, 0x12, 0x63, 0x20,
                                     0x32, 0xb4, 0x64, 0x08, 0x00, 0xb5, 0x92, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
                                     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
const std::vector<uint8_t> kGfx12 = {0x11, 0x22, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0xa9, 0x82, 0x0c, 0x00, 0x10, 0x00,
                                     0x00, 0x00, 0x01, 0x80, 0x3e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x81, 0x60, 0x45, 0x23,
                                     0x01, 0x00, 0x00, 0x00, 0x2c, 0x89, 0x51, 0x00, 0x68, 0x8a, 0x11, 0x40, 0x85, 0x00,
                                     0x30, 0x1a, 0x8b, 0xd1, 0x1f, 0x92, 0x31, 0x81, 0xaf, 0x18, 0x24, 0x8a, 0x31, 0x20,
                                     0x19, 0xbe, 0x64, 0x08, 0x00, 0xb5, 0x92, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                     0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

// The tokens of section 19, written by our own writer.
std::vector<uint8_t> section_19(uint32_t version, uint32_t other_simd_op) {
    RdnaWriter out(version, kWave.simd, kWave.cu);
    out.reg(testing::kProgramLow, 0x10, true, kWave.me, kWave.pipe, 2);
    out.advance(1000);
    out.realtime(0x123456);
    out.wave_start(kWave, 1);
    out.time(10);
    out.instruction(kWave, 1, 1);
    out.ready(1U << kWave.slot, 2);
    out.valu(kWave, 4);
    out.valu(kWave, 1);
    out.immediate_one(kWave, 7);
    out.instruction(kWave, 19, 2);
    out.time(19);
    out.instruction(kWave, 36, 1);
    out.instruction(kWave, 3, 1);
    out.instruction(kWave, other_simd_op, 2);
    out.immediate(1U << kWave.slot, 3);
    out.wave_end(kWave, 5);
    out.zeros(16);
    return out.bytes();
}

void check_common(const Records& records) {
    CHECK_EQUAL(records.status, Status::ok);
    CHECK_EQUAL(testing::occupancy_of(records),
                std::vector<Occupancy>{{1003, 2, 1, 3, true, 0x1000}, {1061, 2, 1, 3, false, 0x1000}});
    REQUIRE(records.occupancy.cu.size() == 2 && records.realtime.realtime_ticks.size() == 1 &&
            records.other_simd.cu.size() == 1 && records.waves.cu.size() == 1);
    CHECK_EQUAL(records.occupancy.me[0], 1);
    CHECK_EQUAL(records.occupancy.pipe[0], 1);
    CHECK_EQUAL(records.realtime.shader_clock_cycles[0], 1002);
    CHECK_EQUAL(records.realtime.realtime_ticks[0], 1193046U);
    CHECK_EQUAL(records.other_simd.time_cycles[0], 1053);
    CHECK_EQUAL(records.other_simd.cu[0], 2);
    CHECK_EQUAL(records.other_simd.category[0], static_cast<uint8_t>(Category::vmem));
    CHECK_EQUAL(records.waves.start_cycles[0], 1003);
    CHECK_EQUAL(records.waves.end_cycles[0], 1061);
    CHECK_EQUAL(records.waves.me[0], 1);
    CHECK_EQUAL(records.waves.pipe[0], 1);
    CHECK_EQUAL(records.waves.entry_address[0], 0x1000U);
    CHECK_EQUAL(records.target_cu, 2);
    CHECK_EQUAL(records.target_simd, 1);
}

using enum Category;
using enum WaveState;

TEST(rdna, the_gfx11_vector_of_the_specification) {
    const Records records = decode(kGfx11, program_of(kListing));
    check_common(records);
    CHECK_EQUAL(records.gfxip, 11U);
    REQUIRE(records.other_simd.cu.size() == 1);
    CHECK_EQUAL(records.other_simd.duration_cycles[0], 1);
    CHECK_EQUAL(
        testing::states_of(records),
        std::vector<State>{{idle, 11}, {exec, 1}, {stall, 5}, {exec, 2}, {wait, 29}, {exec, 1}, {wait, 5}, {exec, 4}});
    CHECK_EQUAL(testing::instructions_of(records), std::vector<Instruction>{{1014, smem, 1, 0, 0},
                                                                            {1015, valu, 6, 5, 1},
                                                                            {1021, valu, 1, 0, 3},
                                                                            {1022, immed, 7, 6, 4},
                                                                            {1029, message, 21, 1, 5},
                                                                            {1050, vmem, 2, 0, 6},
                                                                            {1051, jump, 1, 0, 7},
                                                                            {1052, immed, 5, 4, 1},
                                                                            {1057, message, 4, 0, 4}});
}

TEST(rdna, the_gfx12_vector_of_the_specification) {
    const Records records = decode(kGfx12, program_of(kListing));
    check_common(records);
    CHECK_EQUAL(records.gfxip, 12U);
    REQUIRE(records.other_simd.cu.size() == 1);
    CHECK_EQUAL(records.other_simd.duration_cycles[0], 3);
    CHECK_EQUAL(
        testing::states_of(records),
        std::vector<State>{{idle, 11}, {exec, 2}, {stall, 4}, {exec, 2}, {wait, 9}, {exec, 21}, {wait, 5}, {exec, 4}});
    CHECK_EQUAL(testing::instructions_of(records), std::vector<Instruction>{{1014, smem, 1, 0, 0},
                                                                            {1016, valu, 5, 4, 1},
                                                                            {1021, valu, 1, 0, 3},
                                                                            {1022, immed, 7, 6, 4},
                                                                            {1029, immed, 2, 1, 5},
                                                                            {1050, vmem, 2, 0, 6},
                                                                            {1051, jump, 1, 0, 7},
                                                                            {1052, immed, 5, 4, 1},
                                                                            {1057, message, 4, 0, 4}});
}

TEST(rdna, our_writer_writes_the_vectors_of_the_specification) {
    constexpr ptrdiff_t kTokenBytes11 = 60, kTokenBytes12 = 64;  // zeros behind them
    const std::vector<uint8_t> gfx11 = section_19(3, 90), gfx12 = section_19(4, 190);
    CHECK(std::equal(gfx11.begin(), gfx11.begin() + kTokenBytes11, kGfx11.begin()));
    CHECK(std::equal(gfx12.begin(), gfx12.begin() + kTokenBytes12, kGfx12.begin()));
}

TEST(rdna, the_same_tokens_on_gfx10_have_their_own_cycles) {
    for (const uint32_t version : {1U, 2U}) {
        const Records records = decode(section_19(version, 20), program_of(kListing));
        CHECK_EQUAL(records.gfxip, 10U);
        CHECK_EQUAL(records.stream_version, version);
        CHECK_EQUAL(testing::occupancy_of(records),
                    std::vector<Occupancy>{{1003, 2, 1, 3, true, 0x1000}, {1061, 2, 1, 3, false, 0x1000}});
        const std::vector<Instruction> rows = testing::instructions_of(records);
        REQUIRE(rows.size() == 9);
        CHECK_EQUAL(rows[4], Instruction{1029, message, 21, 1, 5});
        CHECK_EQUAL(rows[5], Instruction{1050, vmem, 1, 0, 6});  // op 36 takes 1 cycle here, 2 from gfx11 on
        CHECK(records.other_simd.cu.empty());
    }
}

TEST(rdna, gfx1250_names_the_wave_of_a_short_valu_by_recency) {
    RdnaWriter out(5, kWave.simd, kWave.cu);
    const Place first{.cu = 2, .simd = 1, .slot = 3}, second{.cu = 2, .simd = 1, .slot = 4};
    out.wave_start(first);
    out.wave_start(second);
    out.instruction(first, 10);
    out.instruction(second, 10);
    out.short_valu(4);  // position 1: the first wave, one cycle later
    out.short_valu(0);  // position 0: the first wave again
    out.wave_end(first, 5);
    out.wave_end(second);
    out.zeros(32);
    const Records records = decode(out.bytes(), Program());
    REQUIRE(records.waves.cu.size() == 2 && records.instructions.row.size() == 6);
    CHECK_EQUAL(records.waves.slot[0], 3);
    CHECK_EQUAL(records.waves.instruction_count[0], 4U);  // with the end of the program
    CHECK_EQUAL(records.waves.instruction_count[1], 2U);
    CHECK_EQUAL(records.instructions.time_cycles[1], 1);
    CHECK_EQUAL(records.instructions.time_cycles[2], 2);
}

TEST(rdna, packet_loss_is_an_event_an_info_and_a_loss) {
    for (uint32_t version = 1; version <= 5; ++version) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        if (version <= 2) {
            out.misc(0);
        } else {
            out.advance(100, true);
        }
        out.event(0x07);
        out.event(0x07);
        out.zeros(32);
        const Records records = decode(out.bytes(), Program());
        CHECK_EQUAL(records.info.code.size(), 1U);
        CHECK(testing::has_loss(records, Loss::packet_loss));
        size_t losses = 0;
        for (const Event& event : testing::events_of(records)) losses += event.type == EventType::packet_loss;
        CHECK_EQUAL(losses, 1U);
    }
}

TEST(rdna, an_end_without_a_start_gets_a_start_at_time_0) {
    for (uint32_t version = 1; version <= 5; ++version) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        out.wave_start({.cu = 1, .simd = 0, .slot = 1}, 1);
        out.wave_end({.cu = 1, .simd = 2, .slot = 5}, 4);
        out.zeros(32);
        const Records records = decode(out.bytes(), Program());
        CHECK_EQUAL(testing::occupancy_of(records),
                    std::vector<Occupancy>{{0, 1, 2, 5, true, 0}, {1, 1, 0, 1, true, 0}, {5, 1, 2, 5, false, 0}});
    }
}

TEST(rdna, context_save_and_restore) {
    for (uint32_t version = 1; version <= 5; ++version) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        out.wave_start(kWave, 1);
        out.instruction(kWave, 0, 1);
        out.wave_start(kWave, 3, 66);  // save
        out.time(16);
        out.wave_start(kWave, 0, 68);  // restore
        out.wave_end(kWave, 4);
        out.zeros(32);
        const Records records = decode(out.bytes(), Program());
        REQUIRE(records.waves.cu.size() == 1 && records.instructions.row.size() >= 2);
        CHECK_EQUAL(records.waves.contexts[0], 2);
        CHECK_EQUAL(records.instructions.category[1], static_cast<uint8_t>(context));
        CHECK_EQUAL(records.instructions.duration_cycles[1], 17);
        CHECK_EQUAL(records.occupancy.cu.size(), 4U);
    }
}

TEST(rdna, unknown_tokens_are_counted) {
    RdnaWriter out(3, kWave.simd, kWave.cu);
    out.token(4, {{0, 7}});
    out.token(4, {{0, 7}});
    out.event(0x07);
    out.zeros(32);
    const Records records = decode(out.bytes(), Program());
    REQUIRE(testing::has_loss(records, Loss::unknown_tokens));
    CHECK_EQUAL(records.losses.count[0], 2U);
    CHECK_EQUAL(records.losses.byte_offset[0], 8U);
    CHECK_EQUAL(records.events.type.size(), 1U);
}

TEST(rdna, execution_tokens_only_take_time) {
    for (uint32_t version = 1; version <= 4; ++version) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        out.token(8, {{0, 0xE}, {4, 2}});
        out.token(8, {{0, 0xF}, {4, 3}});
        out.event(0x07);
        out.stop();
        const Records records = decode(out.bytes(), Program());
        CHECK_EQUAL(testing::events_of(records), std::vector<Event>{{5, EventType::cs_partial_flush}});
        CHECK(records.losses.kind.empty());
    }
}

// Header bit 59: the barrier wait has no token, and its place is cut out of the state around it. States are clamped to
// 32 bits there, where they wrap everywhere else.
TEST(rdna, an_excluded_barrier_wait_in_front_of_a_long_state) {
    RdnaWriter out(4, kWave.simd, kWave.cu, uint64_t{1} << 59);
    out.reg(testing::kProgramLow, 0x10, true, kWave.me, kWave.pipe);
    out.wave_start(kWave, 1);
    out.valu(kWave, 6);
    out.immediate_one(kWave);
    out.instruction(kWave, 9, 1);
    out.instruction(kWave, 19);
    out.advance(uint64_t{1} << 31);
    out.wave_end(kWave);
    out.zeros(16);
    const Records records = decode(out.bytes(), program_of("0x1000\t4\tv_nop\n0x1004\t4\ts_wait_dscnt 0x0\n"
                                                           "0x1008\t4\ts_barrier_signal -1\n"
                                                           "0x100C\t4\ts_barrier_wait 0xffff\n"));
    CHECK_EQUAL(testing::states_of(records),
                std::vector<State>{{idle, 6}, {wait, 2}, {exec, 0}, {wait, -1}, {exec, 2147483647}});
    const std::vector<Instruction> rows = testing::instructions_of(records);
    REQUIRE(rows.size() == 6);
    CHECK_EQUAL(rows[3], Instruction{9, immed, -1, 0, 3});
    CHECK_EQUAL(records.next_instruction(), rows.size());
    CHECK_EQUAL(records.next_state(), records.states.state.size());
}

TEST(rdna, a_start_behind_a_loss_ends_the_wave_that_ran_there) {
    for (const uint32_t version : {4U, 5U}) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        out.wave_start(kWave, 1);
        out.advance(100, true);
        out.wave_start(kWave, 1);
        out.zeros(32);
        const Records records = decode(out.bytes(), Program());
        CHECK_EQUAL(testing::occupancy_of(records),
                    std::vector<Occupancy>{{1, 2, 1, 3, true, 0}, {101, 2, 1, 3, false, 0}, {102, 2, 1, 3, true, 0}});
    }
}

// v3: a WAVE_READY of the next cycle belongs to this one and does not end the wait, so that the loss behind it is the
// waiting start's.
TEST(rdna, a_loss_behind_a_ready_is_reported_by_the_token_before_it) {
    RdnaWriter out(3, kWave.simd, kWave.cu);
    out.wave_start(kWave);
    out.wave_start(kWave, 1);
    out.ready(1, 1);
    out.advance(100, true);
    out.event(0x07);
    out.zeros(64);
    const Records records = decode(out.bytes(), Program());
    CHECK_EQUAL(testing::occupancy_of(records),
                std::vector<Occupancy>{{0, 2, 1, 3, true, 0}, {0, 2, 1, 3, false, 0}, {1, 2, 1, 3, true, 0}});
}

// The fields of all other tokens follow the last HEADER; NEW_PC follows the reader, which a HEADER does not change.
TEST(rdna, a_second_header_leaves_new_pc_alone) {
    for (const auto& [version, second] : {std::pair{2U, 4U}, {4U, 2U}}) {
        RdnaWriter out(version, kWave.simd, kWave.cu);
        out.reg(testing::kProgramLow, 0x10, true, kWave.me, kWave.pipe);
        out.wave_start(kWave, 1);
        out.token(64, {{0, 0x11}, {7, second}, {13, kWave.simd}, {15, kWave.cu}});
        out.new_pc(kWave, 0x1010);
        out.valu(kWave);
        out.zeros(32);
        const Records records = decode(out.bytes(), program_of(kListing));
        REQUIRE(records.instructions.row.size() == 1);
        CHECK_EQUAL(records.instructions.row[0], 3);
    }
}

TEST(rdna, code_object_0_is_not_looked_up_late) {
    RdnaWriter out(3, kWave.simd, kWave.cu);
    out.reg(testing::kProgramLow, 0x10, true);
    out.wave_start({.cu = 2, .simd = 1, .slot = 3}, 1);
    testing::write_userdata2(out, testing::kEnable);
    testing::write_code_object(out, {.id = 0, .address = 0x1000, .size = 0x100}, testing::kFromStart);
    out.zeros(32);
    const Records records = decode(out.bytes(), Program());
    CHECK_EQUAL(testing::occupancy_of(records), std::vector<Occupancy>{{1, 2, 1, 3, true, 0x1000}});
}

// The 8-byte limit counts from the byte read last, be it a token's or a continuation of WAVE_START_EXT.
TEST(rdna, continuation_bytes_near_the_end) {
    RdnaWriter out(5, kWave.simd, kWave.cu);
    out.token(40, {{0, 0x1C}});
    out.token(8, {{0, 0xA7}});
    out.shader_data(kWave, 1);
    CHECK_EQUAL(out.bytes().size(), 21U);
    CHECK(decode(out.bytes(), Program()).shader_data.cu.empty());
    out.zeros(1);
    CHECK_EQUAL(decode(out.bytes(), Program()).shader_data.cu.size(), 1U);
}

TEST(rdna, a_taken_branch_into_nowhere_stops) {
    RdnaWriter out(3, kWave.simd, kWave.cu);
    out.reg(testing::kProgramLow, 0x10, true, kWave.me, kWave.pipe);
    out.wave_start(kWave);
    out.valu(kWave);
    out.instruction(kWave, 3, 1);
    out.wave_end(kWave);
    out.zeros(32);
    const Records records = decode(out.bytes(), program_of("0x1000\t4\tv_nop\n0x1004\t4\ts_branch 1000\n"));
    CHECK_EQUAL(records.status, Status::stopped);
    CHECK(testing::has_loss(records, Loss::branch_target_missing));
}

}  // namespace
}  // namespace wavewright

// Hand-made gfx9 streams; the expected numbers follow spec_gfx9 step by step.
#include "check.hpp"
#include "rows.hpp"
#include "stream.hpp"
#include "wavewright/decode.hpp"

namespace wavewright {
namespace {

using testing::Event;
using testing::Gfx9Writer;
using testing::Instruction;
using testing::Occupancy;
using testing::Place;
using testing::State;

constexpr Place kWave{.cu = 1, .simd = 0, .slot = 2};
constexpr uint32_t kLoadAddress = 0x1000;

constexpr std::string_view kLoop =
    "0\t8\ts_load_dwordx2 s[0:1], s[2:3], 0x0\n"
    "8\t4\tv_add_f32_e32 v0, v1, v2\n"
    "12\t4\ts_waitcnt lgkmcnt(0)\n"
    "16\t4\ts_cbranch_scc1 65533\n"
    "20\t4\ts_endpgm\n";

Program program_of(std::string_view listing) {
    Program program;
    program.add_listing(0, kLoadAddress, listing);
    program.link();
    return program;
}

// A stream whose kernel starts at the load address and whose clock stands at 100 when the wave begins.
struct Trace : Gfx9Writer {
    Trace() : Gfx9Writer(kWave.cu) {
        compute_reg(testing::kProgramLow, kLoadAddress >> 8);
        wait(25);
        wave_start(kWave);
    }
    void wait(uint32_t quads) { misc(time, quads); }
    void issue_wave(uint32_t state) { issue(kWave.simd, kWave.slot, state); }
    void traced(uint32_t type, uint32_t quads) {
        issue_wave(inst);
        wait(quads);
        instruction(kWave, type);
    }
};

// A wave of two loop iterations with a stall and waits.
Trace looping_wave() {
    Trace out;
    out.wait(10);  // 140
    out.traced(Gfx9Writer::smem, 1);
    out.wait(1);
    out.issue_wave(Gfx9Writer::stall);  // 148
    out.wait(3);
    out.traced(Gfx9Writer::valu, 2);  // issued 160, reported 168
    out.wait(8);
    out.issue_wave(Gfx9Writer::immed);  // 200
    out.wait(2);
    out.traced(Gfx9Writer::jump, 1);
    out.wait(1);
    out.traced(Gfx9Writer::valu, 2);  // issued 216
    out.wait(1);
    out.issue_wave(Gfx9Writer::immed);  // 228
    out.wait(2);
    out.traced(Gfx9Writer::next, 1);
    out.wait(1);
    out.traced(Gfx9Writer::message, 1);  // 244
    out.wait(1);
    out.wave_end(kWave);  // 252
    return out;
}

TEST(gfx9, the_worked_example_of_the_specification) {
    Gfx9Writer out(0);
    out.misc(Gfx9Writer::time_reset, 255);  // 1020
    out.misc(3);                            // held back
    out.misc(Gfx9Writer::stall_begin);      // held back
    out.timestamp(0x0245ADF87D53);
    out.misc(Gfx9Writer::time);
    out.misc(Gfx9Writer::time, 1);
    out.misc(Gfx9Writer::stall_end, 1);  // 1024
    out.misc(Gfx9Writer::time_reset, 255);
    out.compute_reg(0x7F, 7);  // behind the reset, in front of its time stamp
    out.timestamp(0x0245ADF8843A);
    const Records records = decode(out.bytes(), Program());
    CHECK_EQUAL(testing::events_of(records), std::vector<Event>{{1016, EventType::trace_stall_begin},
                                                                {1024, EventType::trace_stall_end},
                                                                {2780, EventType::cs_partial_flush}});
}

TEST(gfx9, a_wave_with_its_instructions_states_and_rows) {
    Trace out = looping_wave();
    out.stop();
    const Records records = decode(out.bytes(), program_of(kLoop));
    CHECK_EQUAL(records.status, Status::ok);
    using enum Category;
    CHECK_EQUAL(testing::instructions_of(records), std::vector<Instruction>{{140, smem, 4, 0, 0},
                                                                            {148, valu, 20, 12, 1},
                                                                            {168, immed, 36, 36, 2},
                                                                            {208, jump, 4, 0, 3},
                                                                            {216, valu, 8, 0, 1},
                                                                            {224, immed, 8, 8, 2},
                                                                            {236, next, 4, 0, 3},
                                                                            {244, message, 4, 0, 4}});
    using enum WaveState;
    CHECK_EQUAL(
        testing::states_of(records),
        std::vector<State>{
            {idle, 40}, {exec, 8}, {stall, 12}, {exec, 8}, {wait, 36}, {exec, 20}, {wait, 8}, {exec, 12}, {exec, 12}});
    CHECK_EQUAL(testing::occupancy_of(records),
                std::vector<Occupancy>{{100, 1, 0, 2, true, kLoadAddress}, {252, 1, 0, 2, false, kLoadAddress}});
    REQUIRE(records.waves.cu.size() == 1);
    CHECK_EQUAL(records.waves.start_cycles[0], 100);
    CHECK_EQUAL(records.waves.end_cycles[0], 256);
    CHECK_EQUAL(records.waves.complete[0], 1);
    CHECK_EQUAL(records.waves.workgroup[0], 64);  // the number of work-items, as in the reference
    CHECK_EQUAL(records.target_cu, 1);
    CHECK(records.losses.kind.empty());
}

TEST(gfx9, without_code_everything_but_the_rows) {
    const Records with = decode(looping_wave().bytes(), program_of(kLoop));
    const Records without = decode(looping_wave().bytes(), Program());
    CHECK(testing::states_of(with) == testing::states_of(without));
    CHECK_EQUAL(without.instructions.row.size(), 8U);
    for (const int32_t row : without.instructions.row) CHECK_EQUAL(row, -1);
    CHECK(testing::has_loss(without, Loss::stitch_incomplete));
}

TEST(gfx9, a_barrier_is_two_instructions_on_one_row) {
    Trace out;
    out.traced(Gfx9Writer::valu, 1);
    out.wait(1);
    out.traced(Gfx9Writer::message, 1);
    out.wait(20);
    out.issue_wave(Gfx9Writer::immed);
    out.wait(1);
    out.traced(Gfx9Writer::message, 1);
    out.wave_end(kWave);
    const Records records = decode(out.bytes(), program_of("0\t4\tv_nop\n4\t4\ts_barrier\n8\t4\ts_endpgm\n"));
    CHECK_EQUAL(std::vector<int32_t>(records.instructions.row.begin(), records.instructions.row.end()),
                std::vector<int32_t>{0, 1, 1, 2});
}

TEST(gfx9, code_objects_that_are_loaded_during_the_trace) {
    Gfx9Writer out(kWave.cu);
    testing::write_userdata2(out, testing::kEnable);
    testing::write_code_object(out, {.id = 5, .address = 0x20000, .size = 0x100}, 0);
    out.compute_reg(testing::kProgramLow, 0x200);
    out.wave_start(kWave);
    out.issue(kWave.simd, kWave.slot, Gfx9Writer::inst);
    out.misc(Gfx9Writer::time, 1);
    out.instruction(kWave, Gfx9Writer::valu);
    out.wave_end(kWave);
    testing::write_code_object(out, {.id = 5}, testing::kUnload);
    Program program;
    program.add_listing(5, {}, "0\t4\tv_nop\n");
    program.link();
    const Records records = decode(out.bytes(), program);
    REQUIRE(records.instructions.row.size() == 1);
    CHECK_EQUAL(records.instructions.row[0], 0);
    CHECK_EQUAL(records.waves.entry_code_object[0], 5U);
    CHECK_EQUAL(testing::events_of(records),
                std::vector<Event>{{0, EventType::code_object_load}, {4, EventType::code_object_unload}});
}

TEST(gfx9, an_end_without_a_start_gives_both_at_time_0) {
    Gfx9Writer out(kWave.cu);
    out.misc(Gfx9Writer::time, 10);
    out.wave_end({.cu = 3, .simd = 1, .slot = 4});
    const Records records = decode(out.bytes(), Program());
    CHECK_EQUAL(testing::occupancy_of(records), std::vector<Occupancy>{{0, 3, 1, 4, true, 0}, {0, 3, 1, 4, false, 0}});
}

TEST(gfx9, a_wave_without_an_end_is_reported) {
    Trace out;
    out.traced(Gfx9Writer::smem, 1);
    const Records records = decode(out.bytes(), program_of(kLoop));
    REQUIRE(records.waves.cu.size() == 1 && records.info.code.size() == 1);
    CHECK_EQUAL(records.waves.complete[0], 0);
    CHECK_EQUAL(records.waves.end_cycles[0], 100 + 4 + 4);
    CHECK(testing::has_loss(records, Loss::wave_incomplete));
    CHECK_EQUAL(records.info.code[0], static_cast<uint8_t>(Info::wave_incomplete));
}

TEST(gfx9, packet_loss_is_an_event_an_info_and_a_loss) {
    Gfx9Writer out(kWave.cu);
    out.misc(Gfx9Writer::packet_lost, 2);
    out.misc(Gfx9Writer::time);
    const Records records = decode(out.bytes(), Program());
    CHECK_EQUAL(testing::events_of(records), std::vector<Event>{{8, EventType::packet_loss}});
    REQUIRE(records.info.code.size() == 1);
    CHECK_EQUAL(records.info.code[0], static_cast<uint8_t>(Info::data_lost));
    CHECK(testing::has_loss(records, Loss::packet_loss));
}

TEST(gfx9, counters_are_staggered_and_gaps_are_filled) {
    Gfx9Writer out(kWave.cu);
    testing::write_userdata2(out, testing::kEnable);
    testing::write_userdata2(out, testing::agent_word(1, 400));
    out.misc(Gfx9Writer::time, 100);
    out.counters(2, 1, 7);
    out.misc(Gfx9Writer::time, 250);
    out.counters(2, 1, 9);
    const Records records = decode(out.bytes(), Program());
    const auto& rows = records.counters;
    CHECK_EQUAL(std::vector<int64_t>(rows.time_cycles.begin(), rows.time_cycles.end()),
                std::vector<int64_t>{392, 1392, 1392, 1792});
    CHECK_EQUAL(std::vector<uint16_t>(rows.value0.begin(), rows.value0.end()), std::vector<uint16_t>{7, 0, 9, 0});
    REQUIRE(rows.value1.size() == 4);
    CHECK_EQUAL(rows.value1[2], 10);
    CHECK_EQUAL(rows.bank[3], 1);
    CHECK_EQUAL(records.counter_interval_cycles, 400U);
}

// A clock set back to 0 gives negative times, 4 cycles for each CU. They leave a gap when the interval is known before
// them, and none when it comes later.
TEST(gfx9, counters_before_time_0_leave_a_gap_only_as_they_come) {
    for (const bool known : {false, true}) {
        Gfx9Writer out(kWave.cu);
        testing::write_userdata2(out, testing::kEnable);
        if (known) testing::write_userdata2(out, testing::agent_word(1, 400));
        out.misc(Gfx9Writer::time_reset, 255);
        out.timestamp(5000);
        out.counters(15, 1, 7);
        out.misc(Gfx9Writer::time_reset, 255);
        out.timestamp(5000 - 1015);  // 1 cycle behind the origin
        out.counters(15, 1, 9);
        if (!known) testing::write_userdata2(out, testing::agent_word(1, 400));
        const Records records = decode(out.bytes(), Program());
        const auto& times = records.counters.time_cycles;
        const std::vector<int64_t> found(times.begin(), times.end());
        CHECK_EQUAL(found, known ? std::vector<int64_t>{956, -60, -60, 340} : std::vector<int64_t>{956, -60});
    }
}

TEST(gfx9, realtime_pairs) {
    Gfx9Writer out(kWave.cu);
    testing::write_userdata2(out, testing::kEnable);
    for (const uint32_t word : {5U, 0xFFFFFFF0U, 7U}) out.reg(testing::kUserData3, word);
    out.misc(Gfx9Writer::time, 3);
    out.reg(testing::kUserData3, 2);  // the low word has wrapped
    const Records records = decode(out.bytes(), Program());
    REQUIRE(records.realtime.realtime_ticks.size() == 1);
    CHECK_EQUAL(records.realtime.shader_clock_cycles[0], 12);
    CHECK_EQUAL(records.realtime.realtime_ticks[0], uint64_t{8} << 32 | 2);
}

TEST(gfx9, shader_data_of_any_cu) {
    Gfx9Writer out(kWave.cu);
    out.misc(Gfx9Writer::time, 1);
    out.shader_data({.cu = 9, .simd = 3, .slot = 7}, 0xDEADBEEF);
    const Records records = decode(out.bytes(), Program());
    REQUIRE(records.shader_data.value.size() == 1);
    CHECK_EQUAL(records.shader_data.value[0], 0xDEADBEEFU);
    CHECK_EQUAL(records.shader_data.cu[0], 9);
    CHECK_EQUAL(records.shader_data.time_cycles[0], 4);
}

TEST(gfx9, a_dispatch_shows_the_registers) {
    Gfx9Writer out(kWave.cu);
    out.compute_reg(testing::kProgramLow, 0x123);
    out.compute_reg(testing::kNumThreadX, 256);
    out.compute_reg(testing::kRsrc1, 1 << 10 | 2 << 7 | 5);
    out.compute_reg(testing::kRsrc2, 3 << 15 | 6 << 1 | 1);
    out.compute_reg(0, 1);
    out.compute_reg(0, 2);  // bit 0 clear: nothing starts
    const Records records = decode(out.bytes(), Program());
    const auto& d = records.dispatches;
    REQUIRE(d.me.size() == 1);
    CHECK_EQUAL(d.address[0], 0x12300U);
    CHECK_EQUAL(d.workgroup_size_x[0], 256U);
    CHECK_EQUAL(d.vgprs[0], 48U);
    CHECK_EQUAL(d.sgprs[0], 48U);
    CHECK_EQUAL(d.user_sgprs[0], 6);
    CHECK_EQUAL(d.lds_bytes[0], 3U * 1280);
    CHECK_EQUAL(d.flags[0], 9U);
}

TEST(gfx9, code_object_0_is_not_looked_up_late) {
    Gfx9Writer out(kWave.cu);
    out.compute_reg(testing::kProgramLow, 0x10);
    out.wave_start({.cu = 3});
    testing::write_userdata2(out, testing::kEnable);
    testing::write_code_object(out, {.id = 0, .address = 0x1000, .size = 0x100}, testing::kFromStart);
    const Records records = decode(out.bytes(), Program());
    REQUIRE(records.occupancy.cu.size() == 1);
    CHECK_EQUAL(records.occupancy.address[0], 0x1000U);
}

TEST(gfx9, an_impossible_slot_stops_and_keeps_what_was_decoded) {
    Trace out = looping_wave();
    const size_t good_bytes = out.bytes().size();
    out.wave_start({.cu = 1, .simd = 0, .slot = 12});
    out.zeros(32);
    const Records records = decode(out.bytes(), program_of(kLoop));
    CHECK_EQUAL(records.status, Status::stopped);
    CHECK_EQUAL(records.stopped_at_byte, good_bytes);
    CHECK(testing::has_loss(records, Loss::bad_slot));
    CHECK_EQUAL(records.waves.cu.size(), 1U);
    CHECK_EQUAL(records.instructions.row.size(), 8U);
}

TEST(gfx9, a_taken_branch_into_nowhere_stops) {
    Trace out;
    out.traced(Gfx9Writer::valu, 1);
    out.traced(Gfx9Writer::jump, 1);
    out.wave_end(kWave);
    out.zeros(32);
    const Records records = decode(out.bytes(), program_of("0\t4\tv_nop\n4\t4\ts_branch 1000\n"));
    CHECK_EQUAL(records.status, Status::stopped);
    CHECK(testing::has_loss(records, Loss::branch_target_missing));
}

TEST(gfx9, a_cut_token_is_a_loss) {
    Trace out = looping_wave();
    out.compute_reg(testing::kNumThreadX, 1);
    std::vector<uint8_t> bytes = out.bytes();
    bytes.resize(bytes.size() - 3);
    const Records records = decode(bytes, program_of(kLoop));
    CHECK_EQUAL(records.status, Status::ok);
    CHECK(testing::has_loss(records, Loss::truncated_token));
    CHECK_EQUAL(records.instructions.row.size(), 8U);
}

}  // namespace
}  // namespace wavewright

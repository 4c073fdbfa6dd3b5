// Address ranges of code objects, and the words of the instrumentation stream that load and unload them (spec_gfx9 3.3
// and 3.4: fields of a code object are 0 tail, 1 and 4 size, 2 and 3 address, 5 and 6 id, low half first).
#include "check.hpp"
#include "decode/registers.hpp"
#include "stream.hpp"

namespace wavewright {
namespace {

using testing::agent_word;
using testing::code_object_word;
using testing::kEnable;

TEST(ranges, translate_to_object_and_offset) {
    AddressRanges ranges;
    ranges.insert(0x1000, 0x100, 5);
    CHECK(ranges.translate(0x1000) == (Pc{0, 5}));
    CHECK(ranges.translate(0x10FF) == (Pc{0xFF, 5}));
    CHECK(ranges.translate(0x1100) == (Pc{0x1100, 0}));
    CHECK(ranges.translate(0xFFF) == (Pc{0xFFF, 0}));
    CHECK(ranges.contains(0x1080));
}

TEST(ranges, a_later_range_evicts_what_it_overlaps) {
    AddressRanges ranges;
    ranges.insert(0x1000, 0x100, 1);
    ranges.insert(0x1100, 0x100, 2);
    ranges.insert(0x1200, 0x100, 3);
    ranges.insert(0x10FF, 0x102, 4);  // touches all three
    CHECK(ranges.translate(0x1000) == (Pc{0x1000, 0}));
    CHECK(ranges.translate(0x1250) == (Pc{0x1250, 0}));
    CHECK(ranges.translate(0x1180) == (Pc{0x81, 4}));
    ranges.insert(0x1201, 0x10, 6);  // adjacent, not overlapping
    CHECK(ranges.translate(0x1200) == (Pc{0x101, 4}));
}

TEST(ranges, removal_takes_whatever_contains_the_address) {
    AddressRanges ranges;
    ranges.insert(0x1000, 0x100, 1);
    ranges.insert(0x1010, 0x10, 2);
    ranges.remove(0x1000);
    CHECK(ranges.contains(0x1018));
    ranges.remove(0x1018);
    CHECK(!ranges.contains(0x1018));
}

TEST(ranges, sizes_that_lie) {
    constexpr uint64_t kTop = ~uint64_t{0};
    AddressRanges ranges;
    ranges.insert(0x1000, 0, 1);
    CHECK(!ranges.contains(0x1000));
    ranges.insert(kTop - 0xFF, 0xFF, 5);
    CHECK(ranges.translate(kTop - 1) == (Pc{0xFE, 5}));
    ranges.insert(kTop - 0xFF, 0x100, 6);  // the end is 2^64: gives way to the range before it
    CHECK(ranges.translate(kTop - 0xFF) == (Pc{0, 5}));
}

TEST(ranges, a_range_with_a_wrapped_end_covers_its_first_address) {
    AddressRanges ranges;
    ranges.insert(0x2000, ~uint64_t{0}, 2);
    CHECK(ranges.translate(0x2000) == (Pc{0, 2}));
    CHECK(!ranges.contains(0x2001));
    ranges.insert(0x1000, 0x2000, 3);  // evicts it like any other
    CHECK(ranges.translate(0x2000) == (Pc{0x1000, 3}));
    ranges.insert(0x2800, ~uint64_t{0} - 0x2000, 4);  // wraps to 0x7FF, before the begin of what is there
    CHECK(ranges.translate(0x2800) == (Pc{0x1800, 3}));
    ranges.insert(0x2800, ~uint64_t{0} - 0x1000, 4);  // wraps to 0x17FF
    CHECK(ranges.translate(0x2800) == (Pc{0, 4}));
    CHECK(!ranges.contains(0x1000));
    ranges.remove(0x2800);
    CHECK(!ranges.contains(0x2800));
}

// Registers that get the words of an instrumentation stream.
struct Stream {
    Registers registers;
    Records records;
    void word(uint32_t word, uint32_t me = 0, uint32_t pipe = 0, int64_t time = 100) {
        registers.write_userdata2(word, me, pipe, time, records);
    }
    void field(uint32_t type, uint32_t value, uint32_t me = 0, uint32_t pipe = 0) {
        word(code_object_word(type), me, pipe);
        word(value, me, pipe);
    }
    void object(uint32_t id, uint32_t address, uint32_t size, uint32_t tail) {
        field(5, id);
        field(2, address);
        field(1, size);
        field(0, tail);
    }
    std::vector<uint8_t> events() const { return {records.events.type.begin(), records.events.type.end()}; }
};

TEST(registers, nothing_before_the_enabling_word) {
    Stream stream;
    stream.object(1, 0x1000, 0x100, 0);
    stream.word(agent_word(0, 100'000));
    CHECK(!stream.registers.instrumented());
    CHECK(stream.events().empty());
    CHECK_EQUAL(stream.records.realtime_hz, 0U);
    stream.word(kEnable);
    CHECK(stream.registers.instrumented());
}

TEST(registers, agent_words) {
    Stream stream;
    stream.word(kEnable);
    stream.word(agent_word(0, 100'000));
    CHECK_EQUAL(stream.records.realtime_hz, 100'000'000U);
    CHECK(stream.registers.write_userdata2(agent_word(1, 640), 0, 0, 0, stream.records).counter_interval_written);
    CHECK_EQUAL(stream.records.counter_interval_cycles, 640U);
    CHECK(!stream.registers.write_userdata2(agent_word(2, 1), 0, 0, 0, stream.records).counter_interval_written);
    stream.word(524801);  // the version word says nothing
    stream.word(kEnable);
    CHECK_EQUAL(stream.records.realtime_hz, 100'000'000U);
}

TEST(registers, load_and_unload) {
    Stream stream;
    stream.word(kEnable);
    stream.object(7, 0x1000, 0x100, 0);
    CHECK(stream.registers.live.translate(0x1010) == (Pc{0x10, 7}));
    CHECK(!stream.registers.from_start.contains(0x1010));
    stream.object(7, 0x5000, 0x100, 0);  // already active
    CHECK(!stream.registers.live.contains(0x5000));
    stream.object(7, 0, 0, testing::kUnload);
    CHECK(!stream.registers.live.contains(0x1010));
    stream.object(7, 0, 0, testing::kUnload);  // already gone
    CHECK_EQUAL(stream.events(), std::vector<uint8_t>{7, 8});
    CHECK_EQUAL(stream.records.events.payload[0], 7U);
    CHECK_EQUAL(stream.records.events.flags[1], 1U);
    CHECK_EQUAL(stream.records.events.time_cycles[1], 100);
}

TEST(registers, objects_from_the_start_stay_in_the_start_table) {
    Stream stream;
    stream.word(kEnable);
    stream.object(7, 0x1000, 0x100, testing::kFromStart);
    stream.object(7, 0, 0, testing::kUnload);
    CHECK(!stream.registers.live.contains(0x1010));
    CHECK(stream.registers.from_start.translate(0x1010) == (Pc{0x10, 7}));
}

TEST(registers, the_legacy_id_wins_over_the_long_one) {
    Stream stream;
    stream.word(kEnable);
    stream.object(7, 0x1000, 0x100, 9 << 2);
    CHECK(stream.registers.live.translate(0x1000) == (Pc{0, 9}));
}

TEST(registers, long_values_come_in_halves) {
    Stream stream;
    stream.word(kEnable);
    stream.field(6, 2);
    stream.field(5, 1);
    stream.field(3, 0x7F00);
    stream.field(2, 0x1000);
    stream.field(4, 1);
    stream.field(1, 0);
    stream.field(0, 0);
    CHECK(stream.registers.live.translate(0x7F0080001000) == (Pc{0x80000000, uint64_t{2} << 32 | 1}));
    CHECK_EQUAL(stream.records.events.payload[0], 1U);
}

TEST(registers, scratch_values_are_per_queue_and_the_state_is_not) {
    Stream stream;
    stream.word(kEnable);
    stream.field(5, 3, 0, 0);
    stream.field(2, 0x1000, 0, 0);
    stream.field(1, 0x100, 0, 0);
    stream.field(2, 0x9000, 1, 2);
    stream.word(code_object_word(0), 1, 2);  // announced on one queue,
    stream.word(0, 0, 0);                    // committed on the other
    CHECK(stream.registers.live.translate(0x1004) == (Pc{4, 3}));
    CHECK(!stream.registers.live.contains(0x9000));
}

TEST(registers, odd_headers_are_stepped_over) {
    Stream stream;
    stream.word(kEnable);
    stream.word(code_object_word(7));  // means "waiting for a header" itself
    stream.word(agent_word(0, 5));
    CHECK_EQUAL(stream.records.realtime_hz, 5000U);
    stream.word(code_object_word(9));  // swallows one word
    stream.word(agent_word(0, 6));
    CHECK_EQUAL(stream.records.realtime_hz, 5000U);
    stream.word(code_object_word(0) | 1 << 12);  // data must be 0
    stream.word(agent_word(0, 7));
    CHECK_EQUAL(stream.records.realtime_hz, 7000U);
}

TEST(registers, kernel_entries_are_48_bits_and_per_queue) {
    Registers registers;
    registers.write_compute(Registers::pgm_lo, 0x00001234, 1, 3);
    registers.write_compute(Registers::pgm_hi, 0xFFFFFFFF, 1, 3);
    CHECK(registers.kernel_entry(1, 3) == (Pc{0xFF0000123400, 0}));
    CHECK(registers.kernel_entry(3, 3) == registers.kernel_entry(1, 3));
    CHECK(registers.kernel_entry(0, 3) == (Pc{0, 0}));
    registers.live.insert(0xFF0000120000, 0x10000, 4);
    CHECK(registers.kernel_entry(1, 3) == (Pc{0x3400, 4}));
}

TEST(registers, global_compute_registers) {
    Registers registers;
    registers.write_compute(Registers::num_thread_y, 16, 0, 0);
    registers.write_compute(Registers::pgm_rsrc2, 0x1234, 1, 1);
    registers.write_compute(0x55, 99, 0, 0);
    CHECK_EQUAL(registers.threads[1], 16U);
    CHECK_EQUAL(registers.rsrc2, 0x1234U);
}

}  // namespace
}  // namespace wavewright

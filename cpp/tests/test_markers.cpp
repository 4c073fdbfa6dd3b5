// Function maps, and the values of shader data that they name (spec_gfx9 8.9).
#include <sstream>
#include <string>
#include <string_view>

#include "check.hpp"
#include "decode/markers.hpp"

namespace wavewright {
namespace {

constexpr uint64_t kObject = 7;
constexpr uint32_t kLeave = 1, kEnter = 2;
constexpr uint8_t kPrivileged = 2;  // flag of shader data: written by the trap handler

uint64_t word(uint32_t id, uint32_t flags) {
    return uint64_t{id} << 2 | flags;
}

// A decoder's view of the tracker: one object loaded at 0x1000, one wave slot unless told otherwise.
struct Stream {
    explicit Stream(std::string_view names) : program(named(names)) { from_start.insert(0x1000, 0x1000, kObject); }

    static Program named(std::string_view names) {
        Program program;
        if (!names.empty()) program.add_funcmap(kObject, names);
        program.link();
        return program;
    }

    void start(Pc entry = {0x100, kObject}, uint8_t slot = 0) { tracker.wave_start(0, 0, slot, entry); }
    void end(Pc entry, uint8_t slot = 0) { tracker.wave_end(0, 0, slot, entry); }
    void value(uint64_t value, uint8_t slot = 0, uint8_t flags = 0) { tracker.value(++time, value, 0, 0, slot, flags); }
    void finish() { tracker.finish(from_start); }

    // "id:flags" of markers, "id+index=value" of payloads, blanks between. Flags are the sum of 1 leaves a scope, 2
    // enters one, 4 first marker of its wave.
    std::string shown() const {
        std::ostringstream text;
        const MarkerTable& m = records.markers;
        for (size_t i = 0; i < m.value.size(); ++i) {
            text << (i == 0 ? "" : " ") << m.marker_id[i];
            if (m.record_kind[i] == 0) text << ":" << +m.flags[i];
            if (m.record_kind[i] == 1) text << "+" << m.payload_index[i] << "=" << m.value[i];
        }
        return text.str();
    }
    uint64_t lost() const { return records.losses.count.empty() ? 0 : records.losses.count[0]; }

    Program program;
    AddressRanges from_start;
    Records records;
    MarkerTracker tracker{program, records};
    int64_t time = 0;
};

constexpr std::string_view kNames = "K:kernel\nF:1:outer@a.hip:3\nU:2:inner\nP:3:point\n";

TEST(funcmap, every_kind_of_row) {
    Program program;
    constexpr std::string_view text =
        "F:1:f@/p/a.hip:3:5@x \r\nU:2:u\nP:3:p@b\nK:k@c\nW:64\nR:2:extra_payload_count=9\n"
        "M:shader_clock_bits=12;shader_clock_shift=4\n";
    CHECK_EQUAL(program.add_funcmap(kObject, text), 0u);
    const FuncMap& map = *program.funcmap(kObject);
    CHECK_EQUAL(map.rows.size(), 4u);
    CHECK_EQUAL(map.find(1)->name, "f");
    CHECK_EQUAL(map.find(1)->location, "/p/a.hip:3:5@x");
    CHECK_EQUAL(map.find(2)->payload_count, 9u);
    CHECK(map.find(3)->kind == MarkerKind::point);
    CHECK(map.find(0) == nullptr);
    CHECK(map.rows[3].kind == MarkerKind::kernel);
    CHECK_EQUAL(map.wave_size, 64u);
    CHECK_EQUAL(map.clock_bits, 12u);
    CHECK_EQUAL(map.clock_shift, 4u);
    CHECK(program.funcmap(8) == nullptr);
}

TEST(funcmap, rows_end_at_newline_or_nul) {
    Program program;
    CHECK_EQUAL(program.add_funcmap(kObject, std::string_view("F:1:a\0U:2:b\r\n\n\0\0", 16)), 0u);
    CHECK_EQUAL(program.funcmap(kObject)->rows.size(), 2u);
    CHECK_EQUAL(program.add_funcmap(kObject, ""), 0u);
    CHECK_EQUAL(program.funcmap(kObject)->rows.size(), 0u);
}

TEST(funcmap, the_last_of_duplicates_counts_and_payload_rows_may_stand_anywhere) {
    Program program;
    CHECK_EQUAL(program.add_funcmap(kObject, "R:7:extra_payload_count=2;later=1\nF:7:first\nU:7:second\n"), 0u);
    const MarkerName& marker = *program.funcmap(kObject)->find(7);
    CHECK_EQUAL(marker.name, "second");
    CHECK_EQUAL(marker.payload_count, 2u);
    CHECK_EQUAL(program.funcmap(kObject)->rows.size(), 2u);
}

TEST(funcmap, rows_that_make_no_sense_are_counted) {
    Program program;
    for (const std::string_view row : {"garbage",
                                       "X:9:unknown",
                                       "F:x:bad",
                                       "F:-1:bad",
                                       "F:4294967296:big",
                                       "F:1",
                                       "F::noid",
                                       "F:1:",
                                       "F:1:@place",
                                       "K:",
                                       "W:many",
                                       "W:",
                                       "R:x:extra_payload_count=1",
                                       "R:1:extra_payload_count=x",
                                       "R:1",
                                       "M:shader_clock_bits=12",
                                       "M:shader_clock_bits=30;shader_clock_shift=0",
                                       "M:shader_clock_bits=x",
                                       "M:shader_clock_bits=2;shader_clock_shift=33",
                                       "M:shader_clock_bits=29;shader_clock_shift=4"}) {
        const size_t unreadable = program.add_funcmap(kObject, row);
        if (unreadable != 1) CHECK_EQUAL(std::string(row), "unreadable");
        CHECK(program.funcmap(kObject)->find(1) == nullptr);
        CHECK_EQUAL(program.funcmap(kObject)->clock_bits, 0u);
    }
    CHECK_EQUAL(program.add_funcmap(kObject, "M:later=1\nM:shader_clock_bits=0\nF:4294967295:max\nbad\nU:2:good"), 1u);
    CHECK(program.funcmap(kObject)->find(4294967295u) != nullptr);
    CHECK(program.funcmap(kObject)->find(2) != nullptr);
}

TEST(markers, nothing_without_names) {
    Stream s("");
    s.start();
    s.value(word(1, kEnter));
    s.finish();
    CHECK_EQUAL(s.shown(), "");
    CHECK_EQUAL(s.lost(), 0u);
}

TEST(markers, scopes_nest_and_a_bare_exit_names_what_it_leaves) {
    Stream s(kNames);
    s.start();
    for (const uint64_t value : {word(1, kEnter), word(2, kEnter), word(3, 0), word(0, kLeave), word(0, kLeave)})
        s.value(value);
    CHECK_EQUAL(s.shown(), "1:6 2:2 3:0 2:1 1:1");
    s.value(word(0, kLeave));  // nothing is open
    CHECK_EQUAL(s.records.markers.value.size(), 5u);
    CHECK_EQUAL(s.records.markers.entry_address[0], 0x100u);
    CHECK_EQUAL(s.records.markers.code_object[0], kObject);
    CHECK_EQUAL(s.records.markers.payload_index[0], 0xFFFFFFFFu);
}

TEST(markers, a_transition_leaves_and_enters) {
    Stream s(kNames);
    s.start();
    for (const uint64_t value : {word(1, kEnter), word(2, kEnter | kLeave), word(0, kLeave), word(0, kLeave)})
        s.value(value);
    CHECK_EQUAL(s.shown(), "1:6 2:3 2:1");
}

TEST(markers, points_open_nothing_but_may_leave) {
    Stream s(kNames);
    s.start();
    for (const uint64_t value : {word(3, kEnter), word(0, kLeave), word(1, kEnter), word(3, kLeave), word(0, kLeave)})
        s.value(value);
    CHECK_EQUAL(s.shown(), "3:6 1:2 3:1");
}

TEST(markers, unknown_ids_are_dropped_whatever_they_say) {
    Stream s(kNames);
    s.start();
    s.value(word(1, kEnter));
    for (const uint32_t flags : {0u, kLeave, kEnter, kEnter | kLeave}) s.value(word(99, flags));
    s.value(word(0, kEnter | kLeave));
    s.value(word(0, 0));
    s.value(word(0, kLeave));
    CHECK_EQUAL(s.shown(), "1:6 1:1");
}

TEST(markers, payloads_are_raw) {
    Stream s("P:3:address\nR:3:extra_payload_count=2\nU:2:scope\n");
    s.start();
    for (const uint64_t value : {word(3, 0), uint64_t{0xFFFFFFFF}, word(2, kEnter), word(2, kEnter)}) s.value(value);
    CHECK_EQUAL(s.shown(), "3:4 3+0=4294967295 3+1=10 2:2");
    CHECK_EQUAL(s.records.markers.flags[1], 0);
    CHECK_EQUAL(s.records.markers.payload_count[1], 2u);
}

TEST(markers, payloads_end_with_their_wave) {
    Stream s("P:3:address\nR:3:extra_payload_count=2\n");
    s.start();
    s.value(word(3, 0));
    s.start();
    s.value(word(3, 0));
    CHECK_EQUAL(s.shown(), "3:4 3:4");
}

TEST(markers, slots_are_apart) {
    Stream s(kNames);
    s.start({0x100, kObject}, 0);
    s.start({0x200, kObject}, 1);
    s.value(word(1, kEnter), 0);
    s.value(word(2, kEnter), 1);
    s.value(word(0, kLeave), 0);
    s.value(word(1, kEnter), 2);  // no wave there
    CHECK_EQUAL(s.shown(), "1:6 2:6 1:1");
}

TEST(markers, privileged_values_are_no_markers) {
    Stream s(kNames);
    s.start();
    s.value(word(1, kEnter), 0, kPrivileged);
    s.value(word(2, kEnter), 0, 1);  // another flag
    CHECK_EQUAL(s.shown(), "2:6");
}

TEST(markers, a_packed_clock_is_cut_off_known_ids_and_bare_exits) {
    Stream s("M:shader_clock_bits=12;shader_clock_shift=4\nU:2:scope\nP:1048578:plain\n");
    s.start();
    constexpr uint64_t kClock = uint64_t{0xABC} << 20;
    for (const uint64_t value :
         {kClock | word(2, kEnter), kClock | word(0, kLeave), word(1048578, 0), kClock | word(9, 0)})
        s.value(value);
    CHECK_EQUAL(s.shown(), "2:6 2:1 2:0");  // the short form of 1048578 is 2, which is known
    CHECK_EQUAL(s.records.markers.value[0], (kClock | word(2, kEnter)));
}

TEST(markers, a_plain_value_beside_packed_ones) {
    Stream s("M:shader_clock_bits=12;shader_clock_shift=4\nU:2:scope\nP:1048579:plain\n");
    s.start();
    s.value(word(1048579, 0));  // its short form, 3, means nothing
    CHECK_EQUAL(s.shown(), "1048579:4");
}

TEST(markers, values_wait_for_their_code_object) {
    Stream s(kNames);
    s.start({0x1100, 0});
    s.value(word(1, kEnter));
    CHECK_EQUAL(s.shown(), "");
    s.end({0x100, kObject});
    CHECK_EQUAL(s.shown(), "1:6");
    s.value(word(0, kLeave));  // the slot keeps its wave until the next start
    CHECK_EQUAL(s.shown(), "1:6 1:1");
}

TEST(markers, the_end_of_the_buffer_resolves_what_is_left) {
    Stream s(kNames);
    s.start({0x1100, 0}, 0);
    s.value(word(1, kEnter), 0);
    s.start({0x1200, 0}, 0);  // the first wave is set aside
    s.value(word(2, kEnter), 0);
    s.start({0x9000, 0}, 1);  // never known
    s.value(word(3, 0), 1);
    s.value(word(3, 0), 1);
    s.finish();
    CHECK_EQUAL(s.shown(), "2:6 1:6");
    CHECK_EQUAL(s.records.markers.entry_address[1], 0x100u);
    CHECK_EQUAL(s.lost(), 2u);
    CHECK_EQUAL(s.records.losses.time_cycles[0], 3);
    CHECK(s.records.losses.kind[0] == static_cast<uint8_t>(Loss::marker_queue_full));
}

TEST(markers, packet_loss_silences_every_slot_until_it_starts_again) {
    Stream s(kNames);
    s.start({0x100, kObject}, 0);
    s.start({0x1100, 0}, 1);
    s.value(word(1, kEnter), 0);
    s.value(word(1, kEnter), 1);
    s.tracker.packet_loss();
    s.value(word(2, kEnter), 0);
    s.value(word(2, kEnter), 1);
    s.end({0x100, kObject}, 1);
    s.start({0x100, kObject}, 0);
    s.value(word(0, kLeave), 0);  // the scope from before is forgotten
    s.value(word(2, kEnter), 0);
    s.finish();
    CHECK_EQUAL(s.shown(), "1:6 2:6");
    CHECK_EQUAL(s.lost(), 0u);
}

TEST(markers, the_queue_of_waiting_values_is_bounded) {
    constexpr size_t kLimit = size_t{1} << 20;
    Stream s(kNames);
    s.start({0x1100, 0}, 0);
    s.start({0x1100, 0}, 1);
    s.value(word(1, kEnter), 1);
    for (size_t i = 1; i < kLimit; ++i) s.value(word(3, 0), 0);
    s.value(word(3, 0), 0);  // one too many: the slot loses all it had
    s.value(word(3, 0), 0);
    s.value(word(2, kEnter), 1);  // there is room again
    s.finish();
    CHECK_EQUAL(s.shown(), "1:6 2:2");
    CHECK_EQUAL(s.lost(), kLimit + 1);
}

}  // namespace
}  // namespace wavewright

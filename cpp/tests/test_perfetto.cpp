#include <cmath>

#include "check.hpp"
#include "wavewright/perfetto.hpp"

namespace wavewright {
namespace {

std::string hex(const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<uint8_t>(byte) & 15];
    }
    return text;
}

struct Rows {
    std::vector<uint64_t> track, name, category, flow;
    std::vector<int64_t> begin, end;
    void add(uint64_t on, int64_t from, int64_t to) {
        track.push_back(on);
        name.push_back(1);
        category.push_back(1);
        flow.push_back(0);
        begin.push_back(from);
        end.push_back(to);
    }
    PerfettoEvents events() const { return {track, begin, end, name, category, flow}; }
};

// Lengths of packets and of their events take three bytes: 92 80 00 is 18.
TEST(perfetto, a_slice_is_two_packets) {
    Rows rows;
    rows.add(2, 5, 300);
    PerfettoSlices slices(100, true);
    // packet { timestamp 5, sequence 1, flags 2, track_event { type 1, track 2, name 1, category 1 } }
    CHECK_EQUAL(hex(slices.add(rows.events())), std::string("0a928000"
                                                            "400550016802"
                                                            "5a888000"
                                                            "4801580250011801"));
    // packet { timestamp 300, sequence 1, track_event { type 2, track 2 } }
    CHECK_EQUAL(hex(slices.finish()), std::string("0a8d8000"
                                                  "40ac025001"
                                                  "5a848000"
                                                  "48025802"));
}

TEST(perfetto, overlaps_open_child_tracks_and_use_them_again) {
    Rows rows;
    for (const auto& [from, to] : {std::pair{0, 10}, {5, 15}, {12, 20}, {16, 18}}) rows.add(2, from, to);
    PerfettoSlices flat(100, false);
    flat.add(rows.events());
    CHECK_EQUAL(flat.child_count(), 1U);
    CHECK_EQUAL(flat.next_child(), 101U);
    PerfettoSlices nested(100, true);
    nested.add(rows.events());
    CHECK_EQUAL(nested.child_count(), 1U);  // 16..18 lies inside 12..20
}

TEST(perfetto, a_slice_of_an_earlier_time_does_not_go_back) {
    Rows later, earlier;
    later.add(2, 100, 110);
    earlier.add(2, 50, 60);
    PerfettoSlices slices(100, true);
    slices.add(later.events());
    slices.add(earlier.events());
    CHECK_EQUAL(slices.child_count(), 1U);
}

TEST(perfetto, values_that_are_missing_are_left_out) {
    Rows rows;
    rows.add(2, 5, 5);
    const std::vector<int64_t> none{kNoValue}, minus{-1};
    const std::vector<double> not_a_number{std::nan("")};
    PerfettoEvents events = rows.events();
    const std::string plain = perfetto_instants(events);
    events.annotations = {{.name = 1, .integers = none},
                          {.name = 2, .kind = PerfettoAnnotation::Kind::Fraction, .fractions = not_a_number}};
    CHECK_EQUAL(hex(perfetto_instants(events)), hex(plain));
    events.annotations = {{.name = 1, .integers = minus}};
    CHECK(hex(perfetto_instants(events))
              .ends_with("220d"
                         "0801"
                         "20ffffffffffffffffff01"));
}

TEST(perfetto, points_are_whole_numbers_where_they_can_be) {
    const std::vector<uint64_t> track{2, 2};
    const std::vector<int64_t> time{1, 2};
    const std::vector<double> value{3.0, 0.5};
    CHECK_EQUAL(hex(perfetto_points(track, time, value)), std::string("0a8f8000"
                                                                      "40015001"
                                                                      "5a878000"
                                                                      "48045802f00103"
                                                                      "0a968000"
                                                                      "40025001"
                                                                      "5a8e8000"
                                                                      "48045802e102000000000000e03f"));
}

}  // namespace
}  // namespace wavewright

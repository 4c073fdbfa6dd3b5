#include "check.hpp"
#include "wavewright/tracks.hpp"

namespace wavewright {
namespace {

struct Found {
    std::vector<uint32_t> row, track;
    std::vector<uint8_t> is_end;
};

Found events_of(const std::vector<int64_t>& begin, const std::vector<int64_t>& end, bool may_nest) {
    const std::vector<uint64_t> line(begin.size(), 7);
    const NestedEvents events = nested_events(line, begin, end, may_nest);
    return {{events.row.begin(), events.row.end()},
            {events.track.begin(), events.track.end()},
            {events.is_end.begin(), events.is_end.end()}};
}

TEST(tracks, what_lies_inside_nests_or_goes_aside) {
    const Found nested = events_of({0, 2}, {10, 5}, true);
    CHECK_EQUAL(nested.row, std::vector<uint32_t>{0, 1, 1, 0});
    CHECK_EQUAL(nested.track, std::vector<uint32_t>{0, 0, 0, 0});
    CHECK(nested.is_end == std::vector<uint8_t>({0, 0, 1, 1}));
    const Found flat = events_of({0, 2}, {10, 5}, false);
    CHECK_EQUAL(std::vector<uint32_t>(flat.track.begin(), flat.track.begin() + 2), std::vector<uint32_t>{0, 1});
}

TEST(tracks, what_crosses_an_end_goes_aside) {
    const Found found = events_of({0, 5, 12}, {10, 15, 13}, true);
    CHECK_EQUAL(found.row, std::vector<uint32_t>{0, 1, 0, 2, 2, 1});
    CHECK_EQUAL(found.track, std::vector<uint32_t>{0, 1, 0, 0, 0, 1});
}

TEST(tracks, moments_follow_each_other) {
    const Found found = events_of({5, 5, 5}, {5, 5, 5}, false);
    CHECK_EQUAL(found.row, std::vector<uint32_t>{0, 0, 1, 1, 2, 2});
    CHECK_EQUAL(found.track, std::vector<uint32_t>{0, 0, 0, 0, 0, 0});
}

TEST(tracks, nothing) {
    CHECK(events_of({}, {}, true).row.empty());
}

}  // namespace
}  // namespace wavewright

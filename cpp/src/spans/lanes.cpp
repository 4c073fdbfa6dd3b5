#include "wavewright/lanes.hpp"

namespace wavewright {

NestedEvents nested_events(std::span<const uint64_t> track, std::span<const int64_t> begin,
                           std::span<const int64_t> end, bool may_nest) {
    NestedEvents events;
    Lanes lanes(may_nest);
    const auto add = [&](uint32_t row, const Lane& lane, bool is_end) {
        events.row.push_back(row);
        events.lane.push_back(lane.number);
        events.is_end.push_back(is_end);
    };
    const auto on_end = [&](const Lane& lane, const Lane::Open& open) { add(open.row, lane, true); };
    const auto on_lane = [](uint64_t of, uint32_t) { return of; };
    for (uint32_t row = 0; row < track.size(); ++row)
        add(row, lanes.put(track[row], begin[row], end[row], row, on_end, on_lane), false);
    lanes.finish(on_end);
    return events;
}

}  // namespace wavewright

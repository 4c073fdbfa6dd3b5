#include "wavewright/tracks.hpp"

namespace wavewright {

NestedEvents nested_events(std::span<const uint64_t> line, std::span<const int64_t> begin, std::span<const int64_t> end,
                           bool may_nest) {
    NestedEvents events;
    Tracks tracks(may_nest);
    const auto add = [&](uint32_t row, const Track& track, bool is_end) {
        events.row.push_back(row);
        events.track.push_back(track.number);
        events.is_end.push_back(is_end);
    };
    const auto on_end = [&](const Track& track, const Track::Open& open) { add(open.row, track, true); };
    const auto on_track = [](uint64_t id_of_line, uint32_t) { return id_of_line; };
    for (uint32_t row = 0; row < line.size(); ++row)
        add(row, tracks.put(line[row], begin[row], end[row], row, on_end, on_track), false);
    tracks.finish(on_end);
    return events;
}

}  // namespace wavewright

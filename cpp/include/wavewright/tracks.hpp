// Rows of a timeline (`Track`) for the slices of each line, which is a thread, a queue or whatever else slices belong
// to. On a track every slice follows the one before it or, where slices may nest, lies inside it. A slice for which
// that does not hold goes to the next track of its line.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

struct Track {
    uint64_t id;      // what the owner of the tracks calls it
    uint32_t number;  // 0 = the first of its line
    int64_t last = std::numeric_limits<int64_t>::min();
    struct Open {
        int64_t end;
        uint32_t row;
    };
    std::vector<Open> open{};
};

class Tracks {
  public:
    explicit Tracks(bool may_nest) : may_nest_(may_nest) {}

    // Put a slice on a track of `line`. Rows come sorted by line, begin and (longest first) end; later batches may go
    // on with the same lines. on_end(track, open) is told what ended before; on_track(line, number) names a new track.
    template <class OnEnd, class OnTrack>
    Track& put(uint64_t line, int64_t begin, int64_t end, uint32_t row, OnEnd&& on_end, OnTrack&& on_track) {
        std::vector<Track>& tracks = tracks_[line];
        for (Track& track : tracks)
            if (takes(track, begin, end, on_end)) return opened(track, begin, end, row);
        const auto number = static_cast<uint32_t>(tracks.size());
        return opened(tracks.emplace_back(Track{.id = on_track(line, number), .number = number}), begin, end, row);
    }

    // End all that is open.
    template <class OnEnd>
    void finish(OnEnd&& on_end) {
        for (auto& [line, tracks] : tracks_)
            for (Track& track : tracks)
                for (; !track.open.empty(); track.open.pop_back()) on_end(track, track.open.back());
        tracks_.clear();
    }

  private:
    template <class OnEnd>
    bool takes(Track& track, int64_t begin, int64_t end, OnEnd& on_end) const {
        while (!track.open.empty() && track.open.back().end <= begin) {
            track.last = track.open.back().end;
            on_end(track, track.open.back());
            track.open.pop_back();
        }
        if (track.last > begin) return false;
        return track.open.empty() || (may_nest_ && track.open.back().end >= end);
    }

    static Track& opened(Track& track, int64_t begin, int64_t end, uint32_t row) {
        track.last = begin;
        track.open.push_back({end, row});
        return track;
    }

    std::unordered_map<uint64_t, std::vector<Track>> tracks_;
    bool may_nest_;
};

// Begins and ends of slices in an order in which those of each track follow each other.
struct NestedEvents {
    Column<uint32_t> row, track;
    Column<uint8_t> is_end;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("track", track);
        visit("is_end", is_end);
    }
};

NestedEvents nested_events(std::span<const uint64_t> line, std::span<const int64_t> begin, std::span<const int64_t> end,
                           bool may_nest);

}  // namespace wavewright

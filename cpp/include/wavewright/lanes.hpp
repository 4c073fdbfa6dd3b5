// Slices of time on lanes: on a lane every slice follows the one before it or, where slices may nest, lies inside it. A
// slice for which that does not hold goes to the next lane of its track.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

struct Lane {
    uint64_t id;      // what the owner of the lanes calls it
    uint32_t number;  // 0 = the first of its track
    int64_t last = std::numeric_limits<int64_t>::min();
    struct Open {
        int64_t end;
        uint32_t row;
    };
    std::vector<Open> open{};
};

class Lanes {
  public:
    explicit Lanes(bool may_nest) : may_nest_(may_nest) {}

    // Put a slice on a lane of `track`. Rows come sorted by track, begin and (longest first) end; later batches may go
    // on with the same tracks. on_end(lane, open) is told what ended before; on_lane(track, number) names a new lane.
    template <class OnEnd, class OnLane>
    Lane& put(uint64_t track, int64_t begin, int64_t end, uint32_t row, OnEnd&& on_end, OnLane&& on_lane) {
        std::vector<Lane>& lanes = lanes_[track];
        for (Lane& lane : lanes)
            if (takes(lane, begin, end, on_end)) return opened(lane, begin, end, row);
        const auto number = static_cast<uint32_t>(lanes.size());
        return opened(lanes.emplace_back(Lane{.id = on_lane(track, number), .number = number}), begin, end, row);
    }

    // End all that is open.
    template <class OnEnd>
    void finish(OnEnd&& on_end) {
        for (auto& [track, lanes] : lanes_)
            for (Lane& lane : lanes)
                for (; !lane.open.empty(); lane.open.pop_back()) on_end(lane, lane.open.back());
        lanes_.clear();
    }

  private:
    template <class OnEnd>
    bool takes(Lane& lane, int64_t begin, int64_t end, OnEnd& on_end) const {
        while (!lane.open.empty() && lane.open.back().end <= begin) {
            lane.last = lane.open.back().end;
            on_end(lane, lane.open.back());
            lane.open.pop_back();
        }
        if (lane.last > begin) return false;
        return lane.open.empty() || (may_nest_ && lane.open.back().end >= end);
    }

    static Lane& opened(Lane& lane, int64_t begin, int64_t end, uint32_t row) {
        lane.last = begin;
        lane.open.push_back({end, row});
        return lane;
    }

    std::unordered_map<uint64_t, std::vector<Lane>> lanes_;
    bool may_nest_;
};

// Begins and ends of slices in an order in which those of each lane follow each other.
struct NestedEvents {
    Column<uint32_t> row, lane;
    Column<uint8_t> is_end;
    template <class Visitor>
    void each_column(Visitor&& visit) {
        visit("row", row);
        visit("lane", lane);
        visit("is_end", is_end);
    }
};

NestedEvents nested_events(std::span<const uint64_t> track, std::span<const int64_t> begin,
                           std::span<const int64_t> end, bool may_nest);

}  // namespace wavewright

// Meetings of the waves of a workgroup at its barriers, in a replay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wavewright {

// A wave at a barrier: when it could go on by itself, and how long after the last signal it does.
struct Arrival {
    uint32_t wave;
    int64_t ready, cost;
};

// Meetings by number. A wave tells when it signalled that it came (`signal`) and goes on when all are there; kEarliest
// is the latest signal of a meeting to which nobody came yet, a time before all others.
template <int64_t kEarliest>
class Meetings {
  public:
    explicit Meetings(size_t count) : meetings_(count) {}

    // One more wave will come to this meeting.
    void expect(size_t number) { ++meetings_[number].expected; }

    // A wave comes. With the last one that is expected all go on: waves.go_on(wave, time) is called for each.
    template <class Waves>
    void arrive(size_t number, int64_t signal, const Arrival& arrival, Waves& waves) {
        Meeting& meeting = meetings_[number];
        meeting.latest = std::max(meeting.latest, signal);
        if (meeting.waiting.empty()) opened_.push_back(number);
        meeting.waiting.push_back(arrival);
        if (meeting.waiting.size() >= meeting.expected) release(meeting, waves);
    }

    // Where waves seem to come to meetings in different orders, as in damaged traces, all of them wait for ever. This
    // lets the waves of the meeting go on to which one came first. Returns whether there was one.
    template <class Waves>
    bool release_someone(Waves& waves) {
        while (first_open_ < opened_.size()) {
            Meeting& meeting = meetings_[opened_[first_open_++]];
            if (meeting.waiting.empty()) continue;
            release(meeting, waves);
            return true;
        }
        return false;
    }

  private:
    struct Meeting {
        uint32_t expected = 0;
        int64_t latest = kEarliest;
        std::vector<Arrival> waiting;
    };

    template <class Waves>
    void release(Meeting& meeting, Waves& waves) {
        const std::vector<Arrival> waiting = std::exchange(meeting.waiting, {});
        const int64_t latest = std::exchange(meeting.latest, kEarliest);
        for (const Arrival& one : waiting) waves.go_on(one.wave, std::max(one.ready, latest + one.cost));
    }

    std::vector<Meeting> meetings_;
    std::vector<size_t> opened_;  // in the order in which somebody came first
    size_t first_open_ = 0;
};

}  // namespace wavewright

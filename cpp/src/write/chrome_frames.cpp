// Frames on the GPU: the innermost marker around the call that launched it, painted over the work of a queue.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "wavewright/chrome_trace.hpp"

namespace wavewright {
namespace {

// Nanoseconds. Work of one marker with a larger gap in it becomes two frames.
constexpr int64_t kLargestGap = 200'000;
// Nanoseconds. Frames begin earlier than their first work by this, so that viewers nest the work in them.
constexpr int64_t kLead = 1000;

using Place = std::pair<int64_t, int64_t>;

struct Frame {
    size_t marker = 0;
    int64_t begin = 0, end = 0;
    size_t op_count = 0;
    std::vector<Place> queues;
};

bool is_near(int64_t left, int64_t right) {
    const int64_t most = std::max(left, right), least = std::min(left, right);
    return static_cast<uint64_t>(most) - static_cast<uint64_t>(least) < static_cast<uint64_t>(kLargestGap);
}

enum class Kind : uint8_t { marker_end, marker_begin, launch };

// An event of a thread: a marker of the row `row` of the markers, or a launch of the row `row` of the launches.
struct Moment {
    int64_t time;
    Kind kind;
    int64_t order;  // among moments of the same time and kind: outer markers begin first
    size_t row;
};

struct Thread {
    std::vector<Moment> moments;
    std::vector<size_t> open;  // markers, innermost last; some may have ended already
    std::vector<Frame> frames;

    // Adds launched work to the frame of a marker, or begins a new frame.
    void launch(size_t marker, Place queue, int64_t begin, int64_t end) {
        const bool joins = !frames.empty() && frames.back().marker == marker &&
                           (is_near(begin, frames.back().end) || is_near(frames.back().begin, end));
        if (!joins) frames.push_back({marker, begin, end, 0, {}});
        Frame& frame = frames.back();
        frame.begin = std::min(frame.begin, begin);
        frame.end = std::max(frame.end, end);
        ++frame.op_count;
        if (std::find(frame.queues.begin(), frame.queues.end(), queue) == frame.queues.end())
            frame.queues.push_back(queue);
    }
};

using Threads = std::map<Place, Thread>;

// Begins and ends of markers, and launches on the threads that have markers, by thread and in order of time.
Threads threads_of(const ChromeLaunches& rows, const ChromeMarkers& markers) {
    Threads threads;
    for (size_t i = 0; i < markers.pid.size(); ++i) {
        if (markers.begin[i] >= markers.end[i]) continue;
        std::vector<Moment>& moments = threads[{markers.pid[i], markers.tid[i]}].moments;
        moments.push_back({markers.begin[i], Kind::marker_begin, ~markers.end[i], i});
        moments.push_back({markers.end[i], Kind::marker_end, 0, i});
    }
    for (size_t i = 0; i < rows.pid.size(); ++i) {
        const auto thread = threads.find({rows.pid[i], rows.tid[i]});
        if (thread != threads.end()) thread->second.moments.push_back({rows.call_begin[i], Kind::launch, 0, i});
    }
    for (auto& [place, thread] : threads)
        std::stable_sort(thread.moments.begin(), thread.moments.end(), [](const Moment& left, const Moment& right) {
            return std::tuple(left.time, left.kind, left.order) < std::tuple(right.time, right.kind, right.order);
        });
    return threads;
}

}  // namespace

void ChromeTrace::frames(const ChromeLaunches& rows, const ChromeMarkers& markers, const JsonTexts& names) {
    std::vector<bool> has_ended(markers.pid.size());
    for (auto& [place, thread] : threads_of(rows, markers)) {
        for (const Moment& moment : thread.moments) {
            if (moment.kind == Kind::marker_begin) thread.open.push_back(moment.row);
            if (moment.kind == Kind::marker_end) has_ended[moment.row] = true;
            while (!thread.open.empty() && has_ended[thread.open.back()]) thread.open.pop_back();
            if (moment.kind == Kind::launch && !thread.open.empty())
                thread.launch(thread.open.back(), {rows.gpu[moment.row], rows.queue[moment.row]},
                              rows.begin[moment.row], rows.end[moment.row]);
        }
        for (const Frame& frame : thread.frames) {
            JsonTexts args;
            args.add_object("desc", "UserMarker frame: " + std::to_string(frame.op_count) + " ops");
            for (const auto& [gpu, queue] : frame.queues) {
                const int64_t begin = frame.begin > INT64_MIN + kLead ? frame.begin - kLead : frame.begin;
                const uint32_t name = markers.name[frame.marker], first = 0;
                slices({{&gpu, 1}, {&queue, 1}, {&begin, 1}, {&frame.end, 1}, {&name, 1}, {&first, 1}}, names, args);
                --counts_.slices;
                ++counts_.frames;
            }
        }
    }
}

}  // namespace wavewright

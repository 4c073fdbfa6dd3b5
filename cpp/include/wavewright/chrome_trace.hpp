// A Chrome trace (JSON) from columns: slices, marks, launches with what follows from them, counters.
//
// The layout is that of rpd2tracing: GPU work on (GPU, queue), calls on (process, thread), an arrow from every launch
// to its work, and per GPU the depth of its queues and whether it idles. Times are exact: microseconds with three
// decimals.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wavewright/column.hpp"

namespace wavewright {

// Texts as JSON strings with their quotes, each escaped once; bytes that are not UTF-8 become U+FFFD.
class JsonTexts {
  public:
    void add(std::string_view text);
    // A JSON value, taken as it is.
    void add_raw(std::string_view json);
    // {"key":"text"}
    void add_object(std::string_view key, std::string_view text);
    std::string_view operator[](size_t number) const {
        return std::string_view(bytes_).substr(ends_[number], ends_[number + 1] - ends_[number]);
    }
    size_t size() const { return ends_.size() - 1; }

  private:
    std::string bytes_;
    std::vector<size_t> ends_ = {0};
};

// All spans of a struct have one length; numbers of texts are below the size of their texts.
struct ChromeSlices {
    std::span<const int64_t> pid, tid, begin, end;
    std::span<const uint32_t> name, args;
};

struct ChromeLaunches {
    std::span<const int64_t> pid, tid, call_begin, call_end, gpu, queue, begin, end;
};

struct ChromeMarkers {
    std::span<const int64_t> pid, tid, begin, end;
    std::span<const uint32_t> name;
};

struct ChromeCounters {
    std::span<const int64_t> pid, time;
    std::span<const uint32_t> name;
    std::span<const double> value;
};

struct ChromeCounts {
    uint64_t slices = 0, marks = 0, flows = 0, counters = 0, frames = 0;
};

class ChromeTrace {
  public:
    using Sink = std::function<void(std::string_view)>;

    explicit ChromeTrace(Sink sink);
    ChromeTrace(const ChromeTrace&) = delete;
    ChromeTrace& operator=(const ChromeTrace&) = delete;

    // Whole events, each a JSON object.
    void events(std::span<const std::string> objects);
    void slices(const ChromeSlices& rows, const JsonTexts& names, const JsonTexts& args);
    // Moments; the ends are not used.
    void marks(const ChromeSlices& rows, const JsonTexts& names, const JsonTexts& args);
    void counters(const ChromeCounters& rows, const JsonTexts& names);
    // An arrow from the call to its work, two events each.
    void flows(const ChromeLaunches& rows);
    // Per GPU: calls whose work has not ended yet, and whether there are none, until `last`.
    void queue_depths(const ChromeLaunches& rows, int64_t last);
    // Above the work of each queue: the innermost marker around the calls that launched it.
    void frames(const ChromeLaunches& rows, const ChromeMarkers& markers, const JsonTexts& names);
    // The end of the trace; nothing may follow.
    void finish();

    const ChromeCounts& counts() const { return counts_; }

  private:
    // Room for `bytes`; without it, what there is is given to the sink.
    void room(size_t bytes);
    // Into the room there is.
    void put(std::string_view text) {
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    // A text of any length, with room after it for the rest of an event.
    void text(std::string_view text);
    void begin_event();
    void open(char phase, int64_t pid);
    void number(int64_t value);
    void microseconds(int64_t ns);
    void counter(int64_t pid, std::string_view name, int64_t time, std::string_view key, int64_t value);
    void flush();

    Sink sink_;
    std::vector<char> buffer_;
    char* at_;
    bool is_first_ = true;
    uint64_t last_flow_ = 0;
    ChromeCounts counts_;
};

}  // namespace wavewright

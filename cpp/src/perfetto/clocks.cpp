#include "perfetto/clocks.hpp"

#include <algorithm>

#include "perfetto/fields.hpp"

namespace wavewright::pftrace {
namespace {

constexpr size_t kMostReadings = 16;  // of a snapshot; with the next, bounds what one packet may cost
constexpr int kLongestPath = 2;       // snapshots between a clock and that of the trace

// Clocks 64 to 127 belong to a sequence, which takes the upper half of the key; all others belong to the whole trace.
uint64_t key_of(uint64_t sequence, uint64_t clock) {
    return clock >= 64 && clock < 128 ? (sequence & 0xFFFFFFFF) << 32 | clock : clock & 0xFFFFFFFF;
}

// Times are untrusted input: they wrap instead of overflowing.
int64_t product(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t sum(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t difference(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

}  // namespace

bool Clocks::snapshot(uint64_t sequence, Text message) {
    std::vector<Reading> readings;
    Fields fields(message);
    bool is_sound = true;
    while (fields.next()) {
        const Field& field = fields.field;
        if (field.number == clock_snapshot::primary_trace_clock && !has_trace_clock_) {
            trace_clock_ = key_of(sequence, field.value);
            has_trace_clock_ = true;
        }
        if (field.number != clock_snapshot::clocks || !field.is_bytes() || readings.size() == kMostReadings) continue;
        uint64_t number = 0, time = 0, unit = 1;
        bool is_incremental = false;
        Fields of_clock(field.bytes);
        while (of_clock.next()) {
            const Field& part = of_clock.field;
            if (part.number == clock_reading::clock_id) number = part.value;
            if (part.number == clock_reading::timestamp) time = part.value;
            if (part.number == clock_reading::is_incremental) is_incremental = part.value != 0;
            if (part.number == clock_reading::unit_multiplier_ns && part.value != 0) unit = part.value;
        }
        is_sound = is_sound && !of_clock.is_damaged();
        const uint64_t key = key_of(sequence, number);
        Clock& clock = clocks_[key];
        clock.unit_ns = static_cast<int64_t>(unit);
        clock.is_incremental = is_incremental;
        const int64_t time_ns = product(static_cast<int64_t>(time), clock.unit_ns);
        clock.last_ns = time_ns;
        if (!clock.moments.empty() && clock.moments.back().first > time_ns) clock.is_sorted = false;
        clock.moments.emplace_back(time_ns, static_cast<uint32_t>(snapshots_.size()));
        readings.push_back({key, time_ns});
    }
    snapshots_.push_back(std::move(readings));
    return is_sound && !fields.is_damaged();
}

std::optional<int64_t> Clocks::trace_time(uint64_t sequence, uint64_t clock, uint64_t time) {
    const uint64_t key = clock == 0 ? trace_clock_ : key_of(sequence, clock);
    auto time_ns = static_cast<int64_t>(time);
    if (const auto found = clocks_.find(key); found != clocks_.end()) {
        Clock& of_packet = found->second;
        if (key != trace_clock_) time_ns = product(time_ns, of_packet.unit_ns);
        if (of_packet.is_incremental) time_ns = of_packet.last_ns = sum(of_packet.last_ns, time_ns);
    }
    return through(key, time_ns, kLongestPath);
}

// The last snapshot before a time of a clock, or the first.
uint32_t Clocks::moment_of(const Clock& clock, int64_t time) {
    const auto& moments = clock.moments;
    if (clock.is_sorted) {
        auto after = std::upper_bound(moments.begin(), moments.end(), time,
                                      [](int64_t value, const auto& moment) { return value < moment.first; });
        return after == moments.begin() ? moments.front().second : std::prev(after)->second;
    }
    return moments.back().second;  // a clock that was set back
}

// A time of one clock on the clock of the trace: by a snapshot that shows both, or through a third clock that it shows,
// over at most `depth` snapshots. A clock runs as fast as any other between two snapshots.
std::optional<int64_t> Clocks::through(uint64_t clock, int64_t time, int depth) const {
    if (clock == trace_clock_) return time;
    const auto found = clocks_.find(clock);
    if (found == clocks_.end() || depth == 0) return std::nullopt;
    const std::vector<Reading>& readings = snapshots_[moment_of(found->second, time)];
    const auto reading_of = [&](uint64_t key) {
        return std::find_if(readings.begin(), readings.end(),
                            [&](const Reading& reading) { return reading.clock == key; });
    };
    const int64_t since_reading = difference(time, reading_of(clock)->time_ns);
    if (const auto at = reading_of(trace_clock_); at != readings.end()) return sum(at->time_ns, since_reading);
    for (const Reading& other : readings) {
        if (other.clock == clock) continue;
        if (const auto trace_time = through(other.clock, sum(other.time_ns, since_reading), depth - 1))
            return trace_time;
    }
    return std::nullopt;
}

}  // namespace wavewright::pftrace

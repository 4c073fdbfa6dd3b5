#include "wavewright/chrome_trace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace wavewright {
namespace {

constexpr size_t kBlock = size_t{1} << 20;
// No event is longer, but for its texts.
constexpr size_t kEvent = 512;
constexpr size_t kDigits = 32;  // of any number
// rpd2tracing lets the arrow begin a little before the call ends, so that viewers attach it to the call.
constexpr int64_t kBeforeEnd = 2000;

int64_t wrapped(uint64_t value) {
    return static_cast<int64_t>(value);
}

// Differences of any two times, without overflow being undefined.
int64_t minus(int64_t left, int64_t right) {
    return wrapped(static_cast<uint64_t>(left) - static_cast<uint64_t>(right));
}

}  // namespace

ChromeTrace::ChromeTrace(Sink sink) : sink_(std::move(sink)), buffer_(kBlock), at_(buffer_.data()) {
    put("{\"traceEvents\":[\n");
}

void ChromeTrace::flush() {
    const auto size = static_cast<size_t>(at_ - buffer_.data());
    if (size != 0) sink_({buffer_.data(), size});
    at_ = buffer_.data();
}

void ChromeTrace::room(size_t bytes) {
    if (static_cast<size_t>(buffer_.data() + buffer_.size() - at_) >= bytes) return;
    flush();
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    at_ = buffer_.data();
}

void ChromeTrace::text(std::string_view text) {
    room(text.size() + kEvent);
    put(text);
}

void ChromeTrace::begin_event() {
    room(kEvent);
    if (!std::exchange(is_first_, false)) put(",\n");
}

void ChromeTrace::number(int64_t value) {
    at_ = std::to_chars(at_, at_ + kDigits, value).ptr;
}

void ChromeTrace::microseconds(int64_t ns) {
    uint64_t magnitude = static_cast<uint64_t>(ns);
    if (ns < 0) {
        *at_++ = '-';
        magnitude = 0 - magnitude;
    }
    at_ = std::to_chars(at_, at_ + kDigits, magnitude / 1000).ptr;
    const unsigned rest = static_cast<unsigned>(magnitude % 1000);
    if (rest == 0) return;
    const char decimals[4] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                              static_cast<char>('0' + rest % 10)};
    put({decimals, sizeof decimals});
}

void ChromeTrace::open(char phase, int64_t pid) {
    begin_event();
    put("{\"ph\":\"");
    *at_++ = phase;
    put("\",\"pid\":");
    number(pid);
}

void ChromeTrace::events(std::span<const std::string> objects) {
    for (const std::string& object : objects) {
        begin_event();
        text(object);
    }
}

void ChromeTrace::slices(const ChromeSlices& rows, const JsonTexts& names, const JsonTexts& args) {
    for (size_t i = 0; i < rows.pid.size(); ++i) {
        open('X', rows.pid[i]);
        put(",\"tid\":");
        number(rows.tid[i]);
        put(",\"ts\":");
        microseconds(rows.begin[i]);
        put(",\"dur\":");
        microseconds(minus(rows.end[i], rows.begin[i]));
        put(",\"name\":");
        text(names[rows.name[i]]);
        put(",\"args\":");
        text(args[rows.args[i]]);
        put("}");
    }
    counts_.slices += rows.pid.size();
}

void ChromeTrace::marks(const ChromeSlices& rows, const JsonTexts& names, const JsonTexts& args) {
    for (size_t i = 0; i < rows.pid.size(); ++i) {
        open('i', rows.pid[i]);
        put(",\"tid\":");
        number(rows.tid[i]);
        put(",\"s\":\"p\",\"ts\":");
        microseconds(rows.begin[i]);
        put(",\"name\":");
        text(names[rows.name[i]]);
        put(",\"args\":");
        text(args[rows.args[i]]);
        put("}");
    }
    counts_.marks += rows.pid.size();
}

void ChromeTrace::counters(const ChromeCounters& rows, const JsonTexts& names) {
    for (size_t i = 0; i < rows.pid.size(); ++i) {
        if (!std::isfinite(rows.value[i])) continue;  // JSON has no such numbers
        open('C', rows.pid[i]);
        put(",\"name\":");
        text(names[rows.name[i]]);
        put(",\"ts\":");
        microseconds(rows.time[i]);
        put(",\"args\":{");
        text(names[rows.name[i]]);
        put(":");
        at_ = std::to_chars(at_, at_ + kDigits, rows.value[i]).ptr;
        put("}");
        put("}");
        ++counts_.counters;
    }
}

void ChromeTrace::counter(int64_t pid, std::string_view name, int64_t time, std::string_view key, int64_t value) {
    open('C', pid);
    put(",\"name\":\"");
    put(name);
    put("\",\"ts\":");
    microseconds(time);
    put(",\"args\":{\"");
    put(key);
    put("\":");
    number(value);
    put("}");
    put("}");
    ++counts_.counters;
}

void ChromeTrace::flows(const ChromeLaunches& rows) {
    const auto point = [&](char phase, int64_t pid, int64_t tid, int64_t time) {
        open(phase, pid);
        put(",\"tid\":");
        number(tid);
        put(",\"cat\":\"api_op\",\"name\":\"api_op\",\"ts\":");
        microseconds(time);
        put(",\"id\":");
        number(wrapped(last_flow_));
        if (phase == 'f') put(",\"bp\":\"e\"");
        put("}");
    };
    for (size_t i = 0; i < rows.pid.size(); ++i) {
        ++last_flow_;
        point('s', rows.pid[i], rows.tid[i], std::min(minus(rows.call_end[i], kBeforeEnd), rows.begin[i]));
        point('f', rows.gpu[i], rows.queue[i], rows.begin[i]);
    }
    counts_.flows += rows.pid.size();
}

void ChromeTrace::queue_depths(const ChromeLaunches& rows, int64_t last) {
    struct Step {
        int64_t gpu, time, change;
    };
    std::vector<Step> steps;
    steps.reserve(2 * rows.gpu.size());
    for (size_t i = 0; i < rows.gpu.size(); ++i) steps.push_back({rows.gpu[i], rows.call_begin[i], 1});
    for (size_t i = 0; i < rows.gpu.size(); ++i) steps.push_back({rows.gpu[i], rows.end[i], -1});
    std::stable_sort(steps.begin(), steps.end(), [](const Step& left, const Step& right) {
        return std::pair(left.gpu, left.time) < std::pair(right.gpu, right.time);
    });
    int64_t depth = 0, is_idle = 1;
    for (size_t i = 0; i < steps.size(); ++i) {
        const Step& step = steps[i];
        const bool wakes = is_idle != 0 && step.change > 0, sleeps = depth == 1 && step.change < 0;
        if (wakes || sleeps) {
            is_idle = sleeps ? 1 : 0;
            counter(step.gpu, "Idle", step.time, "idle", is_idle);
        }
        depth += step.change;
        counter(step.gpu, "QueueDepth", step.time, "depth", depth);
        if (i + 1 < steps.size() && steps[i + 1].gpu == step.gpu) continue;
        counter(step.gpu, "Idle", last, "idle", is_idle);
        counter(step.gpu, "QueueDepth", last, "depth", depth);
        depth = 0;
        is_idle = 1;
    }
}

void ChromeTrace::finish() {
    room(kEvent);
    put("\n]}\n");
    flush();
}

}  // namespace wavewright

// What is written from columns that can hold anything: Chrome traces stay JSON, Perfetto packets keep their lengths.
#include <algorithm>
#include <cmath>
#include <string>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/chrome_trace.hpp"
#include "wavewright/integer_rows.hpp"
#include "wavewright/perfetto.hpp"

namespace wavewright::fuzz {
namespace {

struct Rows {
    std::vector<int64_t> pid, tid, begin, end, call_begin, call_end, gpu, queue, id;
    std::vector<uint32_t> name;
    std::vector<uint64_t> track, number;
    std::vector<double> value;

    Rows(Bytes rest, size_t name_count) {
        int64_t now = 0;
        while (!rest.empty()) {
            const auto what = take<uint8_t>(rest);
            const bool is_wild = (what & 0x80) != 0;
            const auto any = [&](int64_t tame) { return is_wild ? take<int64_t>(rest) : tame; };
            pid.push_back(any(what % 2));
            tid.push_back(what % 3);
            begin.push_back(any(now += what % 16));
            end.push_back(any(now + take<uint8_t>(rest)));
            call_begin.push_back(any(now - 5));
            call_end.push_back(any(now - 2));
            gpu.push_back(what % 2);
            queue.push_back(what % 3);
            name.push_back(static_cast<uint32_t>(what % name_count));
            track.push_back(what % 3);
            number.push_back(static_cast<uint64_t>(any(what)));
            value.push_back(what % 9 == 0 ? std::nan("") : static_cast<double>(any(what)));
            id.push_back(what % 31 == 0 ? what : static_cast<int64_t>(id.size() + 1));
        }
    }
    size_t count() const { return pid.size(); }
};

// Texts up to NULs; always one.
std::vector<std::string> texts_of(Bytes& rest) {
    std::vector<std::string> texts;
    for (auto count = take<uint8_t>(rest) % 8; count >= 0; --count) {
        const auto end = std::find(rest.begin(), rest.end(), uint8_t{0});
        texts.emplace_back(rest.begin(), end);
        rest = end == rest.end() ? Bytes() : Bytes(end + 1, rest.end());
    }
    return texts;
}

void check_json(const std::string& text, const ChromeCounts& counts) {
    const ObjectMembers members = split_object(text);
    require(members.is_json && members.members.size() == 1 && members.members[0].key == "traceEvents",
            "a JSON object with its events");
    const auto lines = static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
    require(counts.slices + counts.marks + counts.counters <= lines, "a line for each event");
}

void write_chrome(const Rows& rows, const std::vector<std::string>& texts) {
    JsonTexts names, args;
    for (const std::string& text : texts) {
        names.add(text);
        args.add_object("text", text);
    }
    std::string text;
    ChromeTrace trace([&](std::string_view block) { text += block; });
    const ChromeSlices slices{rows.pid, rows.tid, rows.begin, rows.end, rows.name, rows.name};
    const ChromeLaunches launches{rows.pid, rows.tid,   rows.call_begin, rows.call_end,
                                  rows.gpu, rows.queue, rows.begin,      rows.end};
    trace.slices(slices, names, args);
    trace.marks(slices, names, args);
    trace.counters({rows.pid, rows.begin, rows.name, rows.value}, names);
    trace.flows(launches);
    trace.queue_depths(launches, rows.count() == 0 ? 0 : rows.end.back());
    trace.frames(launches, {rows.pid, rows.tid, rows.begin, rows.end, rows.name}, names);
    trace.finish();
    check_json(text, trace.counts());
}

// A Perfetto trace is packets one after the other: tag, length, content.
void check_packets(std::string_view bytes) {
    constexpr char kPacketTag = 0x0A;
    while (!bytes.empty()) {
        require(bytes.front() == kPacketTag, "a packet follows");
        bytes.remove_prefix(1);
        uint64_t length = 0;
        for (unsigned shift = 0;; shift += 7) {
            require(!bytes.empty() && shift < 64, "a packet has its length");
            const auto byte = static_cast<uint8_t>(bytes.front());
            bytes.remove_prefix(1);
            length |= uint64_t{byte & 0x7FU} << shift;
            if ((byte & 0x80) == 0) break;
        }
        require(length <= bytes.size(), "a packet has its content");
        bytes.remove_prefix(length);
    }
}

void write_perfetto(const Rows& rows) {
    PerfettoEvents events{rows.track, rows.begin, rows.end, rows.number, rows.number, rows.number};
    events.annotations = {{.name = 1, .integers = rows.pid},
                          {.name = 2, .kind = PerfettoAnnotation::Kind::Text, .integers = rows.id},
                          {.name = 3, .kind = PerfettoAnnotation::Kind::Fraction, .fractions = rows.value}};
    check_packets(perfetto_instants(events));
    check_packets(perfetto_points(rows.track, rows.begin, rows.value));
    for (const bool may_nest : {false, true}) {
        PerfettoSlices slices(100, may_nest);
        check_packets(slices.add(events));
        check_packets(slices.finish());
    }
}

}  // namespace

void fuzz_writers(Bytes input) {
    Bytes rest = input;
    const std::vector<std::string> texts = texts_of(rest);
    const Rows rows(rest.first(std::min<size_t>(rest.size(), 2048)), texts.size());
    write_chrome(rows, texts);
    write_perfetto(rows);
}

}  // namespace wavewright::fuzz

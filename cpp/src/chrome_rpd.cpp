#include "wavescope/chrome_rpd.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace wavescope {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kLongest = uint64_t{1} << 52;  // LONGEST_NS of model/run_tables.py
constexpr size_t kBlockRows = size_t{1} << 16;
constexpr int64_t kGpuSort = 1'000'000;

// Rows by ids that only grow. Most ids that are asked for follow the one before.
class Ids {
  public:
    explicit Ids(std::span<const int64_t> ids) : ids_(ids) {}

    bool are_plain() const {
        return ids_.size() < kNone &&
               std::adjacent_find(ids_.begin(), ids_.end(), std::greater_equal<>()) == ids_.end();
    }

    uint32_t row(int64_t id) {
        if (next_ >= ids_.size() || ids_[next_] != id) {
            next_ = static_cast<size_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
            if (next_ == ids_.size() || ids_[next_] != id) return kNone;
        }
        return static_cast<uint32_t>(next_++);
    }

  private:
    std::span<const int64_t> ids_;
    size_t next_ = 0;
};

// The rows of all of these ids; nothing when one of them has none.
std::optional<std::vector<uint32_t>> rows_of(std::span<const int64_t> wanted, std::span<const int64_t> ids) {
    Ids known(ids);
    std::vector<uint32_t> rows(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
        rows[i] = known.row(wanted[i]);
        if (rows[i] == kNone) return std::nullopt;
    }
    return rows;
}

// Forward, and not longer than an event can last.
bool are_sound(std::span<const int64_t> begin, std::span<const int64_t> end) {
    return std::equal(begin.begin(), begin.end(), end.begin(), [](int64_t from, int64_t to) {
        return from <= to && static_cast<uint64_t>(to) - static_cast<uint64_t>(from) < kLongest;
    });
}

// Neighbours are mostly equal.
std::set<int64_t> distinct(std::span<const int64_t> values) {
    std::set<int64_t> found;
    for (size_t i = 0; i < values.size(); ++i)
        if (i == 0 || values[i] != values[i - 1]) found.insert(values[i]);
    return found;
}

// Sums of any two numbers of a stranger's file.
int64_t plus(int64_t left, int64_t right) {
    return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

// Events that are slices, and events that are moments.
struct Rows {
    std::vector<int64_t> pid, tid, begin, end;
    std::vector<uint32_t> name, args;
    void add(const RpdCalls& calls, size_t row, uint32_t named, uint32_t said) {
        pid.push_back(calls.pid[row]);
        tid.push_back(calls.tid[row]);
        begin.push_back(calls.begin[row]);
        end.push_back(calls.end[row]);
        name.push_back(named);
        args.push_back(said);
    }
    void clear() {
        for (std::vector<int64_t>* column : {&pid, &tid, &begin, &end}) column->clear();
        for (std::vector<uint32_t>* column : {&name, &args}) column->clear();
    }
    ChromeSlices slices() const { return {pid, tid, begin, end, name, args}; }
    ChromeMarkers markers() const { return {pid, tid, begin, end, name}; }
};

struct Launched {
    std::vector<int64_t> pid, tid, call_begin, call_end, gpu, queue, begin, end;
    ChromeLaunches rows() const { return {pid, tid, call_begin, call_end, gpu, queue, begin, end}; }
};

JsonTexts escaped(const RpdStrings& strings) {
    JsonTexts made;
    for (size_t row = 0; row < strings.id.size(); ++row) made.add(strings.text[row]);
    return made;
}

JsonTexts described(const RpdStrings& strings) {
    JsonTexts made;
    for (size_t row = 0; row < strings.id.size(); ++row) made.add_object("desc", strings.text[row]);
    return made;
}

class Converter {
  public:
    Converter(const RpdTables& tables, ChromeTrace& trace)
        : tables_(tables), texts_(tables.texts.id.empty() ? tables.strings : tables.texts), trace_(trace) {}

    bool convert(bool with_flows) {
        if (!are_plain() || !find_names() || !find_launches() || !find_counters()) return false;
        const JsonTexts names = escaped(tables_.strings), kinds = described(tables_.strings);
        const JsonTexts texts = escaped(texts_), said = described(texts_);
        const RpdOps& ops = tables_.ops;
        trace_.slices({ops.gpu, ops.queue, ops.begin, ops.end, op_names_, op_types_}, names, kinds);
        write_calls(names, texts, said);
        if (with_flows) trace_.flows(launched_.rows());
        trace_.queue_depths(launched_.rows(), last());
        write_monitors();
        write_counters(names);
        trace_.frames(launched_.rows(), ranges_.markers(), texts);
        write_places();
        return true;
    }

  private:
    bool are_plain() {
        for (const std::span<const int64_t> ids : {tables_.strings.id, texts_.id, tables_.calls.id, tables_.ops.id})
            if (!Ids(ids).are_plain()) return false;
        gpus_ = distinct(tables_.ops.gpu);
        pids_ = distinct(tables_.calls.pid);
        std::set<int64_t> shown = gpus_;
        shown.insert(tables_.monitors.device.begin(), tables_.monitors.device.end());
        const auto is_odd = [&](int64_t pid) { return pid < 0 || pid >= tables_.pid_stride || shown.contains(pid); };
        return std::none_of(pids_.begin(), pids_.end(), is_odd) &&
               shown.lower_bound(tables_.gpu_stride) == shown.end() && are_sound(tables_.ops.begin, tables_.ops.end) &&
               are_sound(tables_.calls.begin, tables_.calls.end);
    }

    bool find_names() {
        const auto types = rows_of(tables_.ops.type, tables_.strings.id);
        const auto descriptions = rows_of(tables_.ops.description, tables_.strings.id);
        const auto functions = rows_of(tables_.calls.name, tables_.strings.id);
        const auto texts = rows_of(tables_.calls.text, texts_.id);
        if (!types || !descriptions || !functions || !texts) return false;
        op_types_ = *types;
        op_names_ = *descriptions;
        for (size_t i = 0; i < op_names_.size(); ++i)
            if (tables_.strings.text[op_names_[i]].empty()) op_names_[i] = op_types_[i];
        functions_ = *functions;
        call_texts_ = *texts;
        return true;
    }

    // Links to rows that do not exist are passed over, as RPD's own tools do.
    bool find_launches() {
        Ids calls(tables_.calls.id), ops(tables_.ops.id);
        std::vector<uint32_t> call_of(tables_.ops.id.size(), kNone);
        for (size_t i = 0; i < tables_.links.op.size(); ++i) {
            const uint32_t op = ops.row(tables_.links.op[i]), call = calls.row(tables_.links.call[i]);
            if (op == kNone || call == kNone) continue;
            if (call_of[op] != kNone) return false;
            call_of[op] = call;
        }
        for (size_t op = 0; op < call_of.size(); ++op) {
            if (call_of[op] == kNone) continue;
            const uint32_t call = call_of[op];
            launched_.pid.push_back(tables_.calls.pid[call]);
            launched_.tid.push_back(tables_.calls.tid[call]);
            launched_.call_begin.push_back(tables_.calls.begin[call]);
            launched_.call_end.push_back(tables_.calls.end[call]);
            launched_.gpu.push_back(tables_.ops.gpu[op]);
            launched_.queue.push_back(tables_.ops.queue[op]);
            launched_.begin.push_back(tables_.ops.begin[op]);
            launched_.end.push_back(tables_.ops.end[op]);
        }
        return true;
    }

    // The values of one counter for one op stand in several rows when there are several instances.
    bool find_counters() {
        const RpdCounters& counters = tables_.counters;
        const auto ops = rows_of(counters.op, tables_.ops.id), names = rows_of(counters.name, tables_.strings.id);
        if (!ops || !names) return false;
        std::vector<size_t> order(counters.value.size());
        std::iota(order.begin(), order.end(), size_t{0});
        const auto key = [&](size_t row) { return std::pair((*ops)[row], (*names)[row]); };
        const auto is_before = [&](size_t left, size_t right) { return key(left) < key(right); };
        if (!std::is_sorted(order.begin(), order.end(), is_before))
            std::stable_sort(order.begin(), order.end(), is_before);
        for (size_t i = 0; i < order.size(); ++i) {
            if (i == 0 || key(order[i]) != key(order[i - 1]))
                sums_.push_back({(*ops)[order[i]], (*names)[order[i]], 0});
            sums_.back().value += counters.value[order[i]];
        }
        return true;
    }

    void write_counters(const JsonTexts& names) {
        std::vector<int64_t> pid, time;
        std::vector<uint32_t> name;
        std::vector<double> value;
        const auto add = [&](const Sum& sum, int64_t when, double what) {
            pid.push_back(tables_.ops.gpu[sum.op]);
            time.push_back(when);
            name.push_back(sum.name);
            value.push_back(what);
        };
        for (const Sum& sum : sums_) {
            add(sum, tables_.ops.begin[sum.op], sum.value);
            add(sum, tables_.ops.end[sum.op], 0);
        }
        trace_.counters({pid, time, name, value}, names);
    }

    void write_calls(const JsonTexts& names, const JsonTexts& texts, const JsonTexts& said) {
        Rows plain, marks;
        for (size_t row = 0; row < tables_.calls.id.size(); ++row) {
            const uint32_t text = call_texts_[row];
            if (tables_.strings.text[functions_[row]] != "UserMarker") {
                plain.add(tables_.calls, row, functions_[row], text);
                if (plain.pid.size() < kBlockRows) continue;
                trace_.slices(plain.slices(), names, said);
                plain.clear();
            } else if (tables_.calls.begin[row] == tables_.calls.end[row]) {
                marks.add(tables_.calls, row, text, text);
            } else {
                ranges_.add(tables_.calls, row, text, text);
            }
        }
        trace_.slices(plain.slices(), names, said);
        trace_.slices(ranges_.slices(), texts, said);
        trace_.marks(marks.slices(), texts, said);
    }

    int64_t last() const {
        int64_t latest = 0;
        for (const int64_t end : tables_.calls.end) latest = std::max(latest, end);
        for (const int64_t end : tables_.ops.end) latest = std::max(latest, end);
        return latest;
    }

    void write_monitors() {
        const RpdMonitors& monitors = tables_.monitors;
        JsonTexts names;
        std::vector<int64_t> pid, time;
        std::vector<uint32_t> name;
        std::vector<double> value;
        std::map<std::pair<int64_t, std::string_view>, size_t> latest;
        const auto add = [&](size_t row, int64_t when) {
            const std::string_view text = monitors.value[row];
            double number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (error != std::errc() || end != text.data() + text.size()) return;
            name.push_back(static_cast<uint32_t>(names.size()));
            names.add(monitors.name[row]);
            pid.push_back(monitors.device[row]);
            time.push_back(when);
            value.push_back(number);
        };
        for (size_t row = 0; row < monitors.device.size(); ++row) {
            if (monitors.device_type[row] != "gpu") continue;
            add(row, monitors.begin[row]);
            const auto [place, is_new] = latest.try_emplace({monitors.device[row], monitors.name[row]}, row);
            if (!is_new && monitors.end[row] >= monitors.end[place->second]) place->second = row;
        }
        for (const auto& [place, row] : latest) add(row, monitors.end[row]);
        trace_.counters({pid, time, name, value}, names);
    }

    void write_places() {
        std::vector<std::string> events;
        const auto name = [&](std::string_view kind, const std::string& place, const std::string& shown, int64_t sort) {
            const std::string start = "{\"ph\":\"M\"," + place + ",\"name\":\"" + std::string(kind);
            events.push_back(start + "_name\",\"args\":{\"name\":\"" + shown + "\"}}");
            events.push_back(start + "_sort_index\",\"args\":{\"sort_index\":" + std::to_string(sort) + "}}");
        };
        for (const int64_t gpu : gpus_)
            name("process", "\"pid\":" + std::to_string(gpu), "GPU" + std::to_string(gpu), plus(gpu, kGpuSort));
        std::set<std::pair<int64_t, int64_t>> threads;
        std::pair<int64_t, int64_t> before{-1, -1};
        for (size_t row = 0; row < tables_.calls.pid.size(); ++row) {
            const std::pair thread(tables_.calls.pid[row], tables_.calls.tid[row]);
            if (thread != std::exchange(before, thread)) threads.insert(thread);
        }
        for (const auto& [pid, tid] : threads) {
            const std::string place = "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
            name("thread", place, "Hip " + std::to_string(tid), plus(tid, tid));
        }
        trace_.events(events);
    }

    const RpdTables& tables_;
    const RpdStrings& texts_;
    ChromeTrace& trace_;
    std::set<int64_t> gpus_, pids_;
    std::vector<uint32_t> op_names_, op_types_, functions_, call_texts_;
    struct Sum {
        uint32_t op, name;
        double value;
    };

    Launched launched_;
    std::vector<Sum> sums_;
    Rows ranges_;
};

}  // namespace

bool write_chrome_of_rpd(const RpdTables& tables, bool with_flows, ChromeTrace& trace) {
    return Converter(tables, trace).convert(with_flows);
}

}  // namespace wavescope

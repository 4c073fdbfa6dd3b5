// An RPD file as a Chrome trace, straight from its tables.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "wavescope/chrome_trace.hpp"

namespace wavescope {

struct TextColumn {
    std::span<const int64_t> ends;  // a 0, then the end of every text
    const char* bytes = nullptr;
    std::string_view operator[](size_t row) const {
        return {bytes + ends[row], static_cast<size_t>(ends[row + 1] - ends[row])};
    }
};

struct RpdStrings {
    std::span<const int64_t> id;
    TextColumn text;
};

struct RpdCalls {
    std::span<const int64_t> id, pid, tid, begin, end, name, text;
};

struct RpdOps {
    std::span<const int64_t> id, gpu, queue, begin, end, description, type;
};

struct RpdLinks {
    std::span<const int64_t> call, op;
};

struct RpdMonitors {
    TextColumn device_type, name, value;
    std::span<const int64_t> device, begin, end;
};

struct RpdCounters {
    std::span<const int64_t> op, name;
    std::span<const double> value;
};

struct RpdTables {
    RpdStrings strings;
    RpdStrings texts;  // of arguments and markers; no ids = they are among the strings
    RpdCalls calls;
    RpdOps ops;
    RpdLinks links;
    RpdMonitors monitors;
    RpdCounters counters;
    int64_t pid_stride = INT64_MAX, gpu_stride = INT64_MAX;  // ids from here on are of another node
};

// False, and nothing written, when the tables are not plain: ids out of order or twice, rows that refer to nothing,
// times that run backwards, work of two calls, GPUs with the number of a process, several nodes. Such files need a
// closer look than this.
bool write_chrome_of_rpd(const RpdTables& tables, bool with_flows, ChromeTrace& trace);

}  // namespace wavescope

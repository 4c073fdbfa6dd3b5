#include "code_on_demand.hpp"

#include <algorithm>

namespace wavewright {
namespace {

// Sources that answer for any address must not be asked for ever.
constexpr size_t kMostLines = size_t{1} << 20;
// A round finds the code behind the places that the one before it looked for: calls by register, code in other objects.
constexpr int kMostRounds = 32;

// Where trace and code do not match, the decoder may look a little behind the end of a kernel.
constexpr int kLinesBehindEnd = 16;

constexpr uint64_t kLeastLineBytes = 4;

bool ends_code(std::string_view text) {
    return text.starts_with("s_endpgm");
}

}  // namespace

Records CodeOnDemand::decode(std::span<const uint8_t> bytes) {
    for (int round = 0;; ++round) {
        std::vector<Pc> missing;
        program_.note_missing(&missing);
        const Options options{.rows = line_count_ != 0};  // without code there is nothing yet that will be delivered
        Records records = wavewright::decode(bytes, program_, options);
        program_.note_missing(nullptr);
        const bool has_more = round < kMostRounds && add_lines_from(missing);
        if (!has_more && options.rows) return records;
        if (!has_more) return wavewright::decode(bytes, program_);
        build_program();
    }
}

// The lines from each place on to an end of code, and those that branches lead to. True = there was one.
bool CodeOnDemand::add_lines_from(std::span<const Pc> places) {
    const size_t count_before = line_count_;
    std::vector<Pc> starts(places.begin(), places.end());
    while (!starts.empty()) {
        Pc pc = starts.back();
        starts.pop_back();
        int lines_behind_end = -1;  // -1 = before it
        while (pc.known() && line_count_ < kMostLines && lines_behind_end < kLinesBehindEnd) {
            auto& lines = lines_[pc.object];
            const auto [at, is_new] = lines.try_emplace(pc.address);
            SourceLine& line = at->second;
            if (line.is_followed) break;
            if (is_new && !source_(pc, line)) {
                lines.erase(at);
                break;
            }
            line_count_ += is_new;
            line.size_bytes = std::max(line.size_bytes, kLeastLineBytes);
            line.is_followed = lines_behind_end < 0;
            if (line.is_followed && classify(line.text, Dialect::gfx9) == LineClass::branch) {
                starts.push_back({branch_target(pc.address, line.text), pc.object});
            }
            if (!line.is_followed || ends_code(line.text)) ++lines_behind_end;
            pc.address += line.size_bytes;
        }
    }
    return line_count_ != count_before;
}

void CodeOnDemand::build_program() {
    program_ = Program();
    for (const auto& [object, lines] : lines_) {
        std::string listing;
        for (const auto& [address, line] : lines) {
            std::string text = line.text;
            std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
            listing += std::to_string(address) + '\t' + std::to_string(line.size_bytes) + '\t' + text + '\n';
        }
        program_.add_listing(object, std::nullopt, listing);
    }
    program_.link();
}

}  // namespace wavewright

// Marker names: the `.sqtt_funcmap` section of a code object (spec_rdna 12.2).
#include <algorithm>
#include <charconv>

#include "wavewright/program.hpp"

namespace wavewright {
namespace {

// All of `text` as a decimal number of 32 bits.
bool parse_u32(std::string_view text, uint32_t& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end;
}

// Splits at the first separator; false when there is none.
bool split(std::string_view text, char separator, std::string_view& head, std::string_view& rest) {
    const size_t at = text.find(separator);
    head = text.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
    return at != std::string_view::npos;
}

// Calls visit(key, value) for every `key=value` between semicolons.
template <class Visitor>
void each_attribute(std::string_view attributes, Visitor&& visit) {
    while (!attributes.empty()) {
        std::string_view attribute, key, value;
        split(attributes, ';', attribute, attributes);
        if (split(attribute, '=', key, value)) visit(key, value);
    }
}

class FuncMapParser {
  public:
    // Reads one row; false when it makes no sense.
    bool read(std::string_view row) {
        if (row.size() < 2 || row[1] != ':') return false;
        const std::string_view body = row.substr(2);
        switch (row[0]) {
            case 'F': return read_marker(MarkerKind::function, body);
            case 'U': return read_marker(MarkerKind::user_scope, body);
            case 'P': return read_marker(MarkerKind::point, body);
            case 'K': return add(MarkerKind::kernel, 0, body);
            case 'W': return parse_u32(body, map_.wave_size);
            case 'R': return read_payload(body);
            case 'M': return read_clock(body);
            default: return false;
        }
    }

    FuncMap finish() {
        for (MarkerName& row : map_.rows) {
            const auto count = payload_counts_.find(row.id);
            if (row.kind != MarkerKind::kernel && count != payload_counts_.end()) row.payload_count = count->second;
        }
        return std::move(map_);
    }

  private:
    bool read_marker(MarkerKind kind, std::string_view body) {
        std::string_view id_text, named;
        uint32_t id = 0;
        return split(body, ':', id_text, named) && parse_u32(id_text, id) && add(kind, id, named);
    }

    bool add(MarkerKind kind, uint32_t id, std::string_view named) {
        std::string_view name, location;
        split(named, '@', name, location);
        if (name.empty()) return false;
        if (kind != MarkerKind::kernel) map_.by_id[id] = map_.rows.size();
        map_.rows.push_back({kind, id, 0, std::string(name), std::string(location)});
        return true;
    }

    bool read_payload(std::string_view body) {
        std::string_view id_text, attributes;
        uint32_t id = 0;
        if (!split(body, ':', id_text, attributes) || !parse_u32(id_text, id)) return false;
        bool readable = true;
        each_attribute(attributes, [&](std::string_view key, std::string_view value) {
            uint32_t count = 0;
            if (key != "extra_payload_count") return;
            if (parse_u32(value, count))
                payload_counts_[id] = count;
            else
                readable = false;
        });
        return readable;
    }

    bool read_clock(std::string_view body) {
        uint32_t bits = 0, shift = 0;
        bool readable = true, has_bits = false, has_shift = false;
        each_attribute(body, [&](std::string_view key, std::string_view value) {
            if (key == "shader_clock_bits") readable &= has_bits = parse_u32(value, bits);
            if (key == "shader_clock_shift") readable &= has_shift = parse_u32(value, shift);
        });
        if (!readable) return false;
        if (!has_bits) return true;
        // One bit of the id must stay, and the window must lie inside the 32-bit clock.
        constexpr uint32_t kMaxBits = 29, kClockBits = 32;
        if (bits > kMaxBits || shift > kClockBits || bits > kClockBits - shift || (bits > 0 && !has_shift))
            return false;
        map_.clock_bits = bits;
        map_.clock_shift = shift;
        return true;
    }

    FuncMap map_;
    std::unordered_map<uint32_t, uint32_t> payload_counts_;
};

}  // namespace

size_t Program::add_funcmap(uint64_t object, std::string_view text) {
    constexpr std::string_view kRowEnds("\n\0", 2), kBlank(" \t\r");
    FuncMapParser parser;
    size_t unreadable = 0;
    while (!text.empty()) {
        const size_t end = std::min(text.find_first_of(kRowEnds), text.size());
        std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        row = row.substr(0, row.find_last_not_of(kBlank) + 1);
        if (!row.empty() && !parser.read(row)) ++unreadable;
    }
    funcmaps_[object] = parser.finish();
    return unreadable;
}

const FuncMap* Program::funcmap(uint64_t object) const {
    const auto at = funcmaps_.find(object);
    return at == funcmaps_.end() ? nullptr : &at->second;
}

}  // namespace wavewright

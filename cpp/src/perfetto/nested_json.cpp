// Annotations that are dictionaries or lists, as JSON.
#include <charconv>
#include <cmath>

#include "base/json_escape.hpp"
#include "perfetto/packets.hpp"

namespace wavewright::pftrace {
namespace {

constexpr int kDeepest = 32;

template <class Number>
void append_number(std::string& out, Number value) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    out.append(digits, end.ptr);
}

void append_text(std::string& out, Text text) {
    out += '"';
    escape_json(out, text);
    out += '"';
}

}  // namespace

// The value of one field of a DebugAnnotation; false when the field is none.
bool Packets::json_value(const Sequence& sequence, const Field& field, std::string& out) {
    const auto value = [&](uint64_t number) {
        const auto found = sequence.values.find(number);
        return found == sequence.values.end() ? Text{} : texts[found->second];
    };
    switch (field.number) {
        case 2: out += field.value != 0 ? "true" : "false"; return true;
        case 3:
        case 7: append_number(out, field.value); return true;
        case 4: append_number(out, field.integer()); return true;
        case 5:
            if (std::isfinite(field.fraction()))
                append_number(out, field.fraction());
            else
                out += "null";
            return true;
        case 6:
        case 9: append_text(out, field.bytes); return true;
        case 17: append_text(out, value(field.value)); return true;
        default: return false;
    }
}

// False when it is too deep, too long, or damaged. Lists and dictionaries are told by their first entry.
bool Packets::json_of(const Sequence& sequence, Text message, std::string& out, int depth) {
    if (depth == kDeepest || out.size() > json_left_) return false;
    uint32_t list = 0;
    bool has_value = false;
    const size_t begin = out.size();
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        if ((field.number == 11 || field.number == 12) && field.is_bytes()) {
            if (list == 0) {
                list = field.number;
                out.resize(begin);
                out += list == 11 ? '{' : '[';
            } else if (list != field.number) {
                continue;
            } else {
                out += ',';
            }
            if (list == 11) {
                Text name;
                Fields entry(field.bytes);
                while (entry.next()) {
                    if (entry.field.number == 1) name = texts[interned_name(sequence, entry.field)];
                    if (entry.field.number == 10) name = entry.field.bytes;
                }
                append_text(out, name);
                out += ':';
            }
            if (!json_of(sequence, field.bytes, out, depth + 1)) return false;
        } else if (list == 0) {
            std::string simple;
            if (!json_value(sequence, field, simple)) continue;
            if (simple.size() > json_left_) return false;
            json_left_ -= simple.size();
            out.resize(begin);
            out += simple;
            has_value = true;
        }
        if (out.size() > json_left_) return false;
    }
    if (list != 0)
        out += list == 11 ? '}' : ']';
    else if (!has_value)
        out += "null";
    return !fields.is_damaged();
}

}  // namespace wavewright::pftrace

// Annotations that are dictionaries or lists, as JSON: the methods of Packets that write it.
#include <charconv>
#include <cmath>

#include "base/json_escape.hpp"
#include "perfetto/fields.hpp"
#include "perfetto/packets.hpp"

namespace wavewright::pftrace {
namespace {

constexpr int kDeepest = 32;  // annotations inside of each other; bounds the stack

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
        case debug_annotation::bool_value: out += field.value != 0 ? "true" : "false"; return true;
        case debug_annotation::uint_value:
        case debug_annotation::pointer_value: append_number(out, field.value); return true;
        case debug_annotation::int_value: append_number(out, field.integer()); return true;
        case debug_annotation::double_value:
            if (std::isfinite(field.fraction()))
                append_number(out, field.fraction());
            else
                out += "null";
            return true;
        case debug_annotation::string_value:
        case debug_annotation::legacy_json_value: append_text(out, field.bytes); return true;
        case debug_annotation::string_value_iid: append_text(out, value(field.value)); return true;
        default: return false;
    }
}

// Appends an annotation as JSON: a dictionary or a list, as its first entry says (entries of the other kind are left
// out), else its last simple value, else null. False when it is too deep, too long, or damaged.
bool Packets::json_of(const Sequence& sequence, Text message, std::string& out, int depth) {
    if (depth == kDeepest || out.size() > json_left_) return false;
    uint32_t entries = 0;  // the field of its entries; 0 = it has none so far
    bool has_value = false;
    const size_t begin = out.size();
    Fields fields(message);
    while (fields.next()) {
        const Field& field = fields.field;
        const bool is_entry =
            field.number == debug_annotation::dict_entries || field.number == debug_annotation::array_values;
        if (is_entry && field.is_bytes()) {
            if (entries == 0) {
                entries = field.number;
                out.resize(begin);  // a simple value before the first entry does not count
                out += entries == debug_annotation::dict_entries ? '{' : '[';
            } else if (entries != field.number) {
                continue;
            } else {
                out += ',';
            }
            if (entries == debug_annotation::dict_entries) {
                Text name;
                Fields entry(field.bytes);
                while (entry.next()) {
                    const Field& part = entry.field;
                    if (part.number == debug_annotation::name_iid) name = texts[interned_name(sequence, part)];
                    if (part.number == debug_annotation::name) name = part.bytes;
                }
                append_text(out, name);
                out += ':';
            }
            if (!json_of(sequence, field.bytes, out, depth + 1)) return false;
        } else if (entries == 0) {
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
    if (entries != 0)
        out += entries == debug_annotation::dict_entries ? '}' : ']';
    else if (!has_value)
        out += "null";
    return !fields.is_damaged();
}

}  // namespace wavewright::pftrace

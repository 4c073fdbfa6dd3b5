#include <array>

#include "wavescope/chrome_trace.hpp"

namespace wavescope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the character that begins `text`; 0 when it is no sound UTF-8.
size_t sound_length(std::string_view text) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    const bool is_overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool is_surrogate = lead == 0xED && byte(1) > 0x9F;
    const bool is_too_high = lead == 0xF4 && byte(1) > 0x8F;
    return is_overlong || is_surrogate || is_too_high ? 0 : length;
}

void escape(std::string& out, std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += text[i++];
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\u00";
            out += kHex[byte >> 4];
            out += kHex[byte & 15];
            ++i;
        } else if (const size_t length = sound_length(text.substr(i)); length != 0) {
            out.append(text, i, length);
            i += length;
        } else {
            out += kReplacement;
            ++i;
        }
    }
}

}  // namespace

void JsonTexts::add(std::string_view text) {
    bytes_ += '"';
    escape(bytes_, text);
    bytes_ += '"';
    ends_.push_back(bytes_.size());
}

void JsonTexts::add_raw(std::string_view json) {
    bytes_ += json;
    ends_.push_back(bytes_.size());
}

void JsonTexts::add_object(std::string_view key, std::string_view text) {
    bytes_ += "{\"";
    escape(bytes_, key);
    bytes_ += "\":\"";
    escape(bytes_, text);
    bytes_ += "\"}";
    ends_.push_back(bytes_.size());
}

}  // namespace wavescope

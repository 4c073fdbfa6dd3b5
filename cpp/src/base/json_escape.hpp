// Texts in JSON: any bytes become UTF-8, control characters and quotes are escaped.
#pragma once

#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace wavewright {

inline void escape_json(std::string& out, std::string_view text) {
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
        } else {
            const int length = character_length(text.substr(i));
            const auto taken = static_cast<size_t>(length < 0 ? -length : length);
            out += length < 0 ? kReplacement : text.substr(i, taken);
            i += taken;
        }
    }
}

}  // namespace wavewright

#include "base/utf8.hpp"
#include "wavewright/chrome_trace.hpp"

namespace wavewright {
namespace {

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
        } else {
            const int length = character_length(text.substr(i));
            const auto taken = static_cast<size_t>(length < 0 ? -length : length);
            out += length < 0 ? kReplacement : text.substr(i, taken);
            i += taken;
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

}  // namespace wavewright

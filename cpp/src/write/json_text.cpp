#include "base/json_escape.hpp"
#include "wavewright/chrome_trace.hpp"

namespace wavewright {

void JsonTexts::add(std::string_view text) {
    bytes_ += '"';
    escape_json(bytes_, text);
    bytes_ += '"';
    ends_.push_back(bytes_.size());
}

void JsonTexts::add_raw(std::string_view json) {
    bytes_ += json;
    ends_.push_back(bytes_.size());
}

void JsonTexts::add_object(std::string_view key, std::string_view text) {
    bytes_ += "{\"";
    escape_json(bytes_, key);
    bytes_ += "\":\"";
    escape_json(bytes_, text);
    bytes_ += "\"}";
    ends_.push_back(bytes_.size());
}

}  // namespace wavewright

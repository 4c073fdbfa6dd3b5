// Decoding with code that somebody hands out line by line, as the calls of AMD's decoder do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "wavewright/decode.hpp"

namespace wavewright {

class CodeOnDemand {
  public:
    struct SourceLine {
        std::string text;
        uint64_t size_bytes = 0;
        bool is_followed = false;  // the lines after it are known too
    };
    // Fills in the line at a place; false = there is none.
    using Source = std::function<bool(Pc, SourceLine&)>;

    explicit CodeOnDemand(Source source) : source_(std::move(source)) {}

    // Decodes a buffer, and again with more code until it looks for no place that the source has. Lines stay known for
    // the next buffer.
    Records decode(std::span<const uint8_t> bytes);
    const Program& program() const { return program_; }

  private:
    bool add_lines_from(std::span<const Pc> places);
    void build_program();

    Source source_;
    std::map<uint64_t, std::map<uint64_t, SourceLine>> lines_;  // by code object and address
    size_t line_count_ = 0;
    Program program_;
};

}  // namespace wavewright

// The distinct texts of a trace, numbered; most lie where they are in the file.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "perfetto/wire.hpp"

namespace wavewright::pftrace {

class Texts {
  public:
    Texts() { number({}); }

    // The number of a text that lives as long as the file; 0 is the empty one.
    uint32_t number(Text text) {
        const auto [at, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(all_.size()));
        if (is_new) all_.push_back(text);
        return at->second;
    }

    uint32_t keep(std::string text) {
        const auto found = numbers_.find(text);
        return found != numbers_.end() ? found->second : number(made_.emplace_back(std::move(text)));
    }

    // The number of a text if the file has it; else one that nothing has.
    uint32_t find(Text text) const {
        const auto found = numbers_.find(text);
        return found == numbers_.end() ? UINT32_MAX : found->second;
    }

    Text operator[](uint32_t number) const { return all_[number]; }
    const std::vector<Text>& all() const { return all_; }

  private:
    std::unordered_map<Text, uint32_t> numbers_;
    std::vector<Text> all_;
    std::deque<std::string> made_;
};

}  // namespace wavewright::pftrace

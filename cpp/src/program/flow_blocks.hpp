// Basic blocks of code rows, and what follows what. Blocks without rows stand for sets of ways that many share: into
// any function, and back from one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wavewright/live_registers.hpp"

namespace wavewright {

struct Block {
    uint32_t begin = 0;  // first row
    uint32_t end = 0;    // behind its last row
    bool leads_anywhere = false;
};

class Blocks {
  public:
    explicit Blocks(const CodeRows& code);

    size_t size() const { return blocks_.size(); }
    const Block& operator[](size_t block) const { return blocks_[block]; }
    std::span<const uint32_t> after(size_t block) const { return slice(after_, first_after_, block); }
    std::span<const uint32_t> before(size_t block) const { return slice(before_, first_before_, block); }
    // Blocks with which kernels and other functions start.
    std::span<const uint32_t> starts() const { return starts_; }

  private:
    struct Edge {
        uint32_t from;
        uint32_t to;
    };

    void cut(const CodeRows& code);
    std::vector<Edge> edges(const CodeRows& code);
    void index(const std::vector<Edge>& edges);

    static std::span<const uint32_t> slice(const std::vector<uint32_t>& values, const std::vector<size_t>& firsts,
                                           size_t block) {
        return std::span(values).subspan(firsts[block], firsts[block + 1] - firsts[block]);
    }

    std::vector<Block> blocks_;
    std::vector<uint32_t> block_of_;  // by row
    std::vector<uint32_t> starts_;
    std::vector<uint32_t> after_, before_;
    std::vector<size_t> first_after_, first_before_;
};

}  // namespace wavewright

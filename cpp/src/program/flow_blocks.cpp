// A block begins at starts, targets and behind every row that does not just go on.
#include "program/flow_blocks.hpp"

namespace wavewright {
namespace {

Flow flow_of(const CodeRows& code, size_t row) {
    return static_cast<Flow>(code.flow[row]);
}

bool has_target(const CodeRows& code, size_t row) {
    return code.target[row] >= 0 && static_cast<size_t>(code.target[row]) < code.flow.size();
}

}  // namespace

Blocks::Blocks(const CodeRows& code) {
    cut(code);
    index(edges(code));
}

void Blocks::cut(const CodeRows& code) {
    const size_t rows = code.flow.size();
    std::vector<uint8_t> begins(rows + 1, 0);
    begins[0] = 1;
    for (size_t row = 0; row < rows; ++row) {
        if (code.starts[row]) begins[row] = 1;
        if (flow_of(code, row) != Flow::next) begins[row + 1] = 1;
        if (has_target(code, row)) begins[static_cast<size_t>(code.target[row])] = 1;
    }
    block_of_.resize(rows);
    for (size_t row = 0; row < rows; ++row) {
        if (begins[row]) blocks_.push_back({static_cast<uint32_t>(row), static_cast<uint32_t>(row)});
        blocks_.back().end = static_cast<uint32_t>(row + 1);
        block_of_[row] = static_cast<uint32_t>(blocks_.size() - 1);
        if (code.starts[row]) starts_.push_back(block_of_[row]);
    }
}

std::vector<Blocks::Edge> Blocks::edges(const CodeRows& code) {
    const size_t rows = code.flow.size();
    const auto real = static_cast<uint32_t>(blocks_.size());
    std::vector<uint32_t> function_of(real);  // the function's number in `starts_`, plus one
    uint32_t function = 0;
    for (uint32_t block = 0; block < real; ++block) {
        if (function < starts_.size() && starts_[function] == block) ++function;
        function_of[block] = function;
    }
    // Blocks without rows: into any function; behind a call of any function; back from each function.
    const uint32_t any_function = real, any_back = real + 1, first_back = real + 2;
    blocks_.resize(real + 2 + starts_.size() + 1);
    std::vector<Edge> edges;
    bool has_functions = false;
    for (uint32_t number = 0; number < starts_.size(); ++number) {
        edges.push_back({first_back + number + 1, any_back});
        if (code.starts[blocks_[starts_[number]].begin] != 2) continue;
        has_functions = true;
        edges.push_back({any_function, starts_[number]});
    }
    for (uint32_t block = 0; block < real; ++block) {
        const size_t last = blocks_[block].end - 1;
        const bool is_last = last + 1 == rows;
        const Flow flow = flow_of(code, last);
        const auto next = [&] {
            if (!is_last) edges.push_back({block, block + 1});
        };
        if (flow == Flow::next || flow == Flow::branch) next();
        if (flow == Flow::branch || flow == Flow::jump) {
            if (has_target(code, last))
                edges.push_back({block, block_of_[static_cast<size_t>(code.target[last])]});
            else
                blocks_[block].leads_anywhere = true;
        } else if (flow == Flow::call && has_target(code, last)) {
            const uint32_t callee = block_of_[static_cast<size_t>(code.target[last])];
            edges.push_back({block, callee});
            if (!is_last) edges.push_back({first_back + function_of[callee], block + 1});
        } else if (flow == Flow::call) {
            next();
            if (!is_last) edges.push_back({any_back, block + 1});
            if (has_functions) edges.push_back({block, any_function});
            blocks_[block].leads_anywhere = !has_functions;
        } else if (flow == Flow::back) {
            edges.push_back({block, first_back + function_of[block]});
        } else if (flow == Flow::anywhere) {
            blocks_[block].leads_anywhere = true;
        }
    }
    return edges;
}

void Blocks::index(const std::vector<Edge>& edges) {
    const auto fill = [&](std::vector<uint32_t>& values, std::vector<size_t>& firsts, auto key, auto value) {
        firsts.assign(blocks_.size() + 1, 0);
        for (const Edge& edge : edges) ++firsts[key(edge) + 1];
        for (size_t block = 0; block < blocks_.size(); ++block) firsts[block + 1] += firsts[block];
        values.resize(edges.size());
        std::vector<size_t> at(firsts.begin(), firsts.end() - 1);
        for (const Edge& edge : edges) values[at[key(edge)]++] = value(edge);
    };
    const auto from = [](const Edge& edge) { return edge.from; };
    const auto to = [](const Edge& edge) { return edge.to; };
    fill(after_, first_after_, from, to);
    fill(before_, first_before_, to, from);
}

}  // namespace wavewright

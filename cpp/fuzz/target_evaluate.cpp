// Texts, paths and rules from strangers: the evaluator must neither crash nor count what cannot be.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/evaluate.hpp"

namespace wavewright::fuzz {
namespace {

constexpr size_t kMostRows = 64, kMostSteps = 512;
constexpr std::array<std::string_view, 5> kColumns = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};

}  // namespace

void fuzz_evaluate(Bytes input) {
    using namespace wavewright::evaluate;
    if (input.size() < 2) return;
    const unsigned lane_count = (input[0] & 1) != 0 ? 32 : 64;
    EvaluatedCode code;
    code.column = std::string(kColumns[(input[0] >> 1) % kColumns.size()]);
    code.lds_rules.push_back({32, {0xFFFFFFFF, 0xFFFFFFFF00000000}});
    code.group_lanes = 16;
    code.segment_bytes = 64;
    const uint8_t seed = input[1];
    std::string line;
    const auto end_line = [&] {
        if (line.empty() || code.texts.size() >= kMostRows) return;
        RowAccess access;
        if (line.starts_with("ds_") && !line.starts_with("ds_bperm") && !line.starts_with("ds_perm") &&
            !line.starts_with("ds_swiz"))
            access = {Space::lds, Direction::load, 4, 0, false};
        if (line.starts_with("global_")) access = {Space::global, Direction::load, 16, -1, true};
        if (line.starts_with("buffer_")) access = {Space::buffer, Direction::store, 8, -1, true};
        code.access.push_back(access);
        code.target.push_back(line.starts_with("s_cbranch") ? static_cast<int32_t>(line.size() % 7) : -1);
        code.texts.push_back(line);
        line.clear();
    };
    for (const uint8_t byte : input.subspan(2)) {
        if (byte == '\n')
            end_line();
        else if (line.size() < 120)
            line.push_back(static_cast<char>(byte));
    }
    end_line();
    const size_t rows = code.texts.size();
    if (rows == 0) return;
    std::vector<int32_t> path;
    int32_t row = 0;
    for (size_t step = 0; step < kMostSteps && row < static_cast<int32_t>(rows); ++step) {
        path.push_back(row);
        const int32_t target = code.target[static_cast<size_t>(row)];
        row = target >= 0 && ((seed + step) & 1) != 0 ? target : row + 1;
    }
    if ((seed & 0x10) != 0) path.push_back(-1);
    Start start;
    start.lane_count = lane_count;
    start.packed_ids = (seed & 2) != 0;
    start.id_registers = 3;
    if ((seed & 4) != 0) start.workgroup[0] = 16, start.workgroup[1] = 3;
    start.registers = {{4, StartContent::address_low, 0},
                       {5, StartContent::address_high, 0},
                       {6, StartContent::workgroup_id, 0},
                       {7, StartContent::constant, 12},
                       {8, StartContent::argument, 8}};
    start.regions.push_back({std::vector<uint8_t>(32, seed), std::vector<uint8_t>(32, 1), std::vector<uint8_t>(32, 0)});
    start.regions.front().certain[9] = 0;
    const Evaluator evaluator(code, lane_count);
    const Evaluation result = evaluator.run(start, seed & 3, path, {.most_patterns = 8, .has_executions = true});
    for (size_t each = 0; each < rows; ++each) {
        const RowSums& sums = result.rows;
        require(sums.known_count[each] <= sums.execution_count[each], "more known than executed");
        require(sums.cost_known_count[each] <= sums.known_count[each], "more costs than addresses");
        require(sums.active_lane_total[each] <= uint64_t{sums.mask_known_count[each]} * lane_count, "too many lanes");
        require(sums.least_segment_total[each] <= sums.segment_total[each], "fewer segments than the least");
    }
}

}  // namespace wavewright::fuzz

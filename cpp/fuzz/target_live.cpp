#include <algorithm>
#include <array>

#include "checks.hpp"
#include "targets.hpp"
#include "wavewright/isa.hpp"
#include "wavewright/live_registers.hpp"

namespace wavewright::fuzz {
namespace {

constexpr size_t kMaxRows = 96;
constexpr uint8_t kKindsOfFlow = 8;  // one more than there are

// Code that few registers go through, so that rows concern each other; now and then any register.
struct Code {
    std::vector<uint8_t> flow, mask_change, habits, starts, operand_count, operand_role;
    std::vector<int32_t> target, wanted;
    std::vector<uint32_t> operand_row;
    std::vector<uint16_t> operand_register, given;

    CodeRows rows() const {
        return {flow,        target,           mask_change,   habits,       starts,
                operand_row, operand_register, operand_count, operand_role, given};
    }
};

uint16_t register_of(Bytes& input) {
    const auto choice = take<uint8_t>(input);
    const uint16_t number = choice & 7;
    constexpr std::array<uint16_t, 4> kFirst{isa::sgpr0, isa::vgpr0, isa::agpr0, isa::m0};
    return (choice & 0xE0) == 0xE0 ? take<uint16_t>(input) : static_cast<uint16_t>(kFirst[choice >> 3 & 3] + number);
}

Code code_of(Bytes input) {
    Code code;
    for (size_t left = take<uint8_t>(input) % 4; left > 0; --left) code.given.push_back(register_of(input));
    while (!input.empty() && code.flow.size() < kMaxRows) {
        const auto row = static_cast<uint32_t>(code.flow.size());
        const auto step = take<uint8_t>(input), more = take<uint8_t>(input);
        code.flow.push_back(step % kKindsOfFlow);
        code.mask_change.push_back(step >> 3 & 3);
        code.starts.push_back(row == 0 ? 1 : step >> 5 == 7 ? 2 : 0);
        code.habits.push_back(more & 15);
        code.target.push_back(code.flow.back() == 0 ? -1 : take<int8_t>(input));
        if ((more & 0x30) == 0) code.wanted.push_back(static_cast<int32_t>(row));
        for (size_t left = more >> 6; left > 0; --left) {
            const auto shape = take<uint8_t>(input);
            code.operand_row.push_back(row);
            code.operand_register.push_back(register_of(input));
            code.operand_count.push_back((shape & 0xC0) == 0xC0 ? take<uint8_t>(input) : 1 + (shape >> 6));
            code.operand_role.push_back(shape & 0x3F);
        }
    }
    return code;
}

bool is_counted(uint32_t number) {
    return number < isa::sgpr0 + 106U || (number >= isa::vgpr0 && number < isa::register_end);
}

template <class Visitor>
void each_register(const Code& code, size_t operand, Visitor&& visit) {
    const uint32_t first = code.operand_register[operand];
    for (uint32_t number = first; number < first + code.operand_count[operand]; ++number)
        if (is_counted(number)) visit(static_cast<uint16_t>(number));
}

void check_counts(const Code& code, const LiveRegisters& rows) {
    const size_t count = code.flow.size();
    require(rows.vgprs.size() == count && rows.agprs.size() == count && rows.sgprs.size() == count &&
                rows.vectors.size() == count && rows.is_reached.size() == count,
            "columns have one length");
    for (size_t row = 0; row < count; ++row) {
        const unsigned vgprs = rows.vgprs[row], agprs = rows.agprs[row], both = rows.vectors[row];
        require(vgprs <= isa::agpr0 - isa::vgpr0 && agprs <= isa::register_end - isa::agpr0 && rows.sgprs[row] <= 106,
                "no more registers are live than there are");
        require(both <= vgprs + agprs && both >= std::max(vgprs, agprs), "vectors are VGPRs and AGPRs at one time");
        require(rows.is_reached[row] || vgprs + agprs + rows.sgprs[row] == 0, "nothing lives where control never is");
        require(rows.is_reached[row] || !code.starts[row], "a start is reached");
        const auto flow = static_cast<Flow>(code.flow[row]);
        const bool goes_on = flow == Flow::next || flow == Flow::branch;
        require(!goes_on || !rows.is_reached[row] || row + 1 == count || rows.is_reached[row + 1],
                "control goes on to the next row");
    }
    for (size_t i = 0; i < code.operand_row.size(); ++i) {
        const uint32_t row = code.operand_row[i];
        if (!(code.operand_role[i] & isa::writes) || !rows.is_reached[row]) continue;
        each_register(code, i, [&](uint16_t number) {
            const unsigned live = number < isa::vgpr0   ? rows.sgprs[row]
                                  : number < isa::agpr0 ? rows.vgprs[row]
                                                        : rows.agprs[row];
            require(live >= 1, "what a row writes counts there");
        });
    }
}

// What a row reads is live before it; what is live before the next row and not written here is live here.
void check_live_at(const Code& code, const Liveness& liveness) {
    std::vector<std::vector<uint16_t>> live(code.flow.size());
    std::vector<std::array<unsigned, 3>> sums(code.flow.size());
    const LiveAtRows& at = liveness.at;
    require(at.live_register.size() == at.row.size() && at.is_given.size() == at.row.size(), "one length");
    for (size_t i = 0; i < at.row.size(); ++i) {
        require(std::binary_search(code.wanted.begin(), code.wanted.end(), at.row[i]), "rows are wanted ones");
        const auto row = static_cast<size_t>(at.row[i]);
        const uint16_t number = at.live_register[i];
        live[row].push_back(number);
        if (is_counted(number) && at.is_given[i]) ++sums[row][number < isa::vgpr0 ? 0 : number < isa::agpr0 ? 1 : 2];
    }
    for (const int32_t wanted : code.wanted) {
        const auto row = static_cast<size_t>(wanted);
        std::vector<uint16_t>& here = live[row];
        std::sort(here.begin(), here.end());
        require(std::adjacent_find(here.begin(), here.end()) == here.end(), "a register is live once");
        const LiveRegisters& rows = liveness.rows;
        require(sums[row][0] <= rows.sgprs[row] && sums[row][1] <= rows.vgprs[row] && sums[row][2] <= rows.agprs[row],
                "what is live and given before a row counts there");
    }
    std::vector<std::vector<uint16_t>> writes(code.flow.size());
    for (size_t i = 0; i < code.operand_row.size(); ++i) {
        const uint32_t row = code.operand_row[i];
        const bool is_wanted = std::binary_search(code.wanted.begin(), code.wanted.end(), static_cast<int32_t>(row));
        each_register(code, i, [&](uint16_t number) {
            if (code.operand_role[i] & isa::writes) writes[row].push_back(number);
            if (!(code.operand_role[i] & isa::reads) || !is_wanted || !liveness.rows.is_reached[row]) return;
            require(std::binary_search(live[row].begin(), live[row].end(), number), "what a row reads is live");
        });
    }
    for (size_t k = 0; k + 1 < code.wanted.size(); ++k) {
        const auto row = static_cast<size_t>(code.wanted[k]), next = row + 1;
        if (code.wanted[k + 1] != static_cast<int32_t>(next) || !liveness.rows.is_reached[row]) continue;
        const auto flow = static_cast<Flow>(code.flow[row]);
        if (flow != Flow::next && flow != Flow::branch) continue;
        for (const uint16_t number : live[next])
            require(std::binary_search(live[row].begin(), live[row].end(), number) ||
                        std::find(writes[row].begin(), writes[row].end(), number) != writes[row].end() ||
                        !is_counted(number),
                    "what is needed later and not written here is live here");
    }
}

}  // namespace

void fuzz_live(Bytes input) {
    const Code code = code_of(input);
    const Liveness liveness = live_registers(code.rows(), code.wanted);
    require(liveness.is_complete || liveness.rows.vgprs.size() == 0, "what was given up has no rows");
    if (!liveness.is_complete) return;
    check_counts(code, liveness.rows);
    check_live_at(code, liveness);
}

}  // namespace wavewright::fuzz

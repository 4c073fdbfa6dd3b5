#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "check.hpp"
#include "wavewright/isa.hpp"
#include "wavewright/live_registers.hpp"

namespace wavewright {
namespace {

struct Operand {
    uint32_t row;
    uint16_t number;
    uint8_t count;
    uint8_t role;
};

// "vgprs/agprs/sgprs" of every row; "given up" where there is no answer.
std::string counts_of(std::vector<uint8_t> flow, std::vector<int32_t> target, const std::vector<Operand>& operands,
                      std::vector<uint16_t> given = {}) {
    const std::vector<uint8_t> nothing(flow.size());
    std::vector<uint8_t> starts(flow.size());
    starts[0] = 1;
    std::vector<uint32_t> rows;
    std::vector<uint16_t> numbers;
    std::vector<uint8_t> counts, roles;
    for (const Operand& operand : operands) {
        rows.push_back(operand.row);
        numbers.push_back(operand.number);
        counts.push_back(operand.count);
        roles.push_back(operand.role);
    }
    const Liveness live =
        live_registers({flow, target, nothing, nothing, starts, rows, numbers, counts, roles, given}, {});
    if (!live.is_complete) return "given up";
    std::ostringstream shown;
    for (size_t row = 0; row < live.rows.vgprs.size(); ++row)
        shown << live.rows.vgprs[row] << "/" << live.rows.agprs[row] << "/" << live.rows.sgprs[row] << " ";
    return shown.str();
}

constexpr uint16_t v = isa::vgpr0, a = isa::agpr0;
constexpr uint8_t next = 0, branch = 1, end = 3;

TEST(live_registers, tuples_live_from_write_to_read) {
    CHECK_EQUAL(counts_of({next, next, end}, {-1, -1, -1},
                          {{0, v, 4, isa::writes}, {1, v, 4, isa::reads}, {1, a, 2, isa::writes}}),
                "4/0/0 4/2/0 0/0/0 ");
}

TEST(live_registers, loops_keep_what_they_read) {
    CHECK_EQUAL(counts_of({next, next, branch, end}, {-1, -1, 1, -1}, {{0, 4, 2, isa::writes}, {1, 4, 2, isa::reads}}),
                "0/0/2 0/0/2 0/0/2 0/0/0 ");
}

TEST(live_registers, registers_outside_of_all_files_do_not_count) {
    CHECK_EQUAL(counts_of({next, end}, {-1, -1},
                          {{0, isa::register_end - 1, 255, isa::writes},
                           {0, 250, 2, isa::reads},
                           {0, isa::null_register, 1, isa::reads},
                           {1, isa::register_end - 1, 255, isa::reads}}),
                "0/1/0 0/1/0 ");
}

TEST(live_registers, targets_that_are_no_rows_lead_anywhere) {
    CHECK_EQUAL(counts_of({next, branch, end}, {-1, 1'000'000, -1}, {{0, v, 1, isa::writes}, {2, v, 1, isa::reads}}),
                "1/0/0 1/0/0 1/0/0 ");
}

// The upper half is written, the lower one is read: what is read is undefined.
TEST(live_registers, the_other_half_gives_no_value) {
    const std::vector<uint8_t> flow{next, end}, nothing(2), starts{1, 0}, counts{1, 1},
        roles{isa::writes | isa::high_half, isa::reads | isa::low_half};
    const std::vector<int32_t> target{-1, -1}, wanted{1};
    const std::vector<uint32_t> rows{0, 1};
    const std::vector<uint16_t> numbers{v, v};
    const Liveness live =
        live_registers({flow, target, nothing, nothing, starts, rows, numbers, counts, roles, {}}, wanted);
    CHECK_EQUAL(live.at.row.size(), 1U);
    CHECK_EQUAL(live.at.live_register[0], v);
    CHECK_EQUAL(unsigned{live.at.is_given[0]}, 0U);
    CHECK_EQUAL(live.rows.vgprs[1], 0U);
}

}  // namespace
}  // namespace wavewright

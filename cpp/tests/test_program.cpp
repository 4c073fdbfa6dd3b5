#include <sstream>

#include "check.hpp"
#include "wavewright/program.hpp"

namespace wavewright {
namespace {

constexpr std::string_view kLoop =
    "0\t8\ts_load_dwordx2 s[0:1], s[2:3], 0x0\n"
    "8\t4\tv_add_f32_e32 v0, v1, v2\n"
    "12\t4\ts_waitcnt lgkmcnt(0)\n"
    "16\t4\ts_cbranch_scc1 65533\n"
    "20\t4\ts_endpgm\n";

Program linked(std::string_view tsv, uint64_t object = 1, std::optional<uint64_t> load_address = {}) {
    Program program;
    program.add_listing(object, load_address, tsv);
    program.link();
    return program;
}

TEST(program, links_successors_and_targets) {
    const Program program = linked(kLoop);
    CHECK_EQUAL(program.listed_rows(), 5U);
    CHECK_EQUAL(program.row_count(), 5U);
    CHECK_EQUAL(program.line(0).next, 1);
    CHECK_EQUAL(program.line(3).next, 4);
    CHECK_EQUAL(program.line(4).next, -1);
    CHECK_EQUAL(program.line(3).target, 1);  // 16 + 4 + 4 * (65533 - 65536) = 8
    CHECK_EQUAL(program.line(1).target, -1);
    CHECK_EQUAL(program.line(2).flags, Line::starts_s_waitcnt);
    CHECK_EQUAL(program.line(3).in(Dialect::gfx9), LineClass::branch);
}

TEST(program, finds_by_object_and_address) {
    const Program program = linked(kLoop);
    CHECK_EQUAL(program.find({8, 1}), 1);
    CHECK_EQUAL(program.find({9, 1}), -1);
    CHECK_EQUAL(program.find({8, 2}), -1);
    CHECK_EQUAL(program.find({8, 0}), -1);  // no load address: not visible to raw addresses
    CHECK_EQUAL(program.find({0, 1}), 0);
    CHECK_EQUAL(program.find({0, 0}), -1);
    for (int32_t row = 0; row < 5; ++row) CHECK_EQUAL(program.find(program.pc(row)), row);
}

TEST(program, object_0_is_seen_through_its_load_address) {
    const Program program = linked(kLoop, 0, 0x1000);
    CHECK_EQUAL(program.find({0x1008, 0}), 1);
    CHECK_EQUAL(program.find({8, 0}), -1);
    CHECK_EQUAL(program.row_count(), 5U);
    CHECK_EQUAL(program.line(3).target, 1);
}

TEST(program, a_load_address_adds_raw_rows_behind_the_listed_ones) {
    Program program;
    program.add_listing(3, 0x1000, kLoop);
    program.add_listing(7, 0x8000, "0\t4\ts_nop 0\n");
    program.link();
    CHECK_EQUAL(program.listed_rows(), 6U);
    CHECK_EQUAL(program.row_count(), 12U);
    const int32_t raw = program.find({0x1010, 0});
    CHECK(raw >= 6);
    CHECK_EQUAL(program.listed_row(raw), 3);
    CHECK_EQUAL(program.line(raw).target, program.find({0x1008, 0}));
    CHECK_EQUAL(program.line(raw).next, program.find({0x1014, 0}));
    CHECK_EQUAL(program.listed_row(program.find({0x8000, 0})), 5);
    CHECK_EQUAL(program.find({0, 7}), 5);
}

TEST(program, the_first_object_wins_where_raw_addresses_overlap) {
    for (const uint64_t second : {2U, 0U}) {
        Program program;
        program.add_listing(1, 0x1000, "0\t4\tv_nop\n");
        program.add_listing(second, 0x0FF0, "16\t4\ts_nop 0\n");
        program.link();
        CHECK_EQUAL(program.listed_row(program.find({0x1000, 0})), 0);
        if (second != 0) CHECK_EQUAL(program.find({16, 2}), 1);
    }
}

TEST(program, branch_targets_are_read_as_the_reference_reads_them) {
    for (const auto& [operand, row] :
         std::initializer_list<std::pair<std::string_view, int32_t>>{{"1", 2},
                                                                     {"+1", 2},
                                                                     {"\t1", 2},
                                                                     {"1x", 2},
                                                                     {"65535", 0},
                                                                     {"-1", 0},
                                                                     {"+-1", 1},
                                                                     {"label", 1},
                                                                     {"0x1", 1},
                                                                     {"1 ", 1},
                                                                     {"\"1\"", 1},
                                                                     {"\" 1\" 1", 2},
                                                                     {"\"2 1", 1},
                                                                     {"99999999999", 1},
                                                                     {"", 1},
                                                                     {"-2147483648", -1}}) {
        const std::string text = "0\t4\ts_branch " + std::string(operand) + "\n4\t4\ts_nop 0\n8\t4\ts_nop 0\n";
        CHECK_EQUAL(linked(text).line(0).target, row);
    }
}

TEST(program, lines_may_come_in_any_order) {
    const Program program = linked("8\t4\tv_nop\n0\t8\ts_load_dword s0, s[2:3], 0x0\n");
    CHECK_EQUAL(program.pc(0).address, 0U);
    CHECK_EQUAL(program.line(0).next, 1);
}

TEST(program, numbers_may_be_hexadecimal) {
    const Program program = linked("0x10\t0x4\tv_nop\n0X14\t4\tv_nop\n");
    CHECK_EQUAL(program.find({0x10, 1}), 0);
    CHECK_EQUAL(program.line(0).next, 1);
}

TEST(program, unreadable_lines_are_counted_and_left_out) {
    Program program;
    const size_t unreadable = program.add_listing(1, {},
                                                  "0\t4\tv_nop\n"
                                                  "\n"
                                                  "nonsense\n"
                                                  "4\tfour\tv_nop\n"
                                                  "4x\t4\tv_nop\n"
                                                  "-4\t4\tv_nop\n"
                                                  "99999999999999999999\t4\tv_nop\n"
                                                  "8\t70000\tv_nop\n"
                                                  "0x\t4\tv_nop\n"
                                                  "0\t4\ts_nop 1\n"  // a second line at 0
                                                  "12\t4\tv_nop\r\n");
    program.link();
    CHECK_EQUAL(unreadable, 8U);
    CHECK_EQUAL(program.listed_rows(), 2U);
    CHECK_EQUAL(program.line(0).in(Dialect::gfx9), LineClass::valu);
    CHECK_EQUAL(program.line(0).next, -1);
}

TEST(program, a_line_without_text_is_a_line) {
    const Program program = linked("0\t4\t\n4\t4\n");
    CHECK_EQUAL(program.listed_rows(), 2U);
    CHECK_EQUAL(program.line(0).flags, Line::empty_text);
    CHECK_EQUAL(program.line(1).flags, Line::empty_text);
}

TEST(program, short_sizes_count_as_4) {
    const Program program = linked("0\t0\tv_nop\n4\t2\tv_nop\n8\t4\tv_nop\n");
    CHECK_EQUAL(program.line(0).next, 1);
    CHECK_EQUAL(program.line(1).next, 2);
}

TEST(program, branch_operands_read_like_the_reference) {
    struct Case {
        std::string_view operand;
        uint64_t target;
    };
    const Case cases[] = {
        {"2", 64 + 4 + 8},      {"-2", 64 + 4 - 8}, {"+2", 64 + 4 + 8},   {"65534", 64 + 4 - 8},
        {"label", 64 + 4},      {"0x10", 64 + 4},   {"3 ; note", 64 + 4}, {"5e", 64 + 4 + 20},
        {"4294967296", 64 + 4}, {"-", 64 + 4},      {"", 64 + 4},
    };
    for (const Case& c : cases) {
        std::string tsv = "64\t4\ts_branch " + std::string(c.operand) + "\n";
        for (const uint64_t address : {60, 68, 76, 88}) tsv += std::to_string(address) + "\t4\tv_nop\n";
        const Program program = linked(tsv);
        const int32_t target = program.line(program.find({64, 1})).target;
        CHECK(target >= 0);
        if (target >= 0) CHECK_EQUAL(program.pc(target).address, c.target);
    }
}

TEST(program, a_listing_that_ends_in_a_skipped_line_has_an_end_row) {
    const Program program = linked("0\t4\tv_nop\n4\t4\ts_delay_alu instid0(VALU_DEP_1)\n");
    CHECK_EQUAL(program.row_count(), 3U);
    const int32_t end = program.end_row(1);
    CHECK_EQUAL(end, 2);
    CHECK(program.pc(end) == (Pc{8, 1}));
    CHECK_EQUAL(program.listed_row(end), -1);
    CHECK_EQUAL(program.end_row(0), -1);
    CHECK_EQUAL(program.find({8, 1}), -1);
}

TEST(program, addresses_wrap_without_harm) {
    const Program program =
        linked("18446744073709551612\t4\tv_nop\n18446744073709551608\t4\ts_branch 65535\n0\t4\tv_nop\n");
    CHECK_EQUAL(program.listed_rows(), 3U);
    CHECK_EQUAL(program.line(program.find({18446744073709551612U, 1})).next, 0);
    CHECK_EQUAL(program.line(program.find({18446744073709551608U, 1})).target,
                program.find({18446744073709551608U, 1}));
}

TEST(program, an_empty_program_finds_nothing) {
    Program program;
    program.link();
    CHECK_EQUAL(program.row_count(), 0U);
    CHECK_EQUAL(program.find({4, 1}), -1);
    CHECK(program.funcmap(1) == nullptr);
}

TEST(program, a_large_listing_links) {
    std::ostringstream tsv;
    constexpr int kLines = 200'000;
    for (int i = kLines; i-- > 0;) tsv << i * 4 << "\t4\ts_cbranch_scc0 65535\n";
    const Program program = linked(tsv.str());
    CHECK_EQUAL(program.listed_rows(), static_cast<size_t>(kLines));
    CHECK_EQUAL(program.line(1000).target, 1000);
    CHECK_EQUAL(program.line(1000).next, 1001);
}

}  // namespace
}  // namespace wavewright

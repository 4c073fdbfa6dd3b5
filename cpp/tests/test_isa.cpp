#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::isa {
namespace {

std::vector<uint8_t> bytes_of(std::string_view hex) {
    std::vector<uint8_t> bytes;
    for (size_t at = 0; at + 1 < hex.size(); at += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16)));
    return bytes;
}

Disassembly disassembled(std::string_view column, std::string_view hex, bool wave64 = false) {
    const std::vector<uint8_t> bytes = bytes_of(hex);
    const Chunk chunk{0x1000, bytes, wave64};
    return disassemble({&chunk, 1}, column, true);
}

std::string text_of(const Disassembly& rows, size_t row) {
    const auto begin = static_cast<size_t>(rows.text_end[row]), end = static_cast<size_t>(rows.text_end[row + 1]);
    return rows.texts.substr(begin, end - begin);
}

std::string text_of(std::string_view column, std::string_view hex, bool wave64 = false) {
    return text_of(disassembled(column, hex, wave64), 0);
}

// "register+count:role" of each operand.
std::string operands_of(const Disassembly& rows) {
    std::string all;
    for (size_t at = 0; at < rows.operand_row.size(); ++at) {
        if (!all.empty()) all += " ";
        all += std::to_string(rows.operand_register[at]) + "+" + std::to_string(rows.operand_count[at]) + ":" +
               std::to_string(rows.operand_role[at]);
    }
    return all;
}

struct Example {
    std::string_view column, hex, text;
};

// One per rule of decoding and printing, from LLVM 22.1.8.
constexpr Example kExamples[] = {
    {"gfx90a", "cf50467c", "v_cmp_le_f16_e32 vcc, -15, v40"},
    {"gfx942", "08014fd01c8e0140", "v_cmp_tru_f32_e64 s[8:9], |s28|, neg(-7)"},
    {"gfx90a", "f978887d8a400000", "v_cmp_gt_i32_sdwa vcc, v138, v60 src0_sel:BYTE_0 src1_sel:BYTE_0"},
    {"gfx950", "fa280c7e445301f5", "v_cvt_f32_ubyte3_dpp v6, v68 row_newbcast:3 row_mask:0xf bank_mask:0x5"},
    {"gfx1151", "ea40847d4ce6479e", "v_cmpx_eq_i32 v76, v32 dpp8:[6,4,7,3,4,4,7,4] fi:1"},
    {"gfx1151", "ac0008d5fa280048081b003e",
     "v_mul_f32_e64_dpp v172, v8, -s20 mul:2 quad_perm:[3,2,1,0] row_mask:0x3 bank_mask:0xe"},
    {"gfx1100", "0cc5e0c8049508c4", "v_dual_mul_f32 v196, v12, v98 :: v_dual_add_nc_u32 v9, v4, v74"},
    {"gfx1151", "e9ae647f1c277ada", "v_log_f16_dpp v50.h, v28.l dpp8:[7,4,0,5,7,4,6,6]"},
    {"gfx1201", "560b07cc20090200", "v_pk_max_i16 v86, v32, v4 op_sel:[1,0] op_sel_hi:[0,0] neg_hi:[1,1]"},
    {"gfx908", "002dd5d3940143a4", "v_mfma_i32_16x16x16i8 a[0:3], v148, v128, a[16:19] cbsz:5 abid:5 blgp:5"},
    {"gfx1201", "704042cc640963dd",
     "v_wmma_f16_16x16x16_f16 v[112:115], v[100:103], v[132:135], v[88:91] neg_lo:[0,1,1]"},
    {"gfx1250", "56c054cc5cb1921c", "v_swmmac_i32_16x16x32_iu8 v[86:93], v[92:93], v[88:91], v36 clamp"},
    {"gfx950", "448a73de68345800", "global_store_dword v104, v52, s[88:89] offset:2628 sc0 nt sc1"},
    {"gfx1201", "b84005ed66001c0000286d61",
     "scratch_load_b64 v[102:103], off, s56 offset:6384936 th:TH_LOAD_NT scope:SCOPE_SYS nv"},
    {"gfx1250", "fc0017ec00004854287a3f78",
     "flat_atomic_max_num_f64 v[40:41], v[168:169] offset:7880570 th:TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV nv"},
    {"gfx1030", "db6dc9e9124c1020",
     "tbuffer_load_format_xy v[76:77], v18, s[64:67], s32 format:[BUF_FMT_8_8_8_8_SNORM] idxen offset:3547 glc"},
    {"gfx950", "200222c1ca901b00", "s_buffer_atomic_and s8, s[64:67], -0x46f36"},
    {"gfx1030", "41e0a8b9", "s_setreg_b32 hwreg(HW_REG_MODE, 1, 29), s40"},
    {"gfx1010", "239591bf", "s_sendmsghalt sendmsg(MSG_GS_DONE, GS_OP_EMIT, 1)"},
    {"gfx1030", "cfcad4d8960000c0", "ds_swizzle_b32 v192, v150 offset:swizzle(ROTATE,0,22)"},
    {"gfx1250", "a28187bf", "s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_3)"},
    {"gfx1250", "122b88bf",
     "s_wait_alu depctr_hold_cnt(0) depctr_sa_sdst(0) depctr_va_vdst(2) depctr_va_sdst(5) depctr_vm_vsrc(4)"},
    {"gfx90a", "5c868cbf", "s_waitcnt vmcnt(44) expcnt(5) lgkmcnt(6)"},
    {"gfx950", "a82333d2245107b3", "v_bitop3_b16 v168, v36, v168, -1 bitop3:0x9d op_sel:[0,0,1,0]"},
    {"gfx1030", "8a30b8f246801000082e9e15",
     "image_sample_c_b_cl v128, [v70, v8, v46, v158, v21], s[64:71], s[0:3] dim:SQ_RSRC_IMG_2D unorm glc slc dlc"},
    {"gfx1250", "44a074485ab9367309132028", "v_fmaak_f64 v[58:59], s[68:69], v[80:81], 0x282013097336b95a"},
    {"gfx1030", "07ff0782ffffffff", "s_addc_u32 s7, s7, lit(0xffffffff)"},
    {"gfx950", "0060acd3ae510300008cadd368110284",
     "v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[104:107], v[8:11], a[0:3], v174, v168 op_sel_hi:[0,0,0] cbsz:4 "
     "blgp:4"},
    {"gfx950", "001051e0ba000580", "buffer_load_dword v186, s[20:23], 0 offen lds"},
    {"gfx1030", "e7ff89bf", "s_cbranch_execnz 65511"},
    {"gfx950", "0040d9d380000018", "v_accvgpr_write_b32 a0, 0"},
};

TEST(isa, examples_are_as_llvm_writes_them) {
    for (const Example& example : kExamples) {
        const Disassembly rows = disassembled(example.column, example.hex);
        CHECK_EQUAL(text_of(rows, 0), example.text);
        CHECK_EQUAL(size_t{rows.size[0]}, example.hex.size() / 2);
        CHECK_EQUAL(rows.address.size(), size_t{1});
    }
}

TEST(isa, a_table_is_tried_where_the_target_has_its_feature) {
    CHECK_EQUAL(text_of("gfx90a", "0100a1d202070200"), "v_mul_legacy_f32 v1, v2, v3");
    CHECK_EQUAL(text_of("gfx908", "0100a1d202070200"), ".long 0xd2a10001");
    CHECK_EQUAL(text_of("gfx1100", "0100a0d302070e04"), "v_fma_mix_f32 v1, v2, v3, v3");
    CHECK_EQUAL(text_of("gfx900", "0100a0d302070e04"), "v_mad_mix_f32 v1, v2, v3, v3");
}

TEST(isa, literals_that_inline_constants_could_have_said) {
    // LLVM 22.1.8; integers of 16 bits are compared as 32 bits, their text has 16
    CHECK_EQUAL(text_of("gfx900", "ff189f4dffff0000"), "v_add_u16_e32 v207, 0xffff, v140");
    CHECK_EQUAL(text_of("gfx900", "ff189f4dffffffff"), "v_add_u16_e32 v207, lit(0xffffffff), v140");
    CHECK_EQUAL(text_of("gfx900", "ff74727e2c002c00"), "v_cvt_f16_i16_e32 v57, 0x2c");
    CHECK_EQUAL(text_of("gfx900", "ff74367f83f9223e"), "v_cvt_f16_i16_e32 v155, lit(0x3e22f983)");
    CHECK_EQUAL(text_of("gfx1100", "ff21edbeffffffff"), "s_and_saveexec_b64 ttmp[0:1], 0xffffffff");
    CHECK_EQUAL(text_of("gfx1250", "ffa22e7901000100"), "v_pk_fmac_f16 v151, lit(0x10001), v81");
    // literals of 64 bits, of which operands of 16 bits take the lowest; one that also stands for a short one
    CHECK_EQUAL(text_of("gfx1250", "fffec98b0000803f00000080"),
                "s_and_b64 s[72:73], 0x800000003f800000, 0x800000003f800000");
    CHECK_EQUAL(text_of("gfx1250", "fefffa8c000000000000e03f"), "s_or_b64 ttmp[14:15], 0.5, lit(0x3fe0000000000000)");
    CHECK_EQUAL(text_of("gfx1250", "3a52a0d3c7fcc5e62c00af25fd5458f4"),
                "v_fma_mix_f32 v58, neg(-7), -|44|, -v177 op_sel:[0,1,0] op_sel_hi:[0,0,1]");
    CHECK_EQUAL(text_of("gfx1250", "fffe07a7000080bf0000f03f"), "s_fmac_f16 s7, lit(0x3ff00000bf800000), 0");
}

TEST(isa, wave64_has_pairs_for_masks) {
    CHECK_EQUAL(text_of("gfx1100", "0405007c"), "v_cmp_f_f16_e32 vcc_lo, v4.l, v2.l");
    CHECK_EQUAL(text_of("gfx1100", "0405007c", true), "v_cmp_f_f16_e32 vcc, v4.l, v2.l");
}

TEST(isa, upper_bits_of_registers_last_to_the_next_branch) {
    // s_set_vgpr_msb 0x41; v_add; s_cbranch_scc0; v_add (llvm-objdump of LLVM 22.1.8)
    const Disassembly rows = disassembled("gfx1250", "410086bf02070206ebffa1bf02070206");
    CHECK_EQUAL(text_of(rows, 1), "v_add_f32_e32 v1 /*v257*/, v2 /*v258*/, v3");
    CHECK_EQUAL(text_of(rows, 3), "v_add_f32_e32 v1, v2, v3");
    CHECK_EQUAL(int{rows.operand_register[1]}, vgpr0 + 257);
}

TEST(isa, upper_bits_lead_to_no_register_behind_the_last) {
    // s_set_vgpr_msb 0x40; global_load_b128; s_set_vgpr_msb 0xc0; global_load_b128 (llvm-objdump of LLVM 22.1.8)
    const Disassembly rows =
        disassembled("gfx1250", "400086bf7cc005eefe00000002000000c00086bf7cc005eefe00000002000000");
    CHECK_EQUAL(text_of(rows, 1), "global_load_b128 v[254:257] /*v[510:513]*/, v[2:3], off");
    CHECK_EQUAL(text_of(rows, 3), "global_load_b128 v[254:257], v[2:3], off");
}

TEST(isa, words_that_are_none_and_cut_ends_make_progress) {
    CHECK_EQUAL(text_of("gfx90a", "ffffffff"), ".long 0xffffffff");
    const std::vector<uint8_t> whole = bytes_of("001051e0ba000580ffffffff01");
    for (const std::string_view column : targets()) {
        for (size_t length = 0; length <= whole.size(); ++length) {
            const Chunk chunk{0, {whole.data(), length}, false};
            const Disassembly rows = disassemble({&chunk, 1}, column, true);
            size_t total = 0;
            for (const uint8_t size : rows.size) total += size;
            CHECK_EQUAL(total, length / 4 * 4);
        }
    }
}

// Roles: 1 reads, 2 writes, 4 implicit, 8 tied, 16 and 32 halves.
TEST(isa, operands_have_roles_and_widths) {
    // global_store_dword v104, v52, s[88:89]: all read, and exec
    CHECK_EQUAL(operands_of(disassembled("gfx950", "448a73de68345800")), "360+1:1 308+1:1 88+2:1 126+2:5");
    // v_mfma_i32_16x16x16i8 a[0:3], v148, v128, a[16:19]
    CHECK_EQUAL(operands_of(disassembled("gfx908", "002dd5d3940143a4")),
                "1280+4:2 404+1:1 384+1:1 1296+4:1 126+2:5 133+1:5");
    // v_cmp_le_f16_e32 vcc, -15, v40: a constant is no operand, vcc is in the text
    CHECK_EQUAL(operands_of(disassembled("gfx90a", "cf50467c")), "296+1:1 126+2:5 106+2:2 133+1:5");
    // v_log_f16_dpp v50.h, v28.l: the old value of the other lanes is kept
    const std::string halves = operands_of(disassembled("gfx1151", "e9ae647f1c277ada"));
    CHECK(halves.starts_with("306+1:43 284+1:17 126+1:5"));
}

TEST(isa, facts_are_those_of_the_record) {
    const uint32_t store = disassembled("gfx950", "448a73de68345800").facts[0];
    CHECK((store & stores) != 0 && (store & (loads | is_atomic | is_valu)) == 0 && (store & counts_vm) != 0);
    CHECK((disassembled("gfx950", "001051e0ba000580").facts[0] & to_lds) != 0);
    CHECK((disassembled("gfx908", "002dd5d3940143a4").facts[0] & is_matrix) != 0);
    CHECK((disassembled("gfx1030", "e7ff89bf").facts[0] & (is_branch | ends_block)) == is_branch);
}

TEST(isa, relatives_get_the_nearest_column) {
    CHECK_EQUAL(nearest("gfx1103").column, "gfx1100");
    CHECK(nearest("gfx1103").exact);
    CHECK_EQUAL(nearest("gfx1154").column, "gfx1151");
    CHECK(!nearest("gfx1154").exact);
    CHECK_EQUAL(nearest("gfx9-generic").column, "gfx900");
    CHECK(nearest("gfx9-generic").exact);
    CHECK(nearest("gfx803").column.empty());
    CHECK(nearest("").column.empty());
}

TEST(isa, a_name_that_is_no_column_is_refused) {
    bool is_refused = false;
    try {
        disassembled("gfx1", "00000000");
    } catch (const std::invalid_argument&) {
        is_refused = true;
    }
    CHECK(is_refused);
}

}  // namespace
}  // namespace wavewright::isa

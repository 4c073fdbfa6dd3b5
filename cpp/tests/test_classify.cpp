// What the class rules give for texts named in spec_gfx9 6.2 and appendix C and in spec_rdna 11.2.
#include <span>

#include "check.hpp"
#include "wavewright/program.hpp"

namespace wavewright {
namespace {

struct Expected {
    std::string_view text;
    LineClass gfx9, gfx10_11, gfx12;
};
using enum LineClass;

constexpr Expected same(std::string_view text, LineClass cls) {
    return {text, cls, cls, cls};
}

constexpr Expected kScalar[] = {
    same("s_add_u32 s0, s1, s2", salu),
    same("s_getpc_b64 s[0:1]", salu),
    same("s_setpc_b64 s[30:31]", salu),
    same("s_swappc_b64 s[0:1], s[2:3]", salu),
    same("s_call_b64 s[0:1], 4", salu),
    same("s_getreg_b32 s0, hwreg(HW_REG_MODE)", salu),
    same("s_setreg_b32 hwreg(HW_REG_MODE), s0", salu),
    same("s_set_gpr_idx_off", salu),
    same("s_code_end", salu),
    same("s_rfe_b64 s[0:1]", salu),
    same("s_get_barrier_state s0, -1", salu),
    same("s_memtime s[0:1]", salu),
    same("s_setprio_inc_wg 1", salu),
    same("s_load_dwordx4 s[0:3], s[4:5], 0x0", smem),
    same("s_buffer_load_dword s0, s[4:7], 0x0", smem),
    same("s_memrealtime s[0:1]", smem),
    same("s_dcache_inv", smem),
    same("s_dcache_wb", smem),
    same("s_atc_probe 0, s[0:1], 0", smem),
    same("s_scratch_load_dword s0, s[2:3], 0x0", smem),
    same("s_atomic_add s0, s[2:3], 0x0", smem),
    same("s_store_dword s0, s[2:3], 0x0", smem),
    same("s_prefetch_inst s[0:1], 0x0, s2, 0", smem),
};

constexpr Expected kImmediate[] = {
    same("s_waitcnt vmcnt(0)", immed),
    same("s_waitcnt_depctr 0xfffe", immed),
    same("s_waitcnt_vscnt null, 0x0", immed),
    same("s_wait_loadcnt_dscnt 0x0", immed),
    same("s_wait_kmcnt 0x0", immed),
    same("s_nop 0", immed),
    same("s_sleep 1", immed),
    same("s_sendmsg sendmsg(MSG_INTERRUPT)", immed),
    same("s_setprio 1", immed),
    same("s_endpgm", immed),
    same("s_endpgm_saved", immed),
    same("s_trap 2", immed),
    same("s_sethalt 1", immed),
    same("s_ttracedata", immed),
    same("s_ttracedata_imm 0x5", immed),
    same("s_icache_inv", immed),
    same("s_incperflevel 1", immed),
    same("s_decperflevel 1", immed),
    same("s_wakeup", immed),
    same("s_version 0x2006", immed),
    same("s_clause 0x3", immed),
    same("s_setvskip s0, 0", immed),
    {"s_barrier", barrier, immed, immed},
    {"s_barrier_signal -1", barrier, immed, immed},
    {"s_barrier_wait 0xffff", barrier, immed, immed},
    same("s_wait_alu 0xfffd", skip),
    same("s_delay_alu instid0(VALU_DEP_1)", skip),
    same("s_set_vgpr_msb 1", skip),
    same("buffer_nop", skip),
};

constexpr Expected kVector[] = {
    same("v_add_f32_e32 v0, v1, v2", valu),
    same("v_nop", valu),
    same("v_dual_mul_f32 v0, v1, v2 :: v_dual_mov_b32 v3, v4", valu),
    same("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]", valu),
    {"v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[0:7], v[8:15], a[0:3], v16, v17", mfma_scale, valu, valu},
    {"v_mov_b64_e32 v[0:1], v[2:3]", valu, valu, v_mov_b64},
    same("buffer_load_dword v0, v1, s[0:3], 0 offen", vmem),
    same("buffer_wbl2 sc1", vmem),
    same("buffer_inv sc1", vmem),
    same("buffer_atomic_add v0, v1, s[0:3], 0 offen", vmem),
    same("tbuffer_load_format_x v0, v1, s[0:3], 0", vmem),
    same("global_load_dword v0, v[1:2], off", vmem),
    same("scratch_store_dword off, v0, s32", vmem),
    same("image_sample v0, v[0:1], s[0:7], s[8:11]", vmem),
    same("image_bvh_intersect_ray v[0:3], v[0:10], s[0:3]", bvh),
    same("flat_load_dword v0, v[1:2]", flat),
    same("ds_write_b32 v0, v1", lds),
    same("lds_direct_load v0", lds),
    {"ds_bvh_stack_rtn_b32 v0, v1, v2, v[3:6]", lds, lds, bvh},
};

constexpr Expected kOther[] = {
    same("s_branch 65533", branch),
    same("s_cbranch_execz 12", branch),
    same("s_cbranch_g_fork s[0:1], s[2:3]", branch),
    same("anything with branch in it", branch),
    same("v_add_f32 v0, branch_target, v1", branch),
    same("exp mrt0 v0, v0, v0, v0", unknown),
    same("; a comment", unknown),
    same("", unknown),
    same(" v_add_f32 v0, v1, v2", unknown),  // tests are anchored at position 0
    same("\xff\x80\x01 not text", unknown),
    same("V_ADD_F32", unknown),
    // Characters without an edge are skipped, so a word may be spread over the whole line.
    same("f.l.a.t._", flat),
    same("xx d y s z _", lds),
};

void check_all(std::span<const Expected> rows) {
    for (const Expected& row : rows) {
        const LineClass wanted[] = {row.gfx9, row.gfx10_11, row.gfx12};
        for (size_t dialect = 0; dialect < 3; ++dialect) {
            const LineClass got = classify(row.text, static_cast<Dialect>(dialect));
            if (got != wanted[dialect]) {
                std::ostringstream what;
                what << row.text << " in dialect " << dialect << " is " << testing::shown(got) << ", not "
                     << testing::shown(wanted[dialect]);
                testing::fail(__FILE__, __LINE__, what.str());
            }
        }
    }
}

TEST(classify, scalar_texts) {
    check_all(kScalar);
}
TEST(classify, immediate_texts) {
    check_all(kImmediate);
}
TEST(classify, vector_texts) {
    check_all(kVector);
}
TEST(classify, other_texts) {
    check_all(kOther);
}

TEST(classify, low_numbers_equal_categories) {
    CHECK_EQUAL(static_cast<int>(LineClass::smem), 1);
    CHECK_EQUAL(static_cast<int>(LineClass::valu), 6);
    CHECK_EQUAL(static_cast<int>(LineClass::immed), 9);
    CHECK_EQUAL(static_cast<int>(LineClass::bvh), 12);
}

TEST(classify, a_very_long_line_is_only_walked_once) {
    CHECK_EQUAL(classify(std::string(1 << 20, 'x'), Dialect::gfx9), LineClass::unknown);
    CHECK_EQUAL(classify("v_" + std::string(1 << 20, 'x'), Dialect::gfx12), LineClass::valu);
}

}  // namespace
}  // namespace wavewright

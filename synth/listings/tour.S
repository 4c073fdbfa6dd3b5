// A tour through the kinds of instructions that a thread trace tells apart: the program that synthetic traces of
// every family can walk. It is only ever timed, never run, so its registers need not hold anything sensible.
// tools/make_tour_listings.py makes the listings from it.

#if defined(GFX9)
#define S_LOAD2 s_load_dwordx2
#define S_LOAD4 s_load_dwordx4
#define GLOBAL_LOAD global_load_dword
#define GLOBAL_STORE global_store_dword
#define BUFFER_LOAD buffer_load_dword
#define FLAT_LOAD flat_load_dword
#define FLAT_STORE flat_store_dword
#define LDS_WRITE ds_write_b32
#define LDS_READ ds_read_b32
#elif defined(GFX10)
#define S_LOAD2 s_load_dwordx2
#define S_LOAD4 s_load_dwordx4
#define GLOBAL_LOAD global_load_dword
#define GLOBAL_STORE global_store_dword
#define BUFFER_LOAD buffer_load_dword
#define FLAT_LOAD flat_load_dword
#define FLAT_STORE flat_store_dword
#define LDS_WRITE ds_write_b32
#define LDS_READ ds_read_b32
#else
#define S_LOAD2 s_load_b64
#define S_LOAD4 s_load_b128
#define GLOBAL_LOAD global_load_b32
#define GLOBAL_STORE global_store_b32
#define BUFFER_LOAD buffer_load_b32
#define FLAT_LOAD flat_load_b32
#define FLAT_STORE flat_store_b32
#define LDS_WRITE ds_store_b32
#define LDS_READ ds_load_b32
#endif

#if defined(GFX12) || defined(GFX1250)
#define WAIT_SCALAR s_wait_kmcnt 0x0
#define WAIT_LOADS s_wait_loadcnt 0x0
#define WAIT_LOADS_BUT_ONE s_wait_loadcnt 0x1
#define WAIT_LDS s_wait_dscnt 0x0
#define WAIT_STORES s_wait_storecnt 0x0
#define WAIT_ALL s_wait_loadcnt_dscnt 0x0
#define VCC vcc_lo
#else
#define WAIT_SCALAR s_waitcnt lgkmcnt(0)
#define WAIT_LOADS s_waitcnt vmcnt(0)
#define WAIT_LOADS_BUT_ONE s_waitcnt vmcnt(1)
#define WAIT_LDS s_waitcnt lgkmcnt(0)
#define WAIT_ALL s_waitcnt vmcnt(0) lgkmcnt(0)
#if defined(GFX9)
#define VCC vcc
#define WAIT_STORES s_waitcnt vmcnt(0)
#else
#define VCC vcc_lo
#define WAIT_STORES s_waitcnt_vscnt null, 0x0
#endif
#endif

	.macro WORKGROUP_BARRIER
#if defined(GFX12) || defined(GFX1250)
	s_barrier_signal -1
	s_barrier_wait -1
#else
	s_barrier
#endif
	.endm

	.text
	.p2align 8
	.globl tour
	.type tour,@function
tour:
	S_LOAD2 s[4:5], s[0:1], 0x0
	S_LOAD4 s[8:11], s[0:1], 0x10
	v_lshlrev_b32_e32 v1, 2, v0
	v_mov_b32_e32 v2, 0
	WAIT_SCALAR
	GLOBAL_LOAD v3, v1, s[4:5]
	GLOBAL_LOAD v4, v1, s[4:5] offset:64
#if defined(GFX12) || defined(GFX1250)
	buffer_load_b32 v5, v1, s[8:11], null offen
#else
	BUFFER_LOAD v5, v1, s[8:11], 0 offen
#endif
	WAIT_LOADS_BUT_ONE
	v_exp_f32_e32 v6, v3
	LDS_WRITE v1, v6
	s_nop 3
	WAIT_LDS
	WORKGROUP_BARRIER
	s_mov_b32 s6, 0
.Louter:
	LDS_READ v7, v1
	v_add_f32_e32 v8, v3, v4
#if defined(GFX11) || defined(GFX12)
	s_delay_alu instid0(VALU_DEP_1)
#endif
	v_mul_f32_e32 v8, v8, v8
	WAIT_ALL
.Linner:
	v_fma_f32 v2, v7, v8, v2
#if defined(GFX9)
	v_mfma_f32_16x16x16_f16 a[0:3], v[10:11], v[12:13], a[0:3]
#if defined(GFX950)
	v_mfma_scale_f32_16x16x128_f8f6f4 a[0:3], v[16:23], v[24:31], a[0:3], v0, v1 op_sel_hi:[0,0,0]
	v_mfma_scale_f32_16x16x128_f8f6f4 a[4:7], v[16:23], v[24:31], a[4:7], v0, v1 op_sel_hi:[0,0,0]
#endif
#elif defined(GFX11)
	v_wmma_f32_16x16x16_f16 v[16:23], v[24:31], v[32:39], v[16:23]
#elif defined(GFX12)
	v_wmma_f32_16x16x16_f16 v[16:23], v[24:27], v[28:31], v[16:23]
#elif defined(GFX1250)
	v_wmma_f32_16x16x32_f16 v[16:23], v[24:31], v[32:39], v[16:23]
#endif
	s_add_i32 s6, s6, 1
	s_cmp_lt_u32 s6, s7
	s_cbranch_scc1 .Linner
	v_cmp_gt_f32_e32 VCC, v2, v8
	s_cbranch_vccz .Lskip
	v_sqrt_f32_e32 v2, v2
	v_add_f64 v[10:11], v[12:13], v[14:15]
	v_lshlrev_b64 v[12:13], 2, v[10:11]
.Lskip:
	s_add_i32 s2, s2, 1
	s_cmp_lt_u32 s2, s3
	s_cbranch_scc1 .Louter
	s_getpc_b64 s[12:13]
	s_add_u32 s12, s12, helper-.
	s_addc_u32 s13, s13, 0
	s_swappc_b64 s[30:31], s[12:13]
	v_mov_b32_e32 v9, v2
#if defined(GFX9) && !defined(GFX908) || defined(GFX1250)
	v_mov_b64_e32 v[10:11], v[12:13]
	v_mov_b64_e32 v[14:15], v[12:13]
#endif
	s_mov_b32 m0, 0x1234
	s_ttracedata
#if !defined(GFX9)
	s_ttracedata_imm 0x2a
#endif
	s_setprio 2
.Lspin:
	FLAT_LOAD v12, v[10:11]
	WAIT_ALL
	s_cmp_eq_u32 s2, s3
	s_cbranch_scc1 .Ldone
	s_sleep 1
	s_branch .Lspin
.Ldone:
	s_setprio 0
	WORKGROUP_BARRIER
	GLOBAL_STORE v1, v2, s[4:5]
	FLAT_STORE v[10:11], v9
	WAIT_STORES
#if defined(GFX11)
	s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
#endif
	s_endpgm

	.p2align 8
	.globl copy
	.type copy,@function
copy:
	S_LOAD2 s[4:5], s[0:1], 0x0
	v_lshlrev_b32_e32 v1, 2, v0
	WAIT_SCALAR
.Lcopy:
	GLOBAL_LOAD v3, v1, s[4:5]
	s_add_i32 s6, s6, 1
	s_cmp_lt_u32 s6, s7
	WAIT_LOADS
	GLOBAL_STORE v1, v3, s[4:5] offset:256
	s_cbranch_scc1 .Lcopy
	s_endpgm

	.p2align 8
	.type helper,@function
helper:
	v_rcp_f32_e32 v2, v2
#if defined(GFX9)
	s_and_saveexec_b64 s[14:15], vcc
#else
	s_and_saveexec_b32 s14, vcc_lo
#endif
	v_mul_f32_e32 v2, v2, v3
	s_setpc_b64 s[30:31]

// Addresses that went from lane to lane: permutes, DPP, readlane, ballots.
#include "lane_access.hpp"

#define DPP(OLD, VALUE, CONTROL, ZERO) __builtin_amdgcn_update_dpp(OLD, VALUE, CONTROL, 0xf, 0xf, ZERO)

LANE_KERNEL void lane_exchange(unsigned* result) {
    __shared__ __attribute__((aligned(16))) u8 storage[32768];
    const auto words = (LDS(unsigned))storage;
    const auto out = (GLOBAL(unsigned))result;
    const unsigned id = lane_in_block();
    const int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    const int value = id * 5 + 3;
    unsigned sum = 0;

    words[lane] = id;                                                             // @write_by_count
    sum += words[__builtin_amdgcn_ds_bpermute((lane ^ 5) * 4, value)];            // @read_bpermute
    sum += words[__builtin_amdgcn_ds_bpermute(lane * 12, value)];                 // @read_bpermute_wrapped
    sum += words[__builtin_amdgcn_ds_permute((lane ^ 9) * 4, value)];             // @read_permute
    sum += words[__builtin_amdgcn_ds_swizzle(value, 0x041f)];                     // @read_swizzle_xor_1
    sum += words[__builtin_amdgcn_ds_swizzle(value, 0x0018)];                     // @read_swizzle_broadcast
    sum += words[DPP(0, value, 0x1b, true)];                                      // @read_quad_reversed
    sum += words[DPP(0, value, 0x111, true)];                                     // @read_shifted_right_zero
    sum += words[DPP(7, value, 0x102, false)];                                    // @read_shifted_left_old
    sum += words[DPP(0, value, 0x124, true)];                                     // @read_rotated_right_4
    sum += words[DPP(0, value, 0x140, true)];                                     // @read_row_mirror
    sum += words[DPP(0, value, 0x141, true)];                                     // @read_half_mirror
    sum += words[value + DPP(0, value, 0xb1, true)];                              // @read_sum_of_neighbours
    sum += words[__builtin_amdgcn_update_dpp(value, id, 0x4e, 0x5, 0x3, false)];  // @read_masked_rows
    sum += words[__builtin_amdgcn_readlane(value, 11) + lane];                    // @read_after_readlane
    sum += words[__builtin_amdgcn_readfirstlane(value) + lane * 2];               // @read_after_readfirstlane
    const unsigned long long odd = __builtin_amdgcn_ballot_w64(id % 3 == 1);
    const unsigned before = __builtin_amdgcn_mbcnt_hi(odd >> 32, __builtin_amdgcn_mbcnt_lo(odd, 0));
    sum += words[before * 3];                        // @read_rank
    sum += words[__builtin_popcountll(odd) * lane];  // @read_count_times_lane
    sum += words[__builtin_ctzll(odd) + lane * 4];   // @read_first_set
#if defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
    sum += words[DPP(0, value, 0x153, true)];                                           // @read_row_share
    sum += words[DPP(0, value, 0x166, true)];                                           // @read_row_xor_6
    sum += words[__builtin_amdgcn_mov_dpp8(value, 0x053977)];                           // @read_dpp8
    sum += words[__builtin_amdgcn_permlane16(0, value, 0x76543210, 0x89abcdef, 0, 0)];  // @read_permlane16
    sum += words[__builtin_amdgcn_permlanex16(0, value, 0x1, 0x2, 0, 0)];               // @read_permlanex16
#endif
    if (lane % 4 == 2) {
        sum += words[__builtin_amdgcn_readfirstlane(value) + lane];         // @read_first_active
        sum += words[__builtin_amdgcn_ds_bpermute((lane ^ 4) * 4, value)];  // @read_bpermute_masked
    }
    out[__builtin_amdgcn_ds_bpermute((lane ^ 1) * 4, (int)id)] = sum;  // @store_swapped
}

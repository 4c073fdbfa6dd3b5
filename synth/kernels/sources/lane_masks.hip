// Lanes that are switched off, 2-D workgroups (16 work-items wide), loops whose addresses advance.
#include "lane_access.hpp"

LANE_KERNEL void lane_masks(unsigned* result, unsigned count, unsigned trips) {
    __shared__ __attribute__((aligned(16))) u8 storage[32768];
    const auto words = (LDS(unsigned))storage;
    const auto halves = (LDS(u16))storage;
    const auto pairs = (LDS(u32x2))storage;
    const auto out = (GLOBAL(unsigned))result;
    const auto hidden = (const u16 __attribute__((address_space(4)))*)__builtin_amdgcn_implicitarg_ptr();
    const unsigned width = hidden[6];  // hidden_group_size_x
    const unsigned x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    const unsigned lane = y * width + x;
    unsigned sum = 0;

    words[x * 17 + y] = lane;  // @write_transposed
    sum += words[y * 17 + x];  // @read_padded
    if (lane >= count) return;
    words[lane] = sum;                     // @write_after_exit
    if (lane % 3 == 0) words[lane] = sum;  // @write_every_third
    if (x < 5) {
        words[lane * 2] = sum;  // @write_left
        if (y & 1) {
            sum += words[lane * 3];  // @read_left_odd
        } else {
            pairs[lane] = u32x2{sum, lane};  // @write_left_even
        }
    } else {
        sum += halves[lane * 5];  // @read_right
    }
    for (unsigned k = 0; k <= lane % 4; ++k) {
        sum += words[k * 64 + lane];  // @read_own_count
    }
#pragma unroll 1
    for (unsigned k = 0; k < trips; ++k) {
        words[k * 65 + lane] = sum;             // @write_advancing
        sum += words[(lane ^ k * 4) + k * 32];  // @read_xor_advancing
    }
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
        sum += words[(lane + k) * 9];  // @read_unrolled
    }
#pragma unroll 1
    for (unsigned distance = 64; distance; distance /= 2) {
        halves[lane * distance] = (u16)sum;  // @write_halving
        if (lane < distance) {
            sum += words[lane + distance];  // @read_halving
        }
    }
    unsigned at = lane;
    while (true) {
        at += 3;
        if (at % 8 == 0) break;
        sum += words[at];  // @read_until_multiple
    }
    switch (x & 3) {
        case 0:
            words[lane + 4] = sum;  // @write_case_0
            break;
        case 1:
            sum += words[lane * 7 + 2];  // @read_case_1
            break;
        case 2:
            halves[lane] = (u16)sum;  // @write_case_2
            break;
    }
    if (__builtin_amdgcn_readfirstlane(lane) == 0) {
        sum += words[lane * 6];  // @read_first_wave
    }
    if (x == 0) {
        out[y] = sum;  // @store_column
    }
    out[lane + 64] = sum;  // @store
}

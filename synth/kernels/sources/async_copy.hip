// A loop of gfx1250 alone: tiles copied from memory to LDS in the background, multiplied on the matrix cores (WMMA).
#include "device.hpp"

typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef int int4 __attribute__((ext_vector_type(4)));

#define LDS __attribute__((address_space(3)))
#define MEMORY __attribute__((address_space(1)))

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(kBlock, kBlock))) void async_copy(
    const int4* __restrict a, const half16* __restrict b, float8* __restrict c, unsigned steps) {
    __shared__ int4 tile[2][2 * kBlock];
    const unsigned lane = lane_in_block(), at = global_id();
    float8 sum = c[at];
    for (unsigned step = 0; step < steps; ++step) {
        int4* half = tile[step & 1];
        for (unsigned part = 0; part < 2; ++part) {
            __builtin_amdgcn_global_load_async_to_lds_b128((MEMORY int4*)(a + (2 * step + part) * kBlock + lane),
                                                           (LDS int4*)(half + part * kBlock + lane), 0, 0);
        }
        const half16 right = b[step * kBlock + lane];
        __builtin_amdgcn_s_wait_asynccnt(0);
        block_barrier();
        const half16 left = *reinterpret_cast<const half16*>(&half[2 * (kBlock - 1 - lane)]);
        sum = __builtin_amdgcn_wmma_f32_16x16x32_f16(false, left, false, right, 0, sum, false, false);
    }
    c[at] = sum;
}

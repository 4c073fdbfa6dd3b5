// D = A * B + C on the matrix cores, one tile per wave: MFMA on gfx9, WMMA on gfx11 and gfx12, dot products elsewhere.
#include "device.hpp"

using half = _Float16;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef half half4 __attribute__((ext_vector_type(4)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef half half16 __attribute__((ext_vector_type(16)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));

#if defined(__GFX9__)
using Operand = half4;
using Accumulator = float4;
__device__ inline Accumulator multiply(Operand a, Operand b, Accumulator c) {
    return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}
#elif defined(__GFX12__)
using Operand = half8;
using Accumulator = float8;
__device__ inline Accumulator multiply(Operand a, Operand b, Accumulator c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
}
#elif defined(__GFX11__)
using Operand = half16;
using Accumulator = float8;
__device__ inline Accumulator multiply(Operand a, Operand b, Accumulator c) {
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, b, c);
}
#else
using Operand = half8;
using Accumulator = float4;
__device__ inline Accumulator multiply(Operand a, Operand b, Accumulator c) {
#pragma clang loop unroll(full)
    for (unsigned i = 0; i < 4; ++i) {
        const half2 left = {a[2 * i], a[2 * i + 1]};
        const half2 right = {b[2 * i], b[2 * i + 1]};
        c[i] = __builtin_amdgcn_fdot2(left, right, c[i], false);
    }
    return c;
}
#endif

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(kBlock, kBlock))) void matrix_core(
    const Operand* __restrict a, const Operand* __restrict b, Accumulator* __restrict c, unsigned steps) {
    const unsigned lane = global_id();
    Accumulator sum = c[lane];
    for (unsigned step = 0; step < steps; ++step) {
        sum = multiply(a[step * kBlock + lane], b[step * kBlock + lane], sum);
    }
    c[lane] = sum;
}

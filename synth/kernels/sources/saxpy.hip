// A loop over a strided range, through helpers that are inlined three deep.
#include "device.hpp"

namespace blas {

__device__ inline float fused(float a, float x, float y) {
    return __builtin_fmaf(a, x, y);
}

__device__ inline float step(float a, const float* x, float y, unsigned i) {
    return fused(a, x[i], y);
}

template <class Index>
__device__ inline void update(float a, const float* x, float* y, Index i) {
    y[i] = step(a, x, y[i], i);
}

template <unsigned kBlocks>
__global__ __attribute__((amdgpu_flat_work_group_size(1, kBlock))) void saxpy(
    float a, const float* __restrict x, float* __restrict y, unsigned n) {
#pragma clang loop unroll(disable) vectorize(disable)
    for (unsigned i = global_id(); i < n; i += kBlocks * kBlock) {
        update(a, x, y, i);
    }
}

template __global__ void saxpy<64>(float, const float*, float*, unsigned);

}  // namespace blas

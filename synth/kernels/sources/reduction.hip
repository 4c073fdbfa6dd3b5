// Sum of a vector: lanes exchange values through ds_bpermute, waves through LDS, blocks through an atomic.
#include "device.hpp"

#if defined(__GFX9__)
static constexpr unsigned kWave = 64;
#else
static constexpr unsigned kWave = 32;
#endif

__device__ inline float from_lane(float value, unsigned lane) {
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(lane * 4, __builtin_bit_cast(int, value)));
}

__device__ inline float wave_sum(float value) {
    const unsigned lane = lane_in_block() % kWave;
#pragma clang loop unroll(full)
    for (unsigned distance = 1; distance < kWave; distance *= 2) value += from_lane(value, lane ^ distance);
    return value;
}

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(kBlock, kBlock))) void reduction(
    const float* __restrict values, unsigned* __restrict total, unsigned n) {
    __shared__ float of_wave[kBlock / kWave];
    float sum = 0.0f;
#pragma clang loop unroll(disable)
    for (unsigned i = global_id(); i < n; i += 64 * kBlock) sum += values[i];
    sum = wave_sum(sum);
    if (lane_in_block() % kWave == 0) of_wave[lane_in_block() / kWave] = sum;
    block_barrier();
    if (lane_in_block() == 0) {
        float block_sum = 0.0f;
        for (unsigned wave = 0; wave < kBlock / kWave; ++wave) block_sum += of_wave[wave];
        __scoped_atomic_fetch_add(total, static_cast<unsigned>(block_sum), __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    }
}

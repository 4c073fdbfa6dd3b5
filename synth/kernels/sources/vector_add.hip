// c[i] = a[i] + b[i]: two loads, one wait, one store, and a branch around them for the last block.
#include "device.hpp"

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, kBlock))) void vector_add(
    const float* __restrict a, const float* __restrict b, float* __restrict c, unsigned n) {
    const unsigned i = global_id();
    if (i < n) c[i] = a[i] + b[i];
}

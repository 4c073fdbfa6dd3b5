// The little of HIP that these kernels need, so that plain clang compiles them without ROCm.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

static constexpr unsigned kBlock = 256;  // work-items per workgroup of every kernel here

__device__ inline unsigned lane_in_block() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline unsigned block() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline unsigned global_id() { return block() * kBlock + lane_in_block(); }

__device__ inline void block_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

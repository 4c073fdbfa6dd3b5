// What the kernels with chosen lane addresses share. Accesses are volatile where they must stay one instruction each;
// a comment `@name` marks the line of an access for `synth.lane_truth`.
#pragma once

#include "device.hpp"

#define LDS(TYPE) volatile TYPE __attribute__((address_space(3)))*
#define GLOBAL(TYPE) volatile TYPE __attribute__((address_space(1)))*

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));
typedef unsigned u32x4 __attribute__((ext_vector_type(4)));
struct u32x4_by_8 {  // 16 bytes of which only 8 are aligned together
    unsigned long long low, high;
};

#define LANE_KERNEL extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, kBlock)))

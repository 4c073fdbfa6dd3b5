// Branches that lanes take differently, a function that is really called, and trace markers around the phases.
#include "device.hpp"

// Names of the marker values below (spec: `.sqtt_funcmap`, one line per marker).
extern "C" __device__ __attribute__((used, section(".sqtt_funcmap"))) const char sqtt_funcmap[] =
    "K:divergent\n"
    "U:1:classify\n"
    "F:2:refine@divergent.hip\n"
    "P:3:done\n";

__device__ inline void enter(int id) { __builtin_amdgcn_s_ttracedata(id << 2 | 2); }
__device__ inline void leave() { __builtin_amdgcn_s_ttracedata(1); }
__device__ inline void point(int id) { __builtin_amdgcn_s_ttracedata(id << 2); }

// Newton's method for the square root, with as many steps as the value needs.
__device__ __attribute__((noinline)) float refine(float value, unsigned steps) {
    float guess = value * 0.5f;
    for (unsigned i = 0; i < steps; ++i) guess = 0.5f * (guess + value / guess);
    return guess;
}

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(1, kBlock))) void divergent(
    const float* __restrict values, float* __restrict roots, unsigned n) {
    const unsigned i = global_id();
    if (i >= n) return;
    enter(1);
    const float value = values[i];
    unsigned steps = 2;
    if (value > 1.0f) steps = 4 + (lane_in_block() & 3);
    leave();
    float root;
    if (value < 0.0f) {
        root = __builtin_amdgcn_sinf(value);
    } else {
        enter(2);
        root = refine(value, steps);
        leave();
    }
    roots[i] = root;
    point(3);
}

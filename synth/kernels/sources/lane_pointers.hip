// Accesses of memory: pointers with 32- and 64-bit offsets, buffers, elements of 1 to 16 bytes, coalesced or not.
#include "lane_access.hpp"

static constexpr int kVolatile = 1 << 31;  // keeps loads out of clauses, whose instructions share one source line

LANE_KERNEL void lane_pointers(const unsigned* source, unsigned* result, const unsigned* const* rows, unsigned pitch,
                               long long shift, unsigned size) {
    const auto words = (GLOBAL(const unsigned))source;
    const auto bytes = (GLOBAL(const u8))source;
    const auto halves = (GLOBAL(const u16))source;
    const auto pairs = (GLOBAL(const u32x2))source;
    const auto quads = (GLOBAL(const u32x4))source;
    const auto out = (GLOBAL(unsigned))result;
    const auto out_halves = (GLOBAL(u16))result;
    const auto out_quads = (GLOBAL(u32x4))result;
    const unsigned lane = lane_in_block(), id = block() * 128 + lane;
    unsigned sum = 0;

    sum += words[id];                                      // @load_b32
    sum += words[id + 300];                                // @load_b32_offset
    sum += bytes[id];                                      // @load_b8
    sum += halves[id];                                     // @load_b16
    sum += halves[lane * 64];                              // @load_b16_stride_128
    sum += words[lane * 2 + 1];                            // @load_b32_stride_8
    sum += words[lane * 1024];                             // @load_b32_stride_4096
    sum += words[(unsigned long long)lane * 0x12345678u];  // @load_b32_far
    sum += words[(int)lane - 40];                          // @load_b32_negative
    sum += words[(long long)lane * -3];                    // @load_b32_backwards
    sum += words[lane * pitch];                            // @load_b32_pitch
    sum += words[(unsigned long long)lane * pitch + id];   // @load_b32_wide_pitch
    sum += words[lane / 16 * pitch + lane % 16];           // @load_b32_tile
    sum += words[lane + shift];                            // @load_b32_shifted
    sum += words[shift * 3 - lane];                        // @load_b32_shifted_back
    const u32x2 pair = pairs[lane * 3];                    // @load_b64_stride_24
    sum += pair.x ^ pair.y;
    const u32x4 quad = quads[id];  // @load_b128
    sum += quad.x ^ quad.y ^ quad.z ^ quad.w;
    const u32x4 quad_rows = quads[lane % 4 + lane / 4 * 16];  // @load_b128_rows
    sum += quad_rows.x ^ quad_rows.y ^ quad_rows.z ^ quad_rows.w;
    sum += ((volatile const unsigned*)rows[0])[lane * 2];  // @load_b32_loaded_pointer

    // A pointer that advances, as loops over tiles have it.
    auto at = words + lane / 8 * 64 + lane % 8;
#pragma unroll 1
    for (unsigned k = 0; k < size; ++k, at += 8) {
        sum += *at;  // @load_advancing
    }
    auto far = bytes + lane * 4;
#pragma unroll 1
    for (unsigned k = 0; k < size; ++k, far += pitch) {
        sum += *far;  // @load_advancing_pitch
    }
    auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)source, 0, 0x7fffffff, 0);
    sum += __builtin_amdgcn_raw_buffer_load_b32(buffer, lane * 12, 0, kVolatile);              // @buffer_b32
    sum += __builtin_amdgcn_raw_buffer_load_b32(buffer, lane * 4 + 16, pitch * 4, kVolatile);  // @buffer_b32_soffset
    sum += __builtin_amdgcn_raw_buffer_load_b16(buffer, lane * 2 + pitch, 0, kVolatile);       // @buffer_b16
    const u32x4 quad_buffer = __builtin_amdgcn_raw_buffer_load_b128(buffer, lane * 16, 0, kVolatile);  // @buffer_b128
    sum += quad_buffer.x ^ quad_buffer.y ^ quad_buffer.z ^ quad_buffer.w;
    auto out_buffer = __builtin_amdgcn_make_buffer_rsrc(result, 0, 0x7fffffff, 0);
    __builtin_amdgcn_raw_buffer_store_b32(sum, out_buffer, (lane ^ 32) * 4, 64, kVolatile);  // @buffer_store_b32
    out_halves[id] = (u16)sum;                                                               // @store_b16
    out_quads[lane * 2] = u32x4{sum, sum, lane, lane};                                       // @store_b128_stride_32
    if (lane % 2 == 0) out[lane * 8 + pitch] = sum;                                          // @store_b32_even
    const auto counters = (unsigned __attribute__((address_space(1)))*)result + lane * 4;
    __hip_atomic_fetch_add(counters, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);  // @add_b32
    out[id] = sum;                                                                      // @store_b32
}

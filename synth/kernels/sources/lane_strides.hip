// LDS accesses of every width with chosen strides, paddings and swizzles; all lanes are active.
#include "lane_access.hpp"

LANE_KERNEL void lane_strides(unsigned* result, unsigned value) {
    __shared__ __attribute__((aligned(16))) u8 storage[32768];
    const unsigned lane = lane_in_block();
    const auto bytes = (LDS(u8))storage;
    const auto halves = (LDS(u16))storage;
    const auto words = (LDS(unsigned))storage;
    const auto pairs = (LDS(u32x2))storage;
    const auto quads = (LDS(u32x4))storage;
    const auto plain = (unsigned __attribute__((address_space(3)))*)storage;
    unsigned sum = 0;

    bytes[lane] = (u8)value;                               // @write_b8
    bytes[lane * 3 + 1] = (u8)value;                       // @write_b8_stride_3
    halves[lane] = (u16)value;                             // @write_b16
    halves[lane * 33] = (u16)value;                        // @write_b16_stride_66
    words[lane] = value;                                   // @write_b32
    words[lane * 2 + 7] = value;                           // @write_b32_stride_8
    words[lane % 32 * 33 + lane / 32] = value;             // @write_b32_padded_column
    words[lane % 32 * 32 + lane / 32] = value;             // @write_b32_column
    pairs[lane] = u32x2{value, lane};                      // @write_b64
    pairs[lane * 3] = u32x2{value, lane};                  // @write_b64_stride_24
    quads[lane] = u32x4{value, lane, value, lane};         // @write_b128
    quads[lane * 5 + 2] = u32x4{value, lane, lane, lane};  // @write_b128_stride_80
    plain[lane] = value, plain[lane + 100] = lane;         // @write2_b32
    block_barrier();
    sum += bytes[lane];                  // @read_b8
    sum += bytes[lane * 5 + 3];          // @read_b8_stride_5
    sum += halves[lane * 2 + 1];         // @read_b16_stride_4
    sum += halves[1000 - lane];          // @read_b16_backwards
    sum += words[lane];                  // @read_b32
    sum += words[lane * 4];              // @read_b32_stride_16
    sum += words[lane * 32];             // @read_b32_stride_128
    sum += words[lane * 31 + 280];       // @read_b32_stride_124
    sum += words[lane / 2];              // @read_b32_shared
    sum += words[lane & ~63u];           // @read_b32_broadcast
    sum += pairs[lane * 16].x;           // @read_b64_part
    const u32x2 pair = pairs[lane * 2];  // @read_b64_stride_16
    sum += pair.x ^ pair.y;
    const u32x2 pair_padded = pairs[lane % 16 * 17 + lane / 16];  // @read_b64_padded
    sum += pair_padded.x ^ pair_padded.y;
    const u32x4 quad = quads[lane];  // @read_b128
    sum += quad.x ^ quad.y ^ quad.z ^ quad.w;
    const u32x4 quad_strided = quads[lane * 4];  // @read_b128_stride_64
    sum += quad_strided.x ^ quad_strided.y ^ quad_strided.z ^ quad_strided.w;
    const u32x4 quad_column = quads[lane % 8 * 8 + lane / 8];  // @read_b128_column
    sum += quad_column.x ^ quad_column.y ^ quad_column.z ^ quad_column.w;

    // Swizzles: a row of 32 words and a row of 8 quads, XORed with the row's number.
    const unsigned row = lane / 32, column = lane % 32;
    sum += words[row * 32 + (column ^ row * 5 % 32)];                    // @read_b32_xor
    words[column * 32 + (row ^ column)] = sum;                           // @write_b32_xor_column
    const u32x4 quad_xor = quads[lane / 8 * 8 + (lane ^ lane / 8) % 8];  // @read_b128_xor
    sum += quad_xor.x ^ quad_xor.y ^ quad_xor.z ^ quad_xor.w;
    const u32x4 quad_xor_column = quads[lane % 8 * 8 + (lane % 8 ^ lane / 8 % 8)];  // @read_b128_xor_column
    sum += quad_xor_column.x ^ quad_xor_column.y ^ quad_xor_column.z ^ quad_xor_column.w;

    // Several addresses in one instruction.
    sum += plain[lane + 64] ^ plain[lane + 200];                                           // @read2_b32
    sum += plain[lane + 256] ^ plain[lane + 1280];                                         // @read2st64_b32
    const auto by_8 = *(u32x4_by_8 __attribute__((address_space(3)))*)(plain + lane * 6);  // @read2_b64
    sum += (unsigned)(by_8.low ^ by_8.high);
    __hip_atomic_fetch_add(plain + lane * 2, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);  // @add_b32
    ((GLOBAL(unsigned))result)[lane] = sum;                                                         // @store
}

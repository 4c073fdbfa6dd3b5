// Addresses made by bit operations, packed and 64-bit arithmetic, and arguments that are the same for all lanes.
#include "lane_access.hpp"

typedef u16 u16x2 __attribute__((ext_vector_type(2)));

LANE_KERNEL void lane_bits(unsigned* result, unsigned base, unsigned fields, int sign) {
    __shared__ __attribute__((aligned(16))) u8 storage[32768];
    const auto words = (LDS(unsigned))storage;
    const auto bytes = (LDS(u8))storage;
    const unsigned lane = lane_in_block();
    const int id = lane;
    unsigned sum = 0;

    words[255 - lane] = lane;                                                               // @write_reversed
    sum += words[__builtin_bitreverse32(lane) >> 24];                                       // @read_bit_reversed
    sum += words[(lane << 3 | lane >> 5) & 255];                                            // @read_rotated
    sum += words[__builtin_rotateleft32(lane, 27) >> 24];                                   // @read_rotated_wide
    sum += words[__builtin_popcount(lane) * 8 + 1];                                         // @read_popcount
    sum += words[__builtin_clz(lane | 1) * 4];                                              // @read_leading_zeros
    sum += words[__builtin_ctz(lane | 256) * 33];                                           // @read_trailing_zeros
    sum += words[lane & 4 ? lane * 3 : 500 - lane];                                         // @read_selected
    sum += words[lane < 20 ? 20 : lane > 50 ? 50 : lane];                                   // @read_clamped
    sum += words[lane * 0x2545u >> 7 & 0xff];                                               // @read_hashed
    sum += words[lane * 0x9e3779b97f4a7c15ull >> 54];                                       // @read_hashed_64
    sum += words[(lane & 15) * (lane >> 4)];                                                // @read_product
    sum += words[((lane >> 4 & 3) << 6 | (lane & 3) << 4 | (lane >> 2 & 3)) + lane / 64];   // @read_fields
    sum += bytes[(lane * 0x01010101u >> 8 & 0xff) + (lane << 8 & 0xf00)];                   // @read_bytes
    sum += words[(id << 28 >> 28) + 8];                                                     // @read_sign_extended
    sum += words[(id - 40 > 0 ? id - 40 : 40 - id) * 2];                                    // @read_distance
    sum += words[__builtin_elementwise_sub_sat(lane, 20u) * 5];                             // @read_saturated
    sum += words[__builtin_elementwise_max(id - 30, -3) + 3];                               // @read_maximum
    sum += words[__builtin_amdgcn_perm(lane * 0x10203u, 0x04050607u, 0x0c0c0500u) & 1023];  // @read_byte_permute
    sum += words[(lane & 0x33) | (lane * 7 & 0xcc)];                                        // @read_bit_mixed
    sum += words[(lane ^ lane >> 3) & 127];                                                 // @read_gray
    const u16x2 packed = (u16x2{(u16)lane, (u16)(lane * 3)} << u16x2{2, 1}) + u16x2{5, 9};
    sum += words[packed.x + packed.y];  // @read_packed_sum
    const u16x2 product = packed * u16x2{3, 7} - u16x2{1, 2};
    sum += bytes[product.x ^ product.y];  // @read_packed_product

    // Arguments: a base that only moves all lanes, and others that decide the pattern.
    sum += words[lane + base];                                                  // @read_from_base
    sum += words[lane * 3 + base * 16 + (fields >> 8 & 15)];                    // @read_from_field
    sum += words[(lane + base) & 255];                                          // @read_wrapped
    sum += words[lane ^ (fields & 0xff)];                                       // @read_xor_argument
    sum += words[lane << (fields & 3)];                                         // @read_shifted_by_argument
    sum += words[sign < 0 ? 255 - lane : lane * 2];                             // @read_chosen_by_argument
    sum += words[lane * (fields >> 4 & 7) + (sign < -5 ? base : fields & 63)];  // @read_scaled_by_argument
    sum += words[(unsigned)(((unsigned long long)fields << 7 | lane) % 512)];   // @read_wide_argument
    if (fields & 1) {
        sum += words[lane * 9];  // @read_behind_argument
    }
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
    // An address that is put aside in an accumulation register, as compilers do when registers are short.
    unsigned aside, again;
    asm volatile("v_accvgpr_write_b32 %0, %1" : "=a"(aside) : "v"(lane * 11));
    asm volatile("s_nop 1\n\tv_accvgpr_read_b32 %0, %1" : "=v"(again) : "a"(aside));
    sum += words[again];  // @read_put_aside
#endif
    ((GLOBAL(unsigned))result)[lane * 2 + base] = sum;  // @store
}

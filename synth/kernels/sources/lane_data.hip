// Accesses whose addresses or masks come from memory, between others that do not.
#include "lane_access.hpp"

LANE_KERNEL void lane_data(const unsigned* source, const unsigned* indices, unsigned* result) {
    __shared__ __attribute__((aligned(16))) u8 storage[16384];
    const auto words = (LDS(unsigned))storage;
    const auto in = (GLOBAL(const unsigned))source;
    const auto out = (GLOBAL(unsigned))result;
    const unsigned lane = lane_in_block();
    const unsigned index = ((GLOBAL(const unsigned))indices)[lane];  // @load_index
    unsigned sum = in[index];                                        // @load_gathered
    words[lane * 3] = sum;                                           // @write_before
    sum += words[index & 1023];                                      // @read_gathered
    sum += words[lane * 2];                                          // @read_between
    const unsigned stored = words[lane];                             // @read_index
    words[stored & 511] = sum;                                       // @write_scattered
    if (index & 1) {
        sum += words[lane * 5];  // @read_data_mask
        out[lane * 2] = sum;     // @store_data_mask
    }
    sum += words[lane + 9];                                            // @read_behind
    const unsigned uniform = ((GLOBAL(const unsigned))indices)[1000];  // @load_uniform
    sum += in[uniform + lane];                                         // @load_uniform_offset
    if (uniform > 5) {
        sum += words[lane * 6 + 1];  // @read_uniform_branch
    }
    if (index == 77) return;
    out[lane] = sum;  // @store_after_data_exit
}

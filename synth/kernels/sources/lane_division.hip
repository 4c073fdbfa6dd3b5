// Rows and columns by division: by constants, by arguments that are the same for all lanes, signed and narrow.
#include "lane_access.hpp"

LANE_KERNEL void lane_division(unsigned* result, unsigned columns, int step, u16 narrow, unsigned total) {
    __shared__ __attribute__((aligned(16))) u8 storage[32768];
    const auto words = (LDS(unsigned))storage;
    const auto halves = (LDS(u16))storage;
    const auto out = (GLOBAL(unsigned))result;
    const unsigned lane = lane_in_block();
    unsigned sum = lane;

    words[lane / 7 * 8 + lane % 7] = sum;                          // @write_by_7
    sum += words[lane * 1000003u % 1000];                          // @read_modulo_1000
    sum += words[lane * 77777u / 100000 % 2048];                   // @read_by_100000
    sum += words[((int)lane - 100) / 6 + 50];                      // @read_signed_by_6
    sum += words[((int)lane - 100) % 6 + 6];                       // @read_signed_modulo_6
    words[lane / columns + lane % columns * 33] = sum;             // @write_by_columns
    sum += words[(lane * 3 + 1) % columns];                        // @read_modulo_columns
    sum += words[((int)lane - 70) / step + 300];                   // @read_signed_by_step
    sum += words[lane / narrow * 4 + lane % narrow];               // @read_by_narrow
    sum += words[(total / columns) * (lane & 15) + lane / 16];     // @read_uniform_quotient
    halves[lane * (total % columns) + 3] = (u16)sum;               // @write_uniform_remainder
    words[(total / narrow % 64) ^ lane] = sum;                     // @write_uniform_narrow
    out[lane / columns * total + lane % columns] = sum;            // @store_rows
    out[(unsigned long long)(lane % 5) * total + lane / 5] = sum;  // @store_wide_product
}

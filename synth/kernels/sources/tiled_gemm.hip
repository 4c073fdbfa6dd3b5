// C = A * B in 16 x 16 tiles through LDS, with two barriers per tile.
#include "device.hpp"

static constexpr unsigned kTile = 16;

extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(kBlock, kBlock))) void tiled_gemm(
    const float* __restrict a, const float* __restrict b, float* __restrict c, unsigned n) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile + 1];  // one column more, so that a column does not sit in one bank
    const unsigned x = lane_in_block() % kTile;
    const unsigned y = lane_in_block() / kTile;
    const unsigned tiles = n / kTile;
    const unsigned column = block() % tiles * kTile + x;
    const unsigned row = block() / tiles * kTile + y;
    float sum = 0.0f;
#pragma clang loop unroll(disable)
    for (unsigned tile = 0; tile < tiles; ++tile) {
        tile_a[y][x] = a[row * n + tile * kTile + x];
        tile_b[y][x] = b[(tile * kTile + y) * n + column];
        block_barrier();
#pragma clang loop unroll(full)
        for (unsigned k = 0; k < kTile; ++k) sum += tile_a[y][k] * tile_b[k][x];
        block_barrier();
    }
    c[row * n + column] = sum;
}

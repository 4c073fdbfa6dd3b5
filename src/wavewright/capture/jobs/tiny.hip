#include <hip/hip_runtime.h>
#include <cstdio>

// Enough workgroups for every CU of the largest GPU, so that the traced one has some.

__global__ void wavewright_tiny(float* values, int rounds) {
  const int place = blockIdx.x * blockDim.x + threadIdx.x;
  float value = values[place];
  for (int round = 0; round < rounds; ++round) value = value * 1.0001f + 0.5f;
  values[place] = value;
}

static int failed(hipError_t error, const char* what) {
  if (error == hipSuccess) return 0;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(error));
  return 1;
}

int main() {
  const int groups = 4096, lanes = 256;
  float* values = nullptr;
  if (failed(hipMalloc(reinterpret_cast<void**>(&values), sizeof(float) * groups * lanes), "hipMalloc")) return 1;
  if (failed(hipMemset(values, 0, sizeof(float) * groups * lanes), "hipMemset")) return 1;
  for (int launch = 0; launch < 10; ++launch) wavewright_tiny<<<groups, lanes>>>(values, 64);
  if (failed(hipGetLastError(), "launch") || failed(hipDeviceSynchronize(), "hipDeviceSynchronize")) return 1;
  return failed(hipFree(values), "hipFree");
}

// What examples/hip-arguments needs of HIP's header, declared as there, for machines without it.
#pragma once
#include <cstddef>
#include <cstdint>

typedef enum hipError_t { hipSuccess = 0, hipErrorNotFound = 500 } hipError_t;
typedef enum hipJitOption { hipJitOptionMaxRegisters = 0 } hipJitOption;
typedef struct ihipModule_t* hipModule_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
struct dim3 {
    uint32_t x, y, z;
    constexpr dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}
};
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)
#define HIP_LAUNCH_PARAM_END ((void*)0x03)

extern "C" {
hipError_t hipModuleLoad(hipModule_t* module, const char* path);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int count, hipJitOption* options, void** values);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipLaunchKernel(const void* function, dim3 blocks, dim3 block, void** args, size_t lds, hipStream_t stream);
hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
                                 unsigned int by, unsigned int bz, unsigned int lds, hipStream_t stream, void** params,
                                 void** extra);
}

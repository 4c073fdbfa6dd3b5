// Stands for libamdhip64.so: says yes to everything, and counts the launches that reach it.
#include <hip/hip_runtime_api.h>

static int count = 0;

extern "C" {
int stand_in_launches() { return count; }
void** __hipRegisterFatBinary(const void*) { return nullptr; }
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*) {}
hipError_t hipModuleLoad(hipModule_t* module, const char*) { return *module = reinterpret_cast<hipModule_t>(1), hipSuccess; }
hipError_t hipModuleLoadData(hipModule_t* module, const void*) { return hipModuleLoad(module, nullptr); }
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void*, unsigned, hipJitOption*, void**) {
    return hipModuleLoad(module, nullptr);
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t, const char*) {
    return *function = reinterpret_cast<hipFunction_t>(new char), hipSuccess;
}
hipError_t hipLaunchKernel(const void*, dim3, dim3, void**, size_t, hipStream_t) { return ++count, hipSuccess; }
hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 hipStream_t, void**, void**) {
    return ++count, hipSuccess;
}
hipError_t hipExtModuleLaunchKernel(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, size_t,
                                    hipStream_t, void**, void**, hipEvent_t, hipEvent_t, uint32_t) {
    return ++count, hipSuccess;
}
}

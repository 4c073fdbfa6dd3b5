// program CODE_OBJECT SYMBOL: launches that kernel, saxpy(float a, const float* x, float* y, unsigned n), three times, in the ways of compiled programs and of modules.
#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
void** __hipRegisterFatBinary(const void*);
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned, void*, void*, void*, void*, int*);
int stand_in_launches();
}

static void saxpy_on_host() {}

int main(int, char** argv) {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    const auto word = [](uint64_t value) { return std::string(reinterpret_cast<const char*>(&value), 8); };
    const std::string id = "hipv4-amdgcn-amd-amdhsa--gfx942";
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__" + word(1) + word(4096) + word(code.size()) + word(id.size()) + id;
    bundle.resize(4096);
    bundle += code;
    struct {
        uint32_t magic, version;
        const void* binary;
        void* unused;
    } wrapper{0x48495046, 1, bundle.data(), nullptr};
    void** modules = __hipRegisterFatBinary(&wrapper);
    auto* host = reinterpret_cast<const void*>(&saxpy_on_host);
    __hipRegisterFunction(modules, host, nullptr, argv[2], ~0u, nullptr, nullptr, nullptr, nullptr, nullptr);
    float a = 2.5f;
    uint64_t x = 0x7f0000002000, y = 0x7f0000001000;
    unsigned n = 1000;
    void* params[] = {&a, &x, &y, &n};
    hipLaunchKernel(host, dim3(4), dim3(256), params, 64, nullptr);
    n = 500;
    hipLaunchKernel(host, dim3(2), dim3(256), params, 0, nullptr);

    hipModule_t module;
    hipFunction_t function;
    hipModuleLoad(&module, argv[1]);
    hipModuleGetFunction(&function, module, argv[2]);
    char packed[28] = {};
    std::memcpy(packed, &a, 4), std::memcpy(packed + 8, &x, 8);
    std::memcpy(packed + 16, &y, 8), std::memcpy(packed + 24, &n, 4);
    size_t size = sizeof packed;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    hipModuleLaunchKernel(function, 2, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra);
    std::printf("%d launches reached the runtime\n", stand_in_launches());
}

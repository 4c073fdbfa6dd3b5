// What libFuzzer calls; WAVEWRIGHT_FUZZ_TARGET names the function.
#include "targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    wavewright::fuzz::WAVEWRIGHT_FUZZ_TARGET({data, size});
    return 0;
}

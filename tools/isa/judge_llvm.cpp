// LLVM's disassembler as a judge: judge_llvm LIBRARY CPU FEATURES < windows > answers.
//
// A window is 20 bytes; the answer is one line for the instruction at its front: `SIZE TAB TEXT`, `0 TAB -` where LLVM
// says that there is none, and `0 TAB !` where it died of it: LLVM 22 gets a segmentation fault from some words, and a
// judge of millions must go on. LLVM's C interface is declared here, so that nobody needs its headers.
#include <dlfcn.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr size_t kWindowBytes = 20, kTextBytes = 4096, kFlushBytes = 1 << 16;
sigjmp_buf past_death;

void on_death(int) {
    siglongjmp(past_death, 1);
}

void survive_deaths() {
    static char stack[1 << 16];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) {
        struct sigaction action{};
        action.sa_handler = on_death;
        action.sa_flags = SA_NODEFER | SA_ONSTACK;
        sigaction(signal, &action, nullptr);
    }
}

template <class Function>
Function* symbol(void* library, const char* name) {
    void* const address = dlsym(library, name);
    if (address == nullptr) std::fprintf(stderr, "no %s\n", name);
    return reinterpret_cast<Function*>(address);
}

// Runs of blanks become one; behind the semicolon stand remarks.
void append_text(std::string& out, const char* text) {
    bool blank = false, any = false;
    for (; *text != '\0' && *text != ';'; ++text) {
        if (*text == ' ' || *text == '\t' || *text == '\n') {
            blank = any;
            continue;
        }
        if (blank) out += ' ';
        blank = false;
        any = true;
        out += *text;
    }
}

void write(std::string& out) {
    std::fwrite(out.data(), 1, out.size(), stdout);
    out.clear();
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) return std::fprintf(stderr, "usage: judge_llvm LIBRARY CPU FEATURES\n"), 2;
    void* const library = dlopen(arguments[1], RTLD_NOW);
    if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    for (const char* part :
         {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC", "LLVMInitializeAMDGPUDisassembler"})
        symbol<void()>(library, part)();
    const auto create = symbol<void*(const char*, const char*, const char*, void*, int, void*, void*)>(
        library, "LLVMCreateDisasmCPUFeatures");
    const auto step =
        symbol<size_t(void*, uint8_t*, uint64_t, uint64_t, char*, size_t)>(library, "LLVMDisasmInstruction");
    void* const context = create("amdgcn-amd-amdhsa", arguments[2], arguments[3], nullptr, 0, nullptr, nullptr);
    if (context == nullptr) return std::fprintf(stderr, "LLVM has no %s\n", arguments[2]), 2;
    survive_deaths();
    static uint8_t window[kWindowBytes];
    static char text[kTextBytes];
    static std::string out;  // static: what a jump over a death must not lose
    while (std::fread(window, 1, kWindowBytes, stdin) == kWindowBytes) {
        if (sigsetjmp(past_death, 0) != 0) {
            out += "0\t!\n";
            continue;
        }
        const size_t size = step(context, window, kWindowBytes, 0, text, kTextBytes);
        if (size == 0) {
            out += "0\t-\n";
        } else {
            out += std::to_string(size) + '\t';
            append_text(out, text);
            out += '\n';
        }
        if (out.size() > kFlushBytes) write(out);
    }
    write(out);
    std::fflush(stdout);
    std::_Exit(0);  // a heap that deaths left in disorder is not taken down
}

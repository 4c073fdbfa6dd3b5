// A library for LD_PRELOAD that writes the arguments of HIP launches as arguments.json, which `wavewright lanes` reads.
//
//   g++ -std=c++17 -O2 -fPIC -shared -D__HIP_PLATFORM_AMD__ -I/opt/rocm/include record_arguments.cpp -o
//       librecord_arguments.so -ldl
//   wavewright capture att --arguments ./librecord_arguments.so --kernel gemm -- ./program
//   WAVEWRIGHT_ARGUMENTS=FOLDER LD_PRELOAD=./librecord_arguments.so ./program
//
// It passes every call on as it came. The sizes of arguments are in the metadata of the code objects that the program
// loads; launches of compressed code objects, and those of other ways to launch, are not written. Only a runtime that
// stands for HIP has tried it so far, no GPU.
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kLaunchesMax = 20'000;  // a long training launches millions; traced are the first ones
constexpr size_t kSegmentMax = 4096;
constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA

struct Argument {
    size_t offset = 0, size = 0;
    bool hidden = false;
};

struct Recorder {
    std::mutex mutex;
    std::map<std::string, std::vector<Argument>> kernels;  // symbol -> explicit arguments
    std::map<const void*, std::string> names;              // host function or hipFunction_t -> symbol
    std::map<const void*, size_t> launches;                // as profilers count: two functions may have one name
    FILE* file = nullptr;
    pid_t pid = 0;
    size_t count = 0;
};

Recorder& recorder() {
    static Recorder* one = new Recorder;  // never destroyed: programs launch from destructors, too
    return *one;
}

// MessagePack as far as the metadata note uses it; every step is inside the note, and nesting is bounded.
class Pack {
public:
    Pack(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

    template <typename F>
    void each(F entry) {  // key and position of each entry of the map here; entry must read or skip the value
        if (kind() != 'm') return skip();
        known_ = false;
        for (size_t left = length_; left-- && at_ < end_;) entry(text());
    }
    template <typename F>
    void items(F item) {
        if (kind() != 'a') return skip();
        known_ = false;
        for (size_t left = length_; left-- && at_ < end_;) item();
    }
    std::string_view text() {
        if (kind() != 's' || length_ > size_t(end_ - at_)) return skip(), std::string_view{};
        at_ += length_;
        known_ = false;
        return {reinterpret_cast<const char*>(at_ - length_), length_};
    }
    size_t number() {
        if (kind() != 'n') return skip(), 0;
        known_ = false;
        return length_;
    }
    void skip(int depth = 0) {
        const char what = kind();
        known_ = false;
        size_t left = what == 'm' ? 2 * length_ : what == 'a' ? length_ : 0;
        if (what == 's') at_ += length_ < size_t(end_ - at_) ? length_ : size_t(end_ - at_);
        if (depth > 64) at_ = end_;
        while (left-- && at_ < end_) skip(depth + 1);
    }

private:
    char kind() {  // m map, a array, s text or bytes, n number, x anything else; its length or value is then known
        if (known_) return what_;
        what_ = 'x', length_ = 0, known_ = true;
        if (at_ >= end_) return what_;
        const uint8_t first = *at_++;
        const auto big = [&](int bytes) {
            size_t value = 0;
            while (bytes-- && at_ < end_) value = value << 8 | *at_++;
            return value;
        };
        if (first < 0x80) what_ = 'n', length_ = first;
        else if (first < 0x90) what_ = 'm', length_ = first & 15;
        else if (first < 0xa0) what_ = 'a', length_ = first & 15;
        else if (first < 0xc0) what_ = 's', length_ = first & 31;
        else if (first >= 0xc4 && first <= 0xc6) what_ = 's', length_ = big(1 << (first - 0xc4));
        else if (first >= 0xca && first <= 0xcb) big(first == 0xca ? 4 : 8);
        else if (first >= 0xcc && first <= 0xcf) what_ = 'n', length_ = big(1 << (first - 0xcc));
        else if (first >= 0xd0 && first <= 0xd3) big(1 << (first - 0xd0));
        else if (first >= 0xd9 && first <= 0xdb) what_ = 's', length_ = big(1 << (first - 0xd9));
        else if (first >= 0xdc && first <= 0xdd) what_ = 'a', length_ = big(first == 0xdc ? 2 : 4);
        else if (first >= 0xde && first <= 0xdf) what_ = 'm', length_ = big(first == 0xde ? 2 : 4);
        return what_;
    }

    const uint8_t *at_, *end_;
    char what_ = 'x';
    size_t length_ = 0;
    bool known_ = false;  // the head of the value at at_ is read
};

void read_kernel(Pack& pack) {
    std::string name;
    std::vector<Argument> arguments;
    pack.each([&](std::string_view key) {
        if (key == ".name") name = pack.text();
        else if (key != ".args") pack.skip();
        else pack.items([&] {
            Argument each;
            pack.each([&](std::string_view field) {
                if (field == ".offset") each.offset = pack.number();
                else if (field == ".size") each.size = pack.number();
                else if (field == ".value_kind") each.hidden = pack.text().substr(0, 7) == "hidden_";
                else pack.skip();
            });
            const bool fits = each.offset <= kSegmentMax && each.size <= kSegmentMax - each.offset;
            if (!each.hidden && fits) arguments.push_back(each);
        });
    });
    if (!name.empty()) recorder().kernels[name] = std::move(arguments);
}

void read_elf(const uint8_t* image, size_t size) {
    Elf64_Ehdr head;
    if (size < sizeof head) return;
    std::memcpy(&head, image, sizeof head);
    if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phoff > size) return;
    for (size_t i = 0; i < head.e_phnum && (i + 1) * sizeof(Elf64_Phdr) <= size - head.e_phoff; ++i) {
        Elf64_Phdr part;
        std::memcpy(&part, image + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type != PT_NOTE || part.p_offset > size || part.p_filesz > size - part.p_offset) continue;
        for (size_t at = part.p_offset, end = at + part.p_filesz; end - at >= sizeof(Elf64_Nhdr);) {
            Elf64_Nhdr note;
            std::memcpy(&note, image + at, sizeof note);
            at += sizeof note;
            const size_t name = (size_t(note.n_namesz) + 3) & ~size_t(3), text = (size_t(note.n_descsz) + 3) & ~size_t(3);
            if (name > end - at || text > end - at - name) break;
            Pack pack(image + at + name, image + at + name + note.n_descsz);
            if (note.n_type == kMetadataNote) {
                pack.each([&](std::string_view key) {
                    if (key == "amdhsa.kernels") pack.items([&] { read_kernel(pack); });
                    else pack.skip();
                });
            }
            at += name + text;
        }
    }
}

// A code object, or a bundle of several, in the memory of this program; `size` is 0 where nothing says it.
void read_image(const void* data, size_t size = 0) {
    constexpr char kBundle[] = "__CLANG_OFFLOAD_BUNDLE__";
    const auto* image = static_cast<const uint8_t*>(data);
    if (!image || (size && size < sizeof(Elf64_Ehdr))) return;
    if (!std::memcmp(image, ELFMAG, SELFMAG)) {
        Elf64_Ehdr head;
        std::memcpy(&head, image, sizeof head);
        const size_t whole = head.e_shoff + size_t(head.e_shnum) * head.e_shentsize;  // sections come last
        return read_elf(image, size && size < whole ? size : whole);
    }
    if (std::memcmp(image, kBundle, sizeof kBundle - 1)) return;  // compressed, or of another kind
    const uint8_t* at = image + sizeof kBundle - 1;
    const auto word = [&] {
        uint64_t value = 0;
        if (!size || size_t(at - image) + 8 <= size) std::memcpy(&value, at, 8);
        at += 8;
        return value;
    };
    for (uint64_t left = word(); left-- && (!size || size_t(at - image) < size);) {
        const uint64_t offset = word(), length = word(), id = word();
        if (!size || (offset <= size && length <= size - offset)) read_elf(image + offset, length);
        at += id;
    }
}

FILE* open_file() {
    auto& all = recorder();
    if (all.pid == getpid()) return all.file;
    all.pid = getpid();  // the first launch of this process, or of a child
    const char* folder = std::getenv("WAVEWRIGHT_ARGUMENTS");
    const std::string place = std::string(folder && *folder ? folder : ".") + "/" + std::to_string(all.pid);
    mkdir(place.c_str(), 0777);
    all.file = std::fopen((place + "/arguments.json").c_str(), "w");
    all.launches.clear();
    all.count = 0;
    if (all.file) std::fputs("{\"format\": \"wavewright.arguments\", \"version\": 1, \"dispatches\": [\n]}", all.file);
    return all.file;
}

struct Size {
    unsigned x, y, z;
};

void record(const void* function, Size grid, Size block, size_t lds, void** params, void** extra) {
    auto& all = recorder();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto name = all.names.find(function);
    if (name == all.names.end() || name->second.find_first_of("\"\\") != std::string::npos) return;
    FILE* file = open_file();
    const size_t launch = ++all.launches[function];
    std::vector<uint8_t> segment;
    const auto kernel = all.kernels.find(name->second);
    if (params && kernel != all.kernels.end()) {
        for (size_t i = 0; i < kernel->second.size(); ++i) {
            const auto& each = kernel->second[i];
            if (segment.size() < each.offset + each.size) segment.resize(each.offset + each.size);
            std::memcpy(segment.data() + each.offset, params[i], each.size);
        }
    } else if (extra && extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER && extra[2] == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
        const size_t size = *static_cast<const size_t*>(extra[3]);
        const auto* bytes = static_cast<const uint8_t*>(extra[1]);
        if (size <= kSegmentMax) segment.assign(bytes, bytes + size);
    }
    if (!file || segment.empty() || all.count >= kLaunchesMax) return;
    std::fseek(file, -2, SEEK_CUR);  // the file is whole after every launch
    std::fprintf(file, "%s{\"kernel\": \"%s\", \"launch\": %zu, \"workgroup\": [%u, %u, %u], ", all.count++ ? "," : "",
                 name->second.c_str(), launch, block.x, block.y, block.z);
    std::fprintf(file, "\"grid\": [%u, %u, %u], \"lds_bytes\": %zu, \"segment\": \"", grid.x, grid.y, grid.z, lds);
    for (const uint8_t byte : segment) std::fprintf(file, "%02x", byte);
    std::fputs("\"}\n]}", file);
    std::fflush(file);
}

using Function = void*;
Function real_dlsym(void* handle, const char* name) {
    using Dlsym = void* (*)(void*, const char*);
    static Dlsym real = [] {
        for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
            if (void* found = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym>(found);
        }
        return static_cast<Dlsym>(nullptr);
    }();
    return real ? real(handle, name) : nullptr;
}

std::map<std::string_view, Function>& by_handle() {  // real functions that a program asked dlsym for
    static auto* one = new std::map<std::string_view, Function>;
    return *one;
}

template <typename F>
F real(const char* name, F) {
    const std::lock_guard<std::mutex> lock(recorder().mutex);
    const auto found = by_handle().find(name);
    return reinterpret_cast<F>(found != by_handle().end() ? found->second : real_dlsym(RTLD_NEXT, name));
}
#define REAL(name) real(#name, &name)

Size items(dim3 blocks, dim3 block) { return {blocks.x * block.x, blocks.y * block.y, blocks.z * block.z}; }

}  // namespace

extern "C" {

void** __hipRegisterFatBinary(const void* wrapper) {
    struct Wrapper {
        uint32_t magic, version;
        const void* binary;
    };
    if (wrapper) {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        read_image(static_cast<const Wrapper*>(wrapper)->binary);
    }
    return REAL(__hipRegisterFatBinary)(wrapper);
}

void __hipRegisterFunction(void** modules, const void* host, char* device, const char* name, unsigned threads, void* a,
                           void* b, void* c, void* d, int* e) {
    {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        if (name) recorder().names[host] = name;
    }
    REAL(__hipRegisterFunction)(modules, host, device, name, threads, a, b, c, d, e);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
    std::ifstream file(path ? path : "", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!bytes.empty()) {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        read_image(bytes.data(), bytes.size());
    }
    return REAL(hipModuleLoad)(module, path);
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
    {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        read_image(image);
    }
    return REAL(hipModuleLoadData)(module, image);
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned count, hipJitOption* names, void** values) {
    {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        read_image(image);
    }
    return REAL(hipModuleLoadDataEx)(module, image, count, names, values);
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
    const hipError_t result = REAL(hipModuleGetFunction)(function, module, name);
    if (result == hipSuccess && function && name) {
        const std::lock_guard<std::mutex> lock(recorder().mutex);
        recorder().names[*function] = name;
    }
    return result;
}

hipError_t hipLaunchKernel(const void* function, dim3 blocks, dim3 block, void** args, size_t lds, hipStream_t stream) {
    record(function, items(blocks, block), {block.x, block.y, block.z}, lds, args, nullptr);
    return REAL(hipLaunchKernel)(function, blocks, block, args, lds, stream);
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                 unsigned bz, unsigned lds, hipStream_t stream, void** params, void** extra) {
    record(function, items({gx, gy, gz}, {bx, by, bz}), {bx, by, bz}, lds, params, extra);
    return REAL(hipModuleLaunchKernel)(function, gx, gy, gz, bx, by, bz, lds, stream, params, extra);
}

// As in hip_ext.h: the grid counts work-items.
hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
                                    uint32_t bz, size_t lds, hipStream_t stream, void** params, void** extra,
                                    hipEvent_t start, hipEvent_t stop, uint32_t flags) {
    record(function, {gx, gy, gz}, {bx, by, bz}, lds, params, extra);
    return REAL(hipExtModuleLaunchKernel)(function, gx, gy, gz, bx, by, bz, lds, stream, params, extra, start, stop, flags);
}

// Programs that load the runtime themselves, as Triton does, ask for its functions here.
void* dlsym(void* handle, const char* name) {
    void* found = real_dlsym(handle, name);
    if (!found) return found;
#define OURS(function)                                            \
    if (!std::strcmp(name, #function)) {                          \
        if (found == reinterpret_cast<void*>(&function)) return found; \
        const std::lock_guard<std::mutex> lock(recorder().mutex); \
        by_handle()[#function] = found;                           \
        return reinterpret_cast<void*>(&function);                \
    }
    OURS(hipModuleLoad)
    OURS(hipModuleLoadData)
    OURS(hipModuleLoadDataEx)
    OURS(hipModuleGetFunction)
    OURS(hipLaunchKernel)
    OURS(hipModuleLaunchKernel)
    OURS(hipExtModuleLaunchKernel)
    return found;
}
}

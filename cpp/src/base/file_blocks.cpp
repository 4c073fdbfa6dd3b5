#include "wavewright/file_blocks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>

#ifdef __linux__
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace wavewright {

#ifdef __linux__
namespace {

// A mapping of a file. Read without a lock by the handler of signals, written with one.
struct Mapping {
    std::atomic<uintptr_t> begin{0};  // 0: the place is free
    std::atomic<size_t> size{0};
    std::atomic<bool> is_input{false};  // somebody else's file
    std::atomic<bool> is_cut{false};    // it was shorter than when it was opened
    int descriptor = -1;

    bool has(uintptr_t address) const { return address - begin < size && begin != 0; }
};

std::array<Mapping, 4096> mappings;
std::mutex guard;
std::string folder;       // empty: blocks stay in memory
uint64_t most_bytes = 0;  // of all blocks
uint64_t total_bytes = 0;
std::atomic<bool> is_on{false};
struct sigaction action_before;

const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));

Mapping* mapping_of(const void* block) {
    const auto address = reinterpret_cast<uintptr_t>(block);
    for (Mapping& one : mappings)
        if (one.begin == address && address != 0) return &one;
    return nullptr;
}

Mapping* free_mapping() {
    for (Mapping& one : mappings)
        if (one.begin == 0) return &one;
    return nullptr;
}

void enter(Mapping& one, void* begin, size_t size, int descriptor, bool is_input) {
    one.size = size;
    one.is_input = is_input;
    one.is_cut = false;
    one.descriptor = descriptor;
    one.begin = reinterpret_cast<uintptr_t>(begin);
}

int nameless_file() {
    const int found = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (found >= 0) return found;
    std::string name = folder + "/blocks-XXXXXX";
    const int made = mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0) unlink(name.c_str());
    return made;
}

// A page of zeros where an input has none any more; everything else ends the process as before.
void on_bus_error(int number, siginfo_t* facts, void* context) {
    const auto address = reinterpret_cast<uintptr_t>(facts->si_addr);
    for (Mapping& one : mappings) {
        if (!one.has(address) || !one.is_input) continue;
        void* page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
        if (mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page) {
            one.is_cut = true;
            return;
        }
    }
    if ((action_before.sa_flags & SA_SIGINFO) != 0 && action_before.sa_sigaction != nullptr) {
        action_before.sa_sigaction(number, facts, context);
        return;
    }
    sigaction(SIGBUS, &action_before, nullptr);  // and the instruction is tried again
}

void watch_bus_errors() {
    static std::once_flag once;
    std::call_once(once, [] {
        struct sigaction action{};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGBUS, &action, &action_before);
    });
}

// The lock is held. Room on the disk is taken now: later, a full one would end the process.
bool take_room(int descriptor, size_t before, size_t size) {
    const uint64_t more = size - std::min(before, size);
    if (total_bytes + more > most_bytes) return false;
    if (fallocate(descriptor, 0, 0, static_cast<off_t>(size)) != 0) return false;
    total_bytes += more;
    return true;
}

void* new_block(const void* old, size_t old_bytes, size_t size) {
    Mapping* const place = free_mapping();
    const int descriptor = place == nullptr ? -1 : nameless_file();
    if (descriptor < 0) return nullptr;
    void* block = MAP_FAILED;
    if (take_room(descriptor, 0, size)) {
        block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (block == MAP_FAILED) total_bytes -= size;
    }
    if (block == MAP_FAILED) {
        close(descriptor);
        return nullptr;
    }
    enter(*place, block, size, descriptor, false);
    if (old != nullptr) std::memcpy(block, old, std::min(old_bytes, size));
    return block;
}

void* grown_block(Mapping& one, size_t size) {
    if (!take_room(one.descriptor, one.size, size)) return nullptr;
    void* const old = reinterpret_cast<void*>(one.begin.load());
    void* const block = mremap(old, one.size, size, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) {
        total_bytes -= size - std::min<size_t>(one.size, size);  // the room that was taken
        return nullptr;
    }
    one.size = size;
    one.begin = reinterpret_cast<uintptr_t>(block);
    return block;
}

}  // namespace

void keep_blocks_in(const std::string& to, uint64_t most) {
    const std::lock_guard lock(guard);
    folder = to;
    most_bytes = most;
    is_on = !to.empty();
}

bool are_blocks_in_files() noexcept {
    return is_on;
}

void* block_in_file(void* old, size_t old_capacity, size_t capacity) noexcept {
    if (!is_on || capacity < kInFileFrom) return nullptr;
    const size_t size = (capacity + page_bytes - 1) / page_bytes * page_bytes;
    const std::lock_guard lock(guard);
    Mapping* const one = mapping_of(old);
    return one != nullptr ? grown_block(*one, size) : new_block(old, old_capacity, size);
}

bool is_in_file(const void* block) noexcept {
    return block != nullptr && mapping_of(block) != nullptr;
}

void free_in_file(void* block) noexcept {
    size_t size = 0;
    int descriptor = -1;
    {
        const std::lock_guard lock(guard);
        Mapping* const one = mapping_of(block);
        if (one == nullptr) return;
        size = one->size;
        descriptor = one->descriptor;
        one->begin = 0;
        one->size = 0;
        if (!one->is_input) total_bytes -= size;
    }
    munmap(block, size);  // takes long, and who gives pages back meanwhile would wait for the lock
    close(descriptor);
}

uint64_t bytes_in_files() noexcept {
    const std::lock_guard lock(guard);
    return total_bytes;
}

void give_pages_back() noexcept {
    const std::lock_guard lock(guard);
    for (Mapping& one : mappings)
        if (one.begin != 0) madvise(reinterpret_cast<void*>(one.begin.load()), one.size, MADV_DONTNEED);
}

uint64_t resident_file_bytes() noexcept {
    unsigned long long all = 0, resident = 0, shared = 0;
    std::FILE* const facts = std::fopen("/proc/self/statm", "re");
    if (facts == nullptr) return 0;
    const int found = std::fscanf(facts, "%llu %llu %llu", &all, &resident, &shared);
    std::fclose(facts);
    return found == 3 ? shared * page_bytes : 0;
}

MappedFile::MappedFile(const std::string& path) {
    const auto fail = [&](const char* what) {
        const int code = errno;
        if (descriptor_ >= 0) close(descriptor_);
        throw std::runtime_error(std::string(what) + ": " + std::strerror(code));
    };
    descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts{};
    if (descriptor_ < 0 || fstat(descriptor_, &facts) != 0) fail("cannot be opened");
    if (!S_ISREG(facts.st_mode)) {
        errno = EINVAL;
        fail("not a regular file");
    }
    size_ = static_cast<size_t>(facts.st_size);
    if (size_ == 0) return;
    watch_bus_errors();
    const std::lock_guard lock(guard);
    Mapping* const place = free_mapping();
    errno = EMFILE;
    void* const found = place == nullptr ? MAP_FAILED : mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (found == MAP_FAILED) fail("cannot be mapped");
    madvise(found, size_, MADV_SEQUENTIAL);
    data_ = static_cast<const uint8_t*>(found);
    enter(*place, found, size_, descriptor_, true);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) {
        free_in_file(const_cast<uint8_t*>(data_));
    } else if (descriptor_ >= 0) {
        close(descriptor_);
    }
}

bool MappedFile::is_whole() const {
    struct stat facts{};
    if (fstat(descriptor_, &facts) != 0 || static_cast<size_t>(facts.st_size) < size_) return false;
    const Mapping* const one = mapping_of(data_);
    return one == nullptr || !one->is_cut;
}
#else
void keep_blocks_in(const std::string&, uint64_t) {}
bool are_blocks_in_files() noexcept {
    return false;
}
void* block_in_file(void*, size_t, size_t) noexcept {
    return nullptr;
}
bool is_in_file(const void*) noexcept {
    return false;
}
void free_in_file(void*) noexcept {}
uint64_t bytes_in_files() noexcept {
    return 0;
}
void give_pages_back() noexcept {}
uint64_t resident_file_bytes() noexcept {
    return 0;
}
MappedFile::MappedFile(const std::string&) {
    throw std::runtime_error("files cannot be mapped here");
}
MappedFile::~MappedFile() = default;
bool MappedFile::is_whole() const {
    return true;
}
#endif

}  // namespace wavewright

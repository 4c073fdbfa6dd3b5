#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sqlite/bytes.hpp"
#include "wavewright/sqlite_file.hpp"

namespace wavewright {
namespace {

constexpr char kMagic[] = "SQLite format 3";  // with its NUL
constexpr size_t kPageSizeAt = 16, kReservedAt = 20, kEncodingAt = 56;
constexpr uint32_t kMinUsable = 480, kMaxPageSize = 65536, kUtf8 = 1;
constexpr uint8_t kTableInterior = 5, kTableLeaf = 13;

}  // namespace

std::shared_ptr<const SqliteFile> SqliteFile::of_descriptor(int descriptor) {
    std::shared_ptr<SqliteFile> file(new SqliteFile());
    file->descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    struct stat status{};
    if (file->descriptor_ >= 0 && fstat(file->descriptor_, &status) == 0 && S_ISREG(status.st_mode))
        file->read_header(static_cast<uint64_t>(status.st_size));
    return file;
}

std::shared_ptr<const SqliteFile> SqliteFile::of_bytes(std::span<const uint8_t> bytes) {
    std::shared_ptr<SqliteFile> file(new SqliteFile());
    file->bytes_ = bytes;
    file->read_header(bytes.size());
    return file;
}

SqliteFile::~SqliteFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

void SqliteFile::read_header(uint64_t byte_count) {
    uint8_t header[kHeaderBytes];
    if (read_at(0, sizeof header, header) != sizeof header || std::memcmp(header, kMagic, sizeof kMagic) != 0) return;
    uint32_t size = sqlite::big_endian16(header + kPageSizeAt);
    if (size == 1) size = kMaxPageSize;  // what does not fit into the two bytes
    if (size < 512 || (size & (size - 1)) != 0 || size - header[kReservedAt] < kMinUsable) return;
    if (sqlite::big_endian32(header + kEncodingAt) > kUtf8) return;  // 0: an empty database has none yet
    page_size_ = size;
    usable_size_ = size - header[kReservedAt];
    page_count_ = static_cast<uint32_t>(std::min<uint64_t>(byte_count / size, UINT32_MAX - 1));
}

bool SqliteFile::is_table(uint32_t root) const {
    uint8_t kind = 0;
    if (root == 0 || root > page_count_) return false;
    const uint64_t offset = uint64_t{root - 1} * page_size_ + (root == 1 ? kHeaderBytes : 0);
    return read_at(offset, 1, &kind) == 1 && (kind == kTableInterior || kind == kTableLeaf);
}

bool SqliteFile::read(uint32_t first, uint32_t count, uint8_t* into) const {
    if (first == 0 || first > page_count_ || count > page_count_ - first + 1) return false;
    const size_t size = size_t{count} * page_size_;
    return read_at(uint64_t{first - 1} * page_size_, size, into) == size;
}

size_t SqliteFile::read_at(uint64_t offset, size_t size, uint8_t* into) const {
    if (descriptor_ < 0) {
        if (offset > bytes_.size()) return 0;
        const size_t available = std::min<size_t>(size, bytes_.size() - offset);
        if (available != 0) std::memcpy(into, bytes_.data() + offset, available);
        return available;
    }
    size_t done = 0;
    while (done < size) {
        const ssize_t got = pread(descriptor_, into + done, size - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<size_t>(got);
    }
    return done;
}

}  // namespace wavewright

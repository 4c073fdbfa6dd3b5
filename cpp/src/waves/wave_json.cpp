// Reads wave files on several threads. Each thread appends what its files hold to columns of its own (a `Block`); then
// the waves are sorted, and the slices of each column are copied together in their order.
#include "wavewright/wave_json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "base/parallel.hpp"
#include "waves/wave_json_file.hpp"

namespace wavewright {
namespace {

constexpr size_t kFilesPerTurn = 16;             // that a thread takes at a time
constexpr unsigned kMostThreads = 16;            // more would wait for the disk, and each has its own columns
constexpr size_t kSpareBytes = size_t{1} << 20;  // so that files that grow slowly do not move the buffer each time

// Reads files one after the other into the same memory.
class FileReader {
  public:
    // The content, with a NUL after it, until the next call; data() is null when it cannot be read. Only regular files
    // are read: opening a pipe must not wait for a writer (O_NONBLOCK).
    std::string_view read(const std::string& path) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0) return {};
        const std::string_view content = read_open(file);
        close(file);
        return content;
    }

  private:
    std::string_view read_open(int file) {
        struct stat about{};
        if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return {};
        const auto size = static_cast<size_t>(about.st_size);
        if (buffer_.size() < size + 1) buffer_.resize(size + 1 + std::min(size / 2, kSpareBytes));
        size_t filled = 0;
        while (filled < size) {
            const ssize_t count = ::read(file, buffer_.data() + filled, size - filled);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) return {};
            if (count == 0) break;  // the file has become shorter
            filled += static_cast<size_t>(count);
        }
        buffer_[filled] = '\0';
        return {buffer_.data(), filled};
    }

    std::vector<char> buffer_;
};

// What one thread has read. WaveHead::block is its number.
struct Block {
    WaveRows rows;
    std::vector<WaveHead> waves;
    WaveProblemTable problems;
    FileReader reader;

    void read(const WaveFile& file, uint32_t number, uint32_t block, const LineRows& lines) {
        const std::string_view text = file.content.data() != nullptr ? file.content : reader.read(file.path);
        if (text.data() == nullptr) return add(number, WaveProblem::unreadable, 0, 1);
        WaveHead head{.file = number, .se = file.se, .block = block};
        RowProblems found;
        FileFault fault;
        if (!parse_wave(text, lines, rows, head, found, fault)) return add(number, fault.kind, fault.byte_offset, 1);
        waves.push_back(head);
        add(number, WaveProblem::malformed_rows, found.malformed_at, found.malformed);
        add(number, WaveProblem::impossible_times, 0, found.impossible);
        add(number, WaveProblem::no_pc, 0, found.no_pc);
        add(number, WaveProblem::unknown_lines, 0, found.unknown_lines);
    }

    void add(uint32_t file, WaveProblem kind, uint64_t byte_offset, uint64_t count) {
        if (count != 0) problems.add(file, static_cast<uint8_t>(kind), byte_offset, count);
    }
};

// The order of waves. Two waves that are equal in all of it are one wave in two files.
auto place_and_times(const WaveHead& wave) {
    return std::tie(wave.se, wave.end, wave.begin, wave.simd, wave.slot, wave.cu);
}

// All waves in the order of the table, each once; the others become problems.
std::vector<WaveHead> ordered_waves(std::vector<Block>& blocks, WaveProblemTable& problems) {
    std::vector<WaveHead> waves;
    for (Block& block : blocks) waves.insert(waves.end(), block.waves.begin(), block.waves.end());
    std::sort(waves.begin(), waves.end(), [](const WaveHead& a, const WaveHead& b) {
        return std::tuple_cat(place_and_times(a), std::tie(a.file)) <
               std::tuple_cat(place_and_times(b), std::tie(b.file));
    });
    std::vector<WaveHead> distinct;
    distinct.reserve(waves.size());
    for (const WaveHead& wave : waves) {
        const bool is_duplicate = !distinct.empty() && place_and_times(distinct.back()) == place_and_times(wave);
        if (is_duplicate) {
            problems.add(wave.file, static_cast<uint8_t>(WaveProblem::duplicate), 0, 1);
        } else {
            distinct.push_back(wave);
        }
    }
    return distinct;
}

void fill_waves(std::span<const WaveHead> waves, WaveFileTable& table) {
    uint64_t instructions = 0, states = 0;
    for (const WaveHead& wave : waves) {
        table.add(wave.file, wave.begin, wave.end, wave.cu, wave.simd, wave.slot, wave.id, wave.me, wave.pipe,
                  wave.workgroup, wave.cluster, instructions, wave.instruction_count, states, wave.state_count);
        instructions += wave.instruction_count;
        states += wave.state_count;
    }
}

// The rows of each wave in one of its tables: where they begin in its block, how many they are, and the sum over waves.
struct Slices {
    uint64_t WaveHead::* first;
    uint32_t WaveHead::* count;
    size_t total;
};

// Copies the slices of one column together and frees where they came from.
template <class T>
void gather(std::span<const WaveHead> waves, std::vector<Block>& blocks, Column<T> WaveRows::* from,
            const Slices& slices, Column<T>& to) {
    if (slices.total != 0) {
        T* at = to.extend(slices.total);
        for (const WaveHead& wave : waves) {
            const size_t length = wave.*slices.count;
            const Column<T>& column = blocks[wave.block].rows.*from;
            if (length != 0) std::memcpy(at, column.data() + wave.*slices.first, length * sizeof(T));
            at += length;
        }
    }
    for (Block& block : blocks) Column<T>().swap(block.rows.*from);
}

// Fills a column with the number of the wave of each row.
void number_waves(std::span<const WaveHead> waves, const Slices& slices, Column<uint32_t>& to) {
    if (slices.total == 0) return;
    uint32_t* at = to.extend(slices.total);
    for (uint32_t wave = 0; wave < waves.size(); ++wave) at = std::fill_n(at, waves[wave].*slices.count, wave);
}

void merge(std::vector<Block>& blocks, unsigned threads, WaveFiles& files) {
    const std::vector<WaveHead> waves = ordered_waves(blocks, files.problems);
    fill_waves(waves, files.waves);
    Slices instructions{&WaveHead::first_instruction, &WaveHead::instruction_count, 0};
    Slices states{&WaveHead::first_state, &WaveHead::state_count, 0};
    for (const WaveHead& wave : waves) {
        instructions.total += wave.instruction_count;
        states.total += wave.state_count;
    }
    const auto instruction_column = [&](auto from, auto& to) {
        return [&, from] { gather(waves, blocks, from, instructions, to); };
    };
    const auto state_column = [&](auto from, auto& to) {
        return [&, from] { gather(waves, blocks, from, states, to); };
    };
    // A piece of work for each column: threads take the next one when they are done.
    const std::function<void()> columns[] = {
        instruction_column(&WaveRows::time, files.instructions.time_cycles),
        instruction_column(&WaveRows::stall, files.instructions.stall_cycles),
        instruction_column(&WaveRows::duration, files.instructions.duration_cycles),
        instruction_column(&WaveRows::row, files.instructions.row),
        [&] { number_waves(waves, instructions, files.instructions.wave); },
        instruction_column(&WaveRows::category, files.instructions.category),
        state_column(&WaveRows::state_duration, files.states.duration_cycles),
        state_column(&WaveRows::state, files.states.state),
        [&] { number_waves(waves, states, files.states.wave); },
    };
    in_parallel(std::size(columns), threads, [&](size_t turn, unsigned) { columns[turn](); });
}

// Adds the problems that the blocks have found to those of merging, by file.
void merge_problems(std::vector<Block>& blocks, WaveProblemTable& all) {
    std::vector<std::tuple<uint32_t, uint8_t, uint64_t, uint64_t>> rows;  // file, kind, byte offset, count
    const auto collect = [&](WaveProblemTable& from) {
        for (size_t i = 0; i < from.file.size(); ++i)
            rows.emplace_back(from.file[i], from.kind[i], from.byte_offset[i], from.count[i]);
    };
    for (Block& block : blocks) collect(block.problems);
    collect(all);
    std::sort(rows.begin(), rows.end());
    WaveProblemTable sorted;
    for (const auto& [file, kind, offset, count] : rows) sorted.add(file, kind, offset, count);
    all = std::move(sorted);
}

}  // namespace

LineRows::LineRows(std::vector<std::pair<int64_t, int32_t>> pairs) : sparse_(std::move(pairs)) {
    std::stable_sort(sparse_.begin(), sparse_.end(), [](auto& a, auto& b) { return a.first < b.first; });
    // Hostile line numbers must not make the array large: lines behind this are looked up among the pairs.
    constexpr size_t kSpareLines = 4096;
    const int64_t dense_end = static_cast<int64_t>(8 * sparse_.size() + kSpareLines);
    for (auto pair = sparse_.rbegin(); pair != sparse_.rend(); ++pair) {  // backwards, so that the first one stays
        const auto [line, row] = *pair;
        if (line < 0 || line >= dense_end) continue;
        if (dense_.size() <= static_cast<size_t>(line)) dense_.resize(static_cast<size_t>(line) + 1, -1);
        dense_[static_cast<size_t>(line)] = row;
    }
}

int32_t LineRows::sparse_row_of(int64_t line) const {
    const auto found = std::lower_bound(sparse_.begin(), sparse_.end(), line,
                                        [](auto& pair, int64_t wanted) { return pair.first < wanted; });
    return found != sparse_.end() && found->first == line ? found->second : -1;
}

WaveFiles read_waves(std::span<const WaveFile> files, const LineRows& lines, unsigned threads) {
    if (threads == 0) threads = workers_for(kMostThreads);
    const size_t turns = (files.size() + kFilesPerTurn - 1) / kFilesPerTurn;
    threads = static_cast<unsigned>(std::clamp<size_t>(turns, 1, threads));
    std::vector<Block> blocks(threads);
    in_parallel(turns, threads, [&](size_t turn, unsigned thread) {
        const size_t end = std::min(files.size(), (turn + 1) * kFilesPerTurn);
        for (size_t i = turn * kFilesPerTurn; i < end; ++i)
            blocks[thread].read(files[i], static_cast<uint32_t>(i), thread, lines);
    });
    WaveFiles all;
    merge(blocks, threads, all);
    merge_problems(blocks, all.problems);
    return all;
}

}  // namespace wavewright

// Tells from the header which generation wrote a buffer, and decodes buffers one by one or on several threads.
#include "wavewright/decode.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "decode/families.hpp"

namespace wavewright {
namespace {

struct Header {
    uint64_t word;
    uint32_t legacy() const { return word & 0x1FFF; }
    uint32_t gfx9_version() const { return (word >> 13) & 7; }
    uint32_t rdna_version() const { return (word >> 7) & 0x3F; }
};

constexpr size_t kHeaderBytes = 8;

Generation generation_of(Header header) {
    const bool gfx9_prefix = header.legacy() == 0 || header.legacy() == 0x11;
    if (gfx9_prefix && header.gfx9_version() >= 4 && header.gfx9_version() <= 6) return Generation::gfx9;
    if (header.legacy() == 0) return Generation::unknown;
    switch (header.rdna_version()) {
        case 1:
        case 2: return Generation::gfx10;
        case 3: return Generation::gfx11;
        case 4: return Generation::gfx12;
        case 5: return Generation::gfx1250;
        default: return Generation::unknown;
    }
}

uint32_t gfxip_of(Generation generation) {
    switch (generation) {
        case Generation::gfx9: return 9;
        case Generation::gfx10: return 10;
        case Generation::gfx11: return 11;
        case Generation::gfx12:
        case Generation::gfx1250: return 12;
        case Generation::unknown: break;
    }
    return 0;
}

Header header_of(std::span<const uint8_t> bytes) {
    Header header{};
    for (size_t i = 0; i < kHeaderBytes; ++i) header.word |= uint64_t{bytes[i]} << (8 * i);
    return header;
}

bool names_wave(Loss kind) {
    return kind == Loss::wave_incomplete || kind == Loss::stitch_incomplete || kind == Loss::branch_target_missing;
}

}  // namespace

Generation detect(std::span<const uint8_t> bytes) {
    return bytes.size() < kHeaderBytes ? Generation::unknown : generation_of(header_of(bytes));
}

Records decode(std::span<const uint8_t> bytes, const Program& program, const Options& options) {
    Records records;
    records.byte_count = bytes.size();
    if (bytes.size() < kHeaderBytes) {
        records.status = bytes.empty() ? Status::empty : Status::too_short;
        return records;
    }
    const Header header = header_of(bytes);
    const Generation generation = generation_of(header);
    records.gfxip = gfxip_of(generation);
    if (generation == Generation::unknown) {
        records.status = Status::unknown_header;
    } else if (generation == Generation::gfx9) {
        records.stream_version = header.gfx9_version();
        if (bytes.size() == kHeaderBytes) {
            records.status = Status::no_payload;
        } else {
            decode_gfx9(bytes, program, options, records);
        }
    } else {
        records.stream_version = header.rdna_version();
        decode_rdna(bytes, generation, program, options, records);
    }
    return records;
}

std::vector<Records> decode_all(std::span<const std::span<const uint8_t>> buffers, const Program& program,
                                const Options& options, unsigned threads) {
    std::vector<Records> results(buffers.size());
    if (threads == 0) threads = workers_for(buffers.size());

    // Largest first, so that one long buffer does not start last.
    std::vector<size_t> order(buffers.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return buffers[a].size() > buffers[b].size(); });

    in_parallel(order.size(), threads,
                [&](size_t turn, unsigned) { results[order[turn]] = decode(buffers[order[turn]], program, options); });
    return results;
}

void rebase(std::span<Records> decoded, size_t first_wave) {
    struct First {
        size_t wave, instruction, state;
    };
    std::vector<First> firsts{{first_wave, 0, 0}};
    for (const Records& records : decoded) {
        const auto [wave, instruction, state] = firsts.back();
        firsts.push_back(
            {wave + records.waves.cu.size(), instruction + records.next_instruction(), state + records.next_state()});
    }
    in_parallel(decoded.size(), workers_for(decoded.size()), [&](size_t turn, unsigned) {
        Records& records = decoded[turn];
        const First& before = firsts[turn];
        const auto shift = static_cast<uint32_t>(before.wave);
        for (uint64_t& first : records.waves.first_instruction) first += before.instruction;
        for (uint64_t& first : records.waves.first_state) first += before.state;
        if (shift == 0) return;
        for (uint32_t& wave : records.instructions.wave) wave += shift;
        for (uint32_t& wave : records.states.wave) wave += shift;
        for (size_t i = 0; i < records.losses.kind.size(); ++i) {
            if (names_wave(static_cast<Loss>(records.losses.kind[i]))) records.losses.value[i] += before.wave;
        }
    });
}

}  // namespace wavewright

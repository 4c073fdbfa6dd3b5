// librocprof-trace-decoder.so with our decoder behind the calls of AMD's 0.1: what rocprofv3 and rocprofiler-sdk load
// from
// `--att-library-path`. The records have the layout of that version (spec_rdna 14.4), their reserved fields what later
// versions keep there. Within a buffer kinds of records come one after the other; AMD's mixes waves with the rest.
#include "trace_decoder.hpp"

#include <array>
#include <new>
#include <string>
#include <vector>

#include "code_on_demand.hpp"

namespace {

using wavewright::CodeOnDemand;
using wavewright::Pc;
using wavewright::Program;
using wavewright::Records;

using namespace wavewright::decoder_calls;

struct OccupancyRecord {
    Pc pc;
    uint64_t time;
    uint8_t reserved, cu, simd, slot;
    uint32_t bits;  // start 1, me 3, pipe 4, is_ext 1, workgroup 7, cluster 5
};
struct CounterRecord {
    int64_t time;
    std::array<uint16_t, 4> values;
    uint8_t cu, bank;
};
struct ShaderDataRecord {
    int64_t time;
    uint64_t value;
    uint8_t cu, simd, slot, flags;
    uint32_t reserved;
};
struct RealtimeRecord {
    int64_t shader_clock;
    uint64_t realtime_clock, reserved;
};
struct OtherSimdRecord {
    uint64_t size_bytes;
    int64_t time;
    uint16_t cycles;
    uint8_t wgp, category;
};
static_assert(sizeof(OccupancyRecord) == 32 && sizeof(CounterRecord) == 24 && sizeof(ShaderDataRecord) == 24);
static_assert(sizeof(RealtimeRecord) == 24 && sizeof(OtherSimdRecord) == 24);

constexpr uint64_t kFirstTextBytes = 64;                // offered first, as AMD's does
constexpr uint64_t kMostTextBytes = uint64_t{1} << 16;  // a longer text is no instruction

CodeOnDemand::Source lines_of(LineCall call, void* user) {
    return [call, user](Pc pc, CodeOnDemand::SourceLine& line) {
        std::string text(kFirstTextBytes, '\0');
        uint64_t text_size = text.size();
        Status status = call(text.data(), &line.size_bytes, &text_size, pc, user);
        if (status == out_of_resources && text_size > text.size() && text_size <= kMostTextBytes) {
            text.resize(text_size);
            status = call(text.data(), &line.size_bytes, &text_size, pc, user);
        }
        if (status != success || text_size > text.size()) return false;
        text.resize(text_size);
        line.text = text.substr(0, text.find('\0'));
        return true;
    };
}

// One call of parse_data: what is told once, and to whom.
class Delivery {
  public:
    Delivery(RecordCall call, void* user) : call_(call), user_(user) {}

    void buffer(const Records& records, const Program& program) {
        if (!is_begun_) send(gfxip, reinterpret_cast<void*>(uintptr_t{records.gfxip}), 0);
        is_begun_ = true;
        waves(records, program);
        lists(records);
        for (const uint8_t code : records.info.code) {
            if (code == static_cast<uint8_t>(wavewright::Info::data_lost)) send_info(code);
        }
        if (records.realtime_hz != 0 && !has_frequency_) {
            uint64_t hz = records.realtime_hz;
            send(realtime_frequency, &hz, 1);
            has_frequency_ = true;
        }
        send_all(counters, counter_records(records));
    }

  private:
    void send(RecordType type, void* records, uint64_t count) { call_(type, records, count, user_); }

    template <class Record>
    void send_all(RecordType type, std::vector<Record> records) {
        if (!records.empty()) send(type, records.data(), records.size());
    }

    void send_info(uint8_t code) {
        int value = code;
        send(info, &value, 1);
    }

    // What is wrong with waves is told before the first of them that has it, once in a call.
    void waves(const Records& records, const Program& program) {
        using wavewright::Info;
        using wavewright::Loss;
        const auto& from = records.waves;
        std::vector<std::vector<Info>> told(from.cu.size());
        for (size_t i = 0; i < records.losses.kind.size(); ++i) {
            const auto kind = static_cast<Loss>(records.losses.kind[i]);
            if (records.losses.value[i] >= told.size()) continue;
            if (kind == Loss::stitch_incomplete) told[records.losses.value[i]].push_back(Info::stitch_incomplete);
            if (kind == Loss::wave_incomplete) told[records.losses.value[i]].push_back(Info::wave_incomplete);
        }
        std::vector<StateRecord> states;
        std::vector<InstructionRecord> instructions;
        for (size_t i = 0; i < from.cu.size(); ++i) {
            for (const Info each : told[i]) {
                bool& is_told = has_told_[static_cast<size_t>(each)];
                if (!is_told) send_info(static_cast<uint8_t>(each));
                is_told = true;
            }
            read_wave(records, program, i, states, instructions);
            WaveRecord record{from.cu[i],
                              from.simd[i],
                              from.slot[i],
                              from.contexts[i],
                              static_cast<uint8_t>((from.me[i] & 7) << 4 | (from.pipe[i] & 15)),
                              from.workgroup[i],
                              from.cluster[i],
                              0,
                              sizeof(WaveRecord),
                              from.start_cycles[i],
                              from.end_cycles[i],
                              states.size(),
                              instructions.size(),
                              states.data(),
                              instructions.data()};
            send(wave, &record, 1);
        }
    }

    static void read_wave(const Records& records, const Program& program, size_t at, std::vector<StateRecord>& states,
                          std::vector<InstructionRecord>& instructions) {
        const auto& waves = records.waves;
        states.clear();
        for (uint64_t i = waves.first_state[at]; i < waves.first_state[at] + waves.state_count[at]; ++i) {
            states.push_back({records.states.state[i], records.states.duration_cycles[i]});
        }
        instructions.clear();
        const auto& from = records.instructions;
        const uint64_t first = waves.first_instruction[at];
        for (uint64_t i = first; i < first + waves.instruction_count[at]; ++i) {
            const auto stall = static_cast<uint32_t>(from.stall_cycles[i]) << 8;
            const Pc pc = from.row[i] < 0 ? Pc{} : program.pc(from.row[i]);
            instructions.push_back({stall | from.category[i], from.duration_cycles[i], from.time_cycles[i], pc});
        }
    }

    void lists(const Records& records) {
        std::vector<OccupancyRecord> changes;
        const auto& waves = records.occupancy;
        for (size_t i = 0; i < waves.cu.size(); ++i) {
            const uint32_t bits = uint32_t{waves.start[i]} | (waves.me[i] & 7U) << 1 | (waves.pipe[i] & 15U) << 4 |
                                  (waves.is_ext[i] & 1U) << 8 | (waves.workgroup[i] & 127U) << 9 |
                                  (waves.cluster[i] & 31U) << 16;
            changes.push_back({{waves.address[i], waves.code_object[i]},
                               static_cast<uint64_t>(waves.time_cycles[i]),
                               0,
                               waves.cu[i],
                               waves.simd[i],
                               waves.slot[i],
                               bits});
        }
        send_all(occupancy, std::move(changes));
        std::vector<RealtimeRecord> clocks;
        for (size_t i = 0; i < records.realtime.realtime_ticks.size(); ++i) {
            clocks.push_back({records.realtime.shader_clock_cycles[i], records.realtime.realtime_ticks[i], 0});
        }
        send_all(realtime, std::move(clocks));
        std::vector<ShaderDataRecord> words;
        const auto& data = records.shader_data;
        for (size_t i = 0; i < data.value.size(); ++i) {
            words.push_back(
                {data.time_cycles[i], data.value[i], data.cu[i], data.simd[i], data.slot[i], data.flags[i], 0});
        }
        send_all(shader_data, std::move(words));
        std::vector<OtherSimdRecord> others;
        const auto& other = records.other_simd;
        for (size_t i = 0; i < other.cu.size(); ++i) {
            others.push_back({sizeof(OtherSimdRecord), other.time_cycles[i], other.duration_cycles[i], other.cu[i],
                              other.category[i]});
        }
        send_all(other_simd, std::move(others));
    }

    static std::vector<CounterRecord> counter_records(const Records& records) {
        std::vector<CounterRecord> samples;
        const auto& from = records.counters;
        for (size_t i = 0; i < from.cu.size(); ++i) {
            samples.push_back({from.time_cycles[i],
                               {from.value0[i], from.value1[i], from.value2[i], from.value3[i]},
                               from.cu[i],
                               from.bank[i]});
        }
        return samples;
    }

    RecordCall call_;
    void* user_;
    bool is_begun_ = false;
    bool has_frequency_ = false;
    std::array<bool, 4> has_told_{};  // by Info
};

Status parse(BufferCall next_buffer, RecordCall record, LineCall line, void* user) {
    CodeOnDemand code(lines_of(line, user));
    Delivery delivery(record, user);
    for (;;) {
        uint8_t* buffer = nullptr;
        uint64_t size = 0;
        if (next_buffer(&buffer, &size, user) == 0 || !buffer || size == 0) return success;
        const Records records = code.decode({buffer, size});
        const bool is_stopped = records.status == wavewright::Status::stopped;
        if (records.status != wavewright::Status::ok && !is_stopped) return invalid_shader_data;
        delivery.buffer(records, code.program());
        if (is_stopped) return invalid_shader_data;
    }
}

}  // namespace

int rocprof_trace_decoder_parse_data(BufferCall next_buffer, RecordCall record, LineCall line, void* user) {
    if (!next_buffer || !record || !line) return invalid_argument;
    try {
        return parse(next_buffer, record, line, user);
    } catch (const std::bad_alloc&) {
        return out_of_resources;
    } catch (...) {  // of the caller's functions too: none may pass through C
        return error;
    }
}

const char* rocprof_trace_decoder_get_info_string(int code) {
    switch (code) {
        case 1: return "the hardware dropped packets: reduce what is traced or enlarge the buffer";
        case 2: return "some instructions could not be matched with the code";
        case 3: return "some waves have no end in the trace";
        default: return "nothing to report";
    }
}

const char* rocprof_trace_decoder_get_status_string(int status) {
    switch (status) {
        case success: return "done";
        case out_of_resources: return "there is not enough memory";
        case invalid_argument: return "a function that has to be given is missing";
        case invalid_shader_data: return "the bytes are no thread trace, or one that breaks off";
        default: return "an error";
    }
}

#include "wavewright.h"

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "wavewright/decode.hpp"

struct wavewright_program {
    wavewright::Program code;
    bool is_linked = false;
};

struct wavewright_trace {
    wavewright::Records records;
    std::vector<wavewright_table> tables;
    std::vector<std::vector<wavewright_column>> columns;  // by table
};

namespace {

template <class T>
constexpr wavewright_type type_of() {
    if constexpr (std::is_same_v<T, uint8_t>) return WAVEWRIGHT_UINT8;
    if constexpr (std::is_same_v<T, uint16_t>) return WAVEWRIGHT_UINT16;
    if constexpr (std::is_same_v<T, uint32_t>) return WAVEWRIGHT_UINT32;
    if constexpr (std::is_same_v<T, uint64_t>) return WAVEWRIGHT_UINT64;
    if constexpr (std::is_same_v<T, int32_t>) return WAVEWRIGHT_INT32;
    if constexpr (std::is_same_v<T, int64_t>) return WAVEWRIGHT_INT64;
}

// Exceptions must not pass through C.
template <class Work>
wavewright_result guarded(Work&& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        return WAVEWRIGHT_OUT_OF_MEMORY;
    } catch (const std::length_error&) {
        return WAVEWRIGHT_OUT_OF_MEMORY;
    }
}

void list_tables(wavewright_trace& trace) {
    trace.records.each_table([&](const char* name, auto& table) {
        auto& columns = trace.columns.emplace_back();
        size_t row_count = 0;
        table.each_column([&](const char* column_name, auto& column) {
            using Value = typename std::remove_reference_t<decltype(column)>::value_type;
            columns.push_back({column_name, type_of<Value>(), column.data()});
            row_count = column.size();
        });
        trace.tables.push_back({name, row_count, columns.size(), columns.data()});
    });
}

}  // namespace

uint32_t wavewright_api_version(void) {
    return WAVEWRIGHT_API_VERSION;
}

const char* wavewright_result_text(wavewright_result result) {
    switch (result) {
        case WAVEWRIGHT_OK: return "done";
        case WAVEWRIGHT_INVALID_ARGUMENT: return "an argument is missing, or the call came too early or too late";
        case WAVEWRIGHT_OUT_OF_MEMORY: return "there is not enough memory";
        case WAVEWRIGHT_NOT_A_TRACE: return "these bytes do not begin as a thread trace of a known GPU does";
    }
    return "a result that this version does not have";
}

wavewright_result wavewright_program_create(wavewright_program** program) {
    if (!program) return WAVEWRIGHT_INVALID_ARGUMENT;
    *program = new (std::nothrow) wavewright_program;
    return *program ? WAVEWRIGHT_OK : WAVEWRIGHT_OUT_OF_MEMORY;
}

wavewright_result wavewright_program_add_listing(wavewright_program* program, uint64_t code_object,
                                                 const uint64_t* load_address, const char* text, size_t text_size,
                                                 size_t* unreadable_count) {
    if (!program || program->is_linked || (!text && text_size != 0)) return WAVEWRIGHT_INVALID_ARGUMENT;
    return guarded([&] {
        const auto base = load_address ? std::optional(*load_address) : std::nullopt;
        const size_t unreadable = program->code.add_listing(code_object, base, std::string_view(text, text_size));
        if (unreadable_count) *unreadable_count = unreadable;
        return WAVEWRIGHT_OK;
    });
}

wavewright_result wavewright_program_link(wavewright_program* program) {
    if (!program || program->is_linked) return WAVEWRIGHT_INVALID_ARGUMENT;
    return guarded([&] {
        program->code.link();
        program->is_linked = true;
        return WAVEWRIGHT_OK;
    });
}

wavewright_result wavewright_program_line(const wavewright_program* program, int32_t row, wavewright_line* line) {
    if (!program || !program->is_linked || !line || row < 0) return WAVEWRIGHT_INVALID_ARGUMENT;
    if (static_cast<size_t>(row) >= program->code.row_count()) return WAVEWRIGHT_INVALID_ARGUMENT;
    const wavewright::Pc pc = program->code.pc(row);
    const int32_t listed = program->code.listed_row(row);
    const std::string_view text = listed < 0 ? std::string_view() : program->code.text(listed);
    *line = {pc.object, pc.address, text.data(), text.size()};
    return WAVEWRIGHT_OK;
}

void wavewright_program_free(wavewright_program* program) {
    delete program;
}

wavewright_result wavewright_decode(const void* bytes, size_t byte_count, const wavewright_program* program,
                                    uint32_t flags, wavewright_trace** trace) {
    if (!trace) return WAVEWRIGHT_INVALID_ARGUMENT;
    *trace = nullptr;
    const bool has_code = !program || program->is_linked;
    if (!has_code || (!bytes && byte_count != 0) || (flags & ~uint32_t{WAVEWRIGHT_CORRECTED}) != 0) {
        return WAVEWRIGHT_INVALID_ARGUMENT;
    }
    return guarded([&] {
        const std::span stream(static_cast<const uint8_t*>(bytes), byte_count);
        if (wavewright::detect(stream) == wavewright::Generation::unknown) return WAVEWRIGHT_NOT_A_TRACE;
        const wavewright::Program none;
        auto decoded = std::make_unique<wavewright_trace>();
        const wavewright::Options options{.corrected = (flags & WAVEWRIGHT_CORRECTED) != 0};
        decoded->records = wavewright::decode(stream, program ? program->code : none, options);
        list_tables(*decoded);
        *trace = decoded.release();
        return WAVEWRIGHT_OK;
    });
}

wavewright_result wavewright_trace_facts(const wavewright_trace* trace, wavewright_facts* facts) {
    if (!trace || !facts) return WAVEWRIGHT_INVALID_ARGUMENT;
    const wavewright::Records& records = trace->records;
    const bool stopped = records.status == wavewright::Status::stopped;
    *facts = {records.gfxip,
              records.stream_version,
              records.target_cu,
              records.target_simd,
              records.realtime_hz,
              records.token_count,
              stopped ? records.stopped_at_byte : records.byte_count};
    return WAVEWRIGHT_OK;
}

size_t wavewright_trace_table_count(const wavewright_trace* trace) {
    return trace ? trace->tables.size() : 0;
}

const wavewright_table* wavewright_trace_table_at(const wavewright_trace* trace, size_t number) {
    return trace && number < trace->tables.size() ? &trace->tables[number] : nullptr;
}

const wavewright_table* wavewright_trace_table(const wavewright_trace* trace, const char* name) {
    if (!trace || !name) return nullptr;
    for (const wavewright_table& table : trace->tables) {
        if (std::strcmp(table.name, name) == 0) return &table;
    }
    return nullptr;
}

const wavewright_column* wavewright_table_column(const wavewright_table* table, const char* name) {
    if (!table || !name) return nullptr;
    for (size_t i = 0; i < table->column_count; ++i) {
        if (std::strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
    }
    return nullptr;
}

void wavewright_trace_free(wavewright_trace* trace) {
    delete trace;
}

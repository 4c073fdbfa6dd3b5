#include "arrow_in.hpp"

#include <algorithm>
#include <string>

namespace nb = nanobind;

namespace wavewright::bind {
namespace {

// Layout fixed by the Arrow C stream interface specification.
struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

std::string format_of(ArrowArrayStream* stream) {
    ArrowSchema schema{};
    if (stream->get_schema(stream, &schema) != 0) throw nb::type_error("the column has no Arrow schema");
    const std::string format = schema.format;
    if (schema.release != nullptr) schema.release(&schema);
    return format;
}

bool has_nulls(const ArrowArray& array) {
    return array.null_count != 0 && array.buffers[0] != nullptr;
}

void check(const ArrowArray& array, bool may_have_nulls) {
    const bool well_formed = array.length >= 0 && array.offset >= 0 && array.n_buffers == 2 &&
                             (array.length == 0 || array.buffers[1] != nullptr);
    if (!well_formed) throw nb::type_error("not a column of fixed-width values");
    if (!may_have_nulls && has_nulls(array)) throw nb::value_error("the column has nulls");
}

}  // namespace

std::vector<ArrowChunk> chunks_of(nb::handle column, const char* format, bool may_have_nulls) {
    if (!nb::hasattr(column, "__arrow_c_stream__")) throw nb::type_error("not an Arrow column (no __arrow_c_stream__)");
    const nb::object capsule = column.attr("__arrow_c_stream__")();  // it releases the stream when it goes
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) nb::raise_python_error();
    const std::string found = format_of(stream);
    if (found != format) {
        const std::string what = "a column of Arrow type '" + found + "' where '" + format + "' is needed";
        throw nb::type_error(what.c_str());
    }
    std::vector<ArrowChunk> chunks;
    for (;;) {
        ArrowArray array{};
        if (stream->get_next(stream, &array) != 0) throw nb::value_error("the column cannot be read");
        if (array.release == nullptr) return chunks;
        check(*chunks.emplace_back(array), may_have_nulls);
    }
}

std::vector<uint8_t> known_rows(const std::vector<ArrowChunk>& chunks) {
    std::vector<uint8_t> known;
    if (std::none_of(chunks.begin(), chunks.end(), [](const ArrowChunk& chunk) { return has_nulls(*chunk); }))
        return known;
    for (const ArrowChunk& chunk : chunks) {
        const auto* bits = has_nulls(*chunk) ? static_cast<const uint8_t*>((*chunk).buffers[0]) : nullptr;
        for (int64_t row = (*chunk).offset; row < (*chunk).offset + (*chunk).length; ++row)
            known.push_back(bits == nullptr || (bits[row / 8] >> row % 8 & 1) != 0);
    }
    return known;
}

}  // namespace wavewright::bind

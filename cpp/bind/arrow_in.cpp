#include "arrow_in.hpp"

#include <string>

namespace nb = nanobind;

namespace wavescope::bind {
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

void check(const ArrowArray& array) {
    const bool well_formed = array.length >= 0 && array.offset >= 0 && array.n_buffers == 2 &&
                             (array.length == 0 || array.buffers[1] != nullptr);
    if (!well_formed) throw nb::type_error("not a column of fixed-width values");
    if (array.null_count != 0 && array.buffers[0] != nullptr) throw nb::value_error("the column has nulls");
}

}  // namespace

std::vector<ArrowChunk> chunks_of(nb::handle column, const char* format) {
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
        check(*chunks.emplace_back(array));
    }
}

}  // namespace wavescope::bind

#include "span_pyramid.hpp"

#include <memory>
#include <new>
#include <optional>

#include "arrow.hpp"
#include "arrow_in.hpp"
#include "columns.hpp"
#include "wavewright/span_pyramid.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace wavewright::bind {
namespace {

void build(SpanPyramid* at, nb::handle track, nb::handle begin, nb::handle end, nb::handle kind, nb::object item,
           const SpanRules& rules) {
    const ArrowInput<uint32_t> tracks(track);
    const ArrowInput<int64_t> begins(begin), ends(end);
    const ArrowInput<uint16_t> kinds(kind);
    std::optional<ArrowInput<int32_t>> items;
    if (!item.is_none()) items.emplace(item);
    const SpanColumns spans{tracks.values(), begins.values(), ends.values(), kinds.values(),
                            items ? items->values() : std::span<const int32_t>{}};
    require_same_length(tracks, begins, ends, kinds);
    if (items) require_same_length(tracks, *items);
    nb::gil_scoped_release unlocked;
    new (at) SpanPyramid(spans, rules);
}

ArrowTable tile_of(const SpanPyramid& pyramid, uint32_t level, uint64_t number) {
    const auto found = std::make_shared<SpanTile>();
    {
        nb::gil_scoped_release unlocked;
        *found = pyramid.tile(level, number);
    }
    return arrow_table(*found, found);
}

}  // namespace

void bind_span_pyramid(nb::module_& m) {
    m.attr("TILE_CELLS") = kTileCells;
    nb::class_<SpanRules>(m, "SpanRules", "A layer of a timeline: its tracks, its times and the size of its cells.")
        .def(
            "__init__",
            [](SpanRules* self, uint32_t track_count, int64_t begin, int64_t end, uint8_t cell_bits,
               bool parts_overlaps) { new (self) SpanRules{track_count, begin, end, cell_bits, parts_overlaps}; },
            nb::kw_only(), "track_count"_a, "begin"_a, "end"_a, "cell_bits"_a, "parts_overlaps"_a);
    nb::class_<SpanPyramid>(m, "SpanPyramid", "Spans of time on tracks, as tiles of any level of detail.")
        .def("__init__", &build, "track"_a, "begin"_a, "end"_a, "kind"_a, "item"_a.none(), "rules"_a)
        .def("tile", &tile_of, "level"_a, "tile"_a, "What a tile of a level shows.")
        .def("tile_count", &SpanPyramid::tile_count, "level"_a)
        .def_prop_ro("begin", &SpanPyramid::begin)
        .def_prop_ro("end", &SpanPyramid::end)
        .def_prop_ro("level_count", &SpanPyramid::level_count)
        .def_prop_ro("track_count", &SpanPyramid::track_count)
        .def_prop_ro("byte_count", &SpanPyramid::byte_count)
        .def("__len__", &SpanPyramid::span_count);
}

}  // namespace wavewright::bind

#include "tables.hpp"

#include <algorithm>

namespace wavewright::isa {
namespace {

#include "tables.inc"

}  // namespace

const Tables tables = {
    .columns = columns,
    .search_order = search_order,
    .table_sizes = table_sizes,
    .records = records,
    .traits = traits,
    .templates = templates,
    .forms = forms,
    .operand_names = operand_names,
    .operand_kinds = operand_kinds,
    .sources = sources,
    .fields = fields,
    .field_parts = field_parts,
    .kinds = kinds,
    .images = images,
    .image_sizes = image_sizes,
    .image_dims = image_dims,
    .target_names = target_names,
    .named_numbers = named_numbers,
};

std::string_view text(uint16_t number) {
    return {text_pool + text_places[number], text_places[number + 1] - text_places[number]};
}

const NamedNumber* find_named(Range range, uint32_t number) {
    const std::span<const NamedNumber> numbers = tables.named_numbers.subspan(range.first, range.count);
    const auto at = std::ranges::lower_bound(numbers, number, {}, &NamedNumber::number);
    return at != numbers.end() && at->number == number ? &*at : nullptr;
}

Pattern pattern_of(const Record& record) {
    const Mask& mask = masks[record.mask];
    const uint64_t upper = upper_values[record.upper];
    return {.mask = {mask.low | mask.upper << 32, mask.upper >> 32 | uint64_t{mask.top} << 32},
            .value = {record.value | upper << 32, upper >> 32 | uint64_t{top_values[record.upper]} << 32}};
}

}  // namespace wavewright::isa

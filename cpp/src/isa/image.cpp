// Image instructions: how many registers data and addresses have depends on dmask, dim and other operands.
#include <algorithm>
#include <bit>

#include "decode.hpp"

namespace wavewright::isa {
namespace {

const Image* image_of(const Record& record) {
    const auto number = static_cast<uint16_t>(&record - tables.records.data());
    const auto at = std::ranges::lower_bound(tables.images, number, {}, &Image::record);
    return at != tables.images.end() && at->record == number ? &*at : nullptr;
}

Name resource_name(const Instruction& instruction) {
    return instruction.encoded_as(encoding::mimg) ? Name::srsrc : Name::rsrc;
}

// Addresses in the dwords behind the instruction, a byte each.
bool decode_further_addresses(const Target& target, Instruction& instruction) {
    const int first = instruction.place(Name::vaddr0);
    const int resource = instruction.place(resource_name(instruction));
    if (!instruction.encoded_as(encoding::mimg) || first < 0 || resource <= first + 1) return true;
    const auto count = static_cast<size_t>(resource - first - 1);
    const size_t byte_count = (count + 3) / 4 * 4;
    if (instruction.bytes.size() < instruction.size + byte_count) return false;
    for (size_t number = 0; number < count; ++number) {
        const uint8_t field = instruction.bytes[instruction.size + number];
        if (!decode_operand(target, instruction, static_cast<size_t>(first) + 1 + number, field)) return false;
    }
    instruction.size += byte_count;
    return true;
}

unsigned data_dwords(const Target& target, const Instruction& instruction) {
    const auto mask = static_cast<unsigned>(instruction.number(Name::dmask) & 15);
    unsigned dwords = instruction.is(flag::gather4) ? 4 : std::max(std::popcount(mask), 1);
    const bool is_packed = instruction.number(Name::d16) != 0 && !target.has(feature::unpacked_d16);
    if (is_packed) dwords = (dwords + 1) / 2;
    return dwords + (instruction.number(Name::tfe) != 0 ? 1 : 0);
}

unsigned address_dwords(const Target& target, const Instruction& instruction, const Image& image) {
    const ImageDim& dim = tables.image_dims[static_cast<size_t>(instruction.number(Name::dim) & 7)];
    const bool is_a16 = instruction.number(Name::a16) != 0;
    const unsigned components = (image.coordinates ? dim.coordinates : 0U) + image.lod_or_clamp;
    unsigned dwords = image.extra_arguments + (is_a16 ? (components + 1) / 2 : components);
    if (image.gradients) {
        const bool is_half = (is_a16 && !target.has(feature::g16)) || image.is_g16;
        dwords += is_half ? (dim.gradients / 2U + 1) / 2 * 2 : dim.gradients;
    }
    return dwords;
}

bool exists(const Image& image, unsigned data, unsigned address) {
    const ImageSizes& sizes = tables.image_sizes[image.sizes];
    return data >= 1 && data <= std::size(sizes.address_bits) && (sizes.address_bits[data - 1] >> address & 1);
}

struct Sizes {
    unsigned data, address;
    bool last_takes_rest = false;  // the last separate address is a tuple
};

// Gives operands their sizes; nothing changes where a register would lie outside of its bank.
void apply(const Target& target, Instruction& instruction, const Image& image, const Sizes& sizes) {
    Value* data = nullptr;
    Value* address = nullptr;
    unsigned address_count = sizes.address;
    if (sizes.data != image.data_dwords) data = instruction.value(Name::vdata);
    const bool is_tuple = !image.has_separate_addresses || sizes.last_takes_rest;
    if (target.generation() >= 10 && is_tuple && sizes.address != image.address_dwords) {
        if (sizes.last_takes_rest) {
            address = &instruction.values[instruction.place(resource_name(instruction)) - 1];
            address_count = sizes.address - image.address_dwords + 1U;
        } else {
            address = instruction.value(instruction.has(Name::vaddr0) ? Name::vaddr0 : Name::vaddr);
        }
    }
    if (data != nullptr && data->number + sizes.data > 256) return;
    // gfx90a has its data in even registers; LLVM leaves others as they are.
    if (data != nullptr && target.has(feature::gfx90a_insts) && data->number % 2 != 0) return;
    if (address != nullptr && address->number + address_count > 256) return;
    if (data != nullptr) {
        data->dwords = static_cast<uint8_t>(sizes.data);
        if (Value* result = instruction.value(Name::vdst)) *result = *data;
    }
    if (address != nullptr) address->dwords = static_cast<uint8_t>(address_count);
    if (image.has_separate_addresses && !sizes.last_takes_rest && sizes.address < image.address_dwords)
        instruction.address_count = sizes.address;
}

}  // namespace

bool decode_image(const Target& target, Instruction& instruction) {
    if (!instruction.encoded_as(encoding::mimg | encoding::vimage | encoding::vsample)) return true;
    const Image* image = image_of(*instruction.record);
    if (image == nullptr) return true;
    if (!decode_further_addresses(target, instruction)) return false;
    if (image->is_bvh) {
        if (Value* a16 = instruction.value(Name::a16)) *a16 = Value::of(Value::Kind::number, image->is_a16);
        return true;
    }
    Sizes sizes{data_dwords(target, instruction), image->address_dwords};
    if (target.generation() >= 10) {
        sizes.address = address_dwords(target, instruction, *image);
        if (!image->has_separate_addresses) {
            if (!instruction.encoded_as(encoding::vsample) && sizes.address > 12) sizes.address = 16;
        } else if (sizes.address > image->address_dwords) {
            if (!target.has(feature::partial_nsa)) return true;
            sizes.last_takes_rest = true;
        }
    }
    const bool is_as_recorded = sizes.data == image->data_dwords && sizes.address == image->address_dwords;
    if (!is_as_recorded && exists(*image, sizes.data, sizes.address)) apply(target, instruction, *image, sizes);
    return true;
}

}  // namespace wavewright::isa

// Immediates that mean something: wait counts, hardware registers, messages, swizzles, export targets.
#include <bit>
#include <iterator>

#include "print.hpp"

namespace wavewright::isa {
namespace {

// A number in an immediate that is written as name(number).
struct Counter {
    std::string_view name;
    unsigned value, most;
};

// Those below their maximum, or all of them when none is.
void put_counters(Text& out, std::span<const Counter> counters) {
    bool has_any = false;
    for (const Counter& counter : counters) has_any |= counter.value != counter.most;
    bool is_first = true;
    for (const Counter& counter : counters) {
        if (has_any && counter.value == counter.most) continue;
        if (!is_first) out << ' ';
        is_first = false;
        out << counter.name << '(' << counter.value << ')';
    }
}

}  // namespace

// Whether `print` is one of these methods.
bool Printer::system(Print print, int64_t value) {
    const auto bits = static_cast<unsigned>(value);
    switch (print) {
        case Print::hex_16: out_.hex(value >= -32768 && value <= 65535 ? bits & 0xFFFF : bits); return true;
        case Print::version: version(bits); return true;
        case Print::wait_count: wait_count(bits); return true;
        case Print::delay: delay(bits); return true;
        case Print::dep_ctr: dep_ctr(bits & 0xFFFF); return true;
        case Print::hardware_register: hardware_register(bits); return true;
        case Print::message: message(bits); return true;
        case Print::end_program:
            if (value) out_ << ' ' << value;
            return true;
        case Print::swizzle: swizzle(bits); return true;
        case Print::index_mode: index_mode(bits); return true;
        case Print::interpolation_slot: {
            constexpr std::string_view kSlots[] = {"p10", "p20", "p0"};
            if (bits < std::size(kSlots)) {
                out_ << kSlots[bits];
            } else {
                out_ << std::string_view("invalid_param_") << bits;
            }
            return true;
        }
        case Print::interpolation_attribute: out_ << std::string_view("attr") << bits; return true;
        case Print::interpolation_channel: out_ << '.' << "xyzw"[bits & 3]; return true;
        case Print::export_target: export_target(bits & 63); return true;
        case Print::export_source_0: export_source(0); return true;
        case Print::export_source_1: export_source(1); return true;
        case Print::export_source_2: export_source(2); return true;
        case Print::export_source_3: export_source(3); return true;
        default: return false;
    }
}

void Printer::wait_count(unsigned value) {
    const unsigned generation = target_.generation();
    unsigned vm = 0, exp = 0, lgkm = 0;
    const unsigned most_lgkm = generation >= 10 ? 63 : 15;
    if (generation >= 11) {
        vm = value >> 10 & 63;
        exp = value & 7;
        lgkm = value >> 4 & 63;
    } else {
        vm = (value & 15) | (value >> 14 & 3) << 4;
        exp = value >> 4 & 7;
        lgkm = value >> 8 & most_lgkm;
    }
    const Counter counters[] = {{"vmcnt", vm, 63}, {"expcnt", exp, 7}, {"lgkmcnt", lgkm, most_lgkm}};
    put_counters(out_, counters);
}

void Printer::delay(unsigned value) {
    constexpr std::string_view kIds[] = {
        "NO_DEP",        "VALU_DEP_1",    "VALU_DEP_2",        "VALU_DEP_3",   "VALU_DEP_4",   "TRANS32_DEP_1",
        "TRANS32_DEP_2", "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2", "SALU_CYCLE_3"};
    constexpr std::string_view kSkips[] = {"SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"};
    const unsigned first = value & 15, skip = value >> 4 & 7, second = value >> 7 & 15;
    const std::string_view no_id = "/* invalid instid value */", no_skip = "/* invalid instskip value */";
    const size_t begin = out_.size();
    const auto part = [&](std::string_view name, std::string_view meaning) {
        if (out_.size() != begin) out_ << std::string_view(" | ");
        out_ << name << '(' << meaning << ')';
    };
    if (first) part("instid0", first < std::size(kIds) ? kIds[first] : no_id);
    if (skip) part("instskip", skip < std::size(kSkips) ? kSkips[skip] : no_skip);
    if (second) part("instid1", second < std::size(kIds) ? kIds[second] : no_id);
    if (out_.size() == begin) out_ << '0';
}

void Printer::dep_ctr(unsigned value) {
    const bool has_hold = target_.has(feature::gfx10_b_encoding);
    const Counter counters[] = {{"depctr_hold_cnt", value >> 7 & 1, 1}, {"depctr_sa_sdst", value & 1, 1},
                                {"depctr_va_vdst", value >> 12, 15},    {"depctr_va_sdst", value >> 9 & 7, 7},
                                {"depctr_va_ssrc", value >> 8 & 1, 1},  {"depctr_va_vcc", value >> 1 & 1, 1},
                                {"depctr_vm_vsrc", value >> 2 & 7, 7}};
    const unsigned unused = has_hold ? 0x0060 : 0x00E0;
    if (value & unused) {
        out_.hex(value);
    } else {
        put_counters(out_, std::span(counters).subspan(has_hold ? 0 : 1));
    }
}

void Printer::hardware_register(unsigned value) {
    const unsigned id = value & 63, offset = value >> 6 & 31, width = (value >> 11 & 31) + 1;
    out_ << std::string_view("hwreg(");
    if (const NamedNumber* name = find_named(target_.column->hardware_registers, id)) {
        out_ << text(name->text);
    } else {
        out_ << id;
    }
    if (offset != 0 || width != 32) out_ << std::string_view(", ") << offset << std::string_view(", ") << width;
    out_ << ')';
}

// Bits above the fields are ignored where there is a name.
void Printer::message(unsigned value) {
    const bool is_gfx11 = target_.generation() >= 11;
    if (const NamedNumber* name = find_named(target_.column->messages, value & (is_gfx11 ? 0xFF : 0x3FF))) {
        out_ << text(name->text);
        return;
    }
    const unsigned id = value & (is_gfx11 ? 255 : 15);
    const unsigned operation = is_gfx11 ? 0 : value >> 4 & 7, stream = is_gfx11 ? 0 : value >> 8 & 3;
    if ((id | operation << 4 | stream << 8) != value) {
        out_ << value;
        return;
    }
    out_ << std::string_view("sendmsg(") << id << std::string_view(", ") << operation << std::string_view(", ")
         << stream << ')';
}

void Printer::swizzle(unsigned value) {
    if (value == 0) return;
    out_ << std::string_view(" offset:");
    const size_t begin = out_.size();
    out_ << std::string_view("swizzle(");
    const unsigned and_mask = value & 31, or_mask = value >> 5 & 31, xor_mask = value >> 10 & 31;
    const unsigned group = 32 - and_mask;
    if (value >= 0xE000) {
        out_ << std::string_view("FFT,") << and_mask;
    } else if (value >= 0xC000) {
        out_ << std::string_view("ROTATE,") << (value >> 10 & 1) << ',' << or_mask;
    } else if ((value & 0xFF00) == 0x8000) {
        out_ << std::string_view("QUAD_PERM,") << (value & 3) << ',' << (value >> 2 & 3) << ',' << (value >> 4 & 3)
             << ',' << (value >> 6 & 3);
    } else if (value & 0x8000) {
        out_.cut(begin);
        out_ << value;
        return;
    } else if (and_mask == 31 && or_mask == 0 && std::has_single_bit(xor_mask)) {
        out_ << std::string_view("SWAP,") << xor_mask;
    } else if (and_mask == 31 && or_mask == 0 && xor_mask > 0 && ((xor_mask + 1) & xor_mask) == 0) {
        out_ << std::string_view("REVERSE,") << xor_mask + 1;
    } else if (group > 1 && std::has_single_bit(group) && or_mask < group && xor_mask == 0) {
        out_ << std::string_view("BROADCAST,") << group << ',' << or_mask;
    } else {
        const unsigned of_zeros = or_mask ^ xor_mask, of_ones = (and_mask | or_mask) ^ xor_mask;
        out_ << std::string_view("BITMASK_PERM,\"");
        for (unsigned bit = 16; bit != 0; bit >>= 1) {
            const bool is_fixed = (of_zeros & bit) == (of_ones & bit), is_set = of_zeros & bit;
            out_ << (is_fixed ? (is_set ? '1' : '0') : is_set ? 'i' : 'p');
        }
        out_ << '"';
    }
    out_ << ')';
}

void Printer::index_mode(unsigned value) {
    if (value & ~15U) {
        out_.hex(value);
        return;
    }
    constexpr std::string_view kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
    out_ << std::string_view("gpr_idx(");
    bool is_first = true;
    for (unsigned bit = 0; bit < 4; ++bit) {
        if (!(value >> bit & 1)) continue;
        if (!is_first) out_ << ',';
        is_first = false;
        out_ << kNames[bit];
    }
    out_ << ')';
}

void Printer::version(unsigned value) {
    constexpr std::string_view kBits[] = {"UC_VERSION_W64_BIT", "UC_VERSION_W32_BIT", "UC_VERSION_MDP_BIT"};
    constexpr unsigned kFirstBit = 13, kUsed = 0xE0FF;
    if (value & ~kUsed) {
        out_.hex(value & 0xFFFF);
        return;
    }
    const unsigned flags = value >> kFirstBit;
    // LLVM builds ((a|b)|c) and leaves out the outermost parentheses.
    for (int depth = std::popcount(flags); depth > 1; --depth) out_ << '(';
    if (const NamedNumber* name = find_named(target_.column->versions, value & 255)) {
        out_ << text(name->text);
    } else {
        out_ << (value & 255);
    }
    for (unsigned bit = 0; bit < 3; ++bit) {
        if (!(flags >> bit & 1)) continue;
        out_ << '|' << kBits[bit];
        if (flags >> (bit + 1)) out_ << ')';
    }
}

void Printer::export_target(unsigned value) {
    const unsigned generation = target_.generation();
    out_ << ' ';
    if (value <= 7) {
        out_ << std::string_view("mrt") << value;
    } else if (value == 8) {
        out_ << std::string_view("mrtz");
    } else if (value == 9 && generation < 11) {
        out_ << std::string_view("null");
    } else if (value >= 12 && value <= (generation >= 10 ? 16U : 15U)) {
        out_ << std::string_view("pos") << value - 12;
    } else if (value == 20 && generation >= 10) {
        out_ << std::string_view("prim");
    } else if ((value == 21 || value == 22) && generation >= 11) {
        out_ << std::string_view("dual_src_blend") << value - 21;
    } else if (value >= 32 && generation < 11) {
        out_ << std::string_view("param") << value - 32;
    } else {
        out_ << std::string_view("invalid_target_") << value;
    }
}

void Printer::export_source(unsigned number) {
    constexpr Name kNames[] = {Name::src0, Name::src1, Name::src2, Name::src3};
    const bool is_used = instruction_.number(Name::en) >> number & 1;
    const bool is_compressed = instruction_.number(Name::compr) != 0;
    const Value* value = instruction_.value(kNames[is_compressed ? number / 2 : number]);
    if (is_used && value != nullptr) {
        reg(*value);
    } else {
        out_ << std::string_view("off");
    }
}

}  // namespace wavewright::isa

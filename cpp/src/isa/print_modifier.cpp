// What stands behind the operands: offsets, cache policies, DPP, SDWA, packed bits.
#include <algorithm>
#include <iterator>

#include "print.hpp"

namespace wavewright::isa {
namespace {

int64_t sign_extended(int64_t value, unsigned bits) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

// Bits 2, 3, 0 and 1 of a modifiers operand.
constexpr int64_t kOpSel = 4, kOpSelHigh = 8, kNegateLow = 1, kNegateHigh = 2;

constexpr std::string_view kSelectors[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD", "?"};
constexpr std::string_view kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE", "UNUSED_PAD"};
constexpr Name kSources[] = {Name::src0, Name::src1, Name::src2};
constexpr Name kSourceModifiers[] = {Name::src0_modifiers, Name::src1_modifiers, Name::src2_modifiers};

bool is_atomic_access(const Instruction& instruction) {
    return instruction.is(flag::atomic_return | flag::atomic_no_return);
}

}  // namespace

void Printer::modifier(Print print, int64_t value) {
    const auto bits = static_cast<unsigned>(value);
    switch (print) {
        case Print::offset: offset(value); return;
        case Print::flat_offset: flat_offset(value); return;
        case Print::smem_offset: out_.signed_hex(value); return;
        case Print::cache_policy: cache_policy(value); return;
        case Print::dpp8:
            out_ << std::string_view("dpp8:[");
            for (unsigned lane = 0; lane < 8; ++lane)
                out_ << (bits >> 3 * lane & 7) << (lane == 7 ? std::string_view("]") : std::string_view(","));
            return;
        case Print::dpp_ctrl: dpp_ctrl(bits); return;
        case Print::bound_ctrl:
            if (value) out_ << std::string_view(" bound_ctrl:1");
            return;
        case Print::dpp_fi:
            if (value == 1 || value == 0xEA) out_ << std::string_view(" fi:1");
            return;
        case Print::sdwa_dst_sel: out_ << std::string_view("dst_sel:") << kSelectors[bits & 7]; return;
        case Print::sdwa_src0_sel: out_ << std::string_view("src0_sel:") << kSelectors[bits & 7]; return;
        case Print::sdwa_src1_sel: out_ << std::string_view("src1_sel:") << kSelectors[bits & 7]; return;
        case Print::sdwa_dst_unused: out_ << std::string_view("dst_unused:") << kUnused[bits & 3]; return;
        case Print::op_sel: op_sel(); return;
        case Print::op_sel_hi: packed_bits("op_sel_hi", kOpSelHigh); return;
        case Print::neg_lo: packed_bits("neg_lo", kNegateLow); return;
        case Print::neg_hi: packed_bits("neg_hi", kNegateHigh); return;
        case Print::output_modifier: {
            constexpr std::string_view kTexts[] = {"", " mul:2", " mul:4", " div:2"};
            out_ << kTexts[bits & 3];
            return;
        }
        case Print::blgp: blgp(value); return;
        case Print::bit_op3:
            if ((bits & 255) == 0) return;
            out_ << std::string_view(" bitop3:");
            (bits & 255) <= 10 ? out_ << (bits & 255) : out_.hex(bits & 255);
            return;
        case Print::index_key:
            if (bits & 7) out_ << std::string_view(" index_key:") << (bits & 7);
            return;
        case Print::matrix_a_format: matrix_format("a", value); return;
        case Print::matrix_b_format: matrix_format("b", value); return;
        case Print::matrix_a_scale:
            if (value & 1) out_ << std::string_view(" matrix_a_scale:MATRIX_SCALE_ROW1");
            return;
        case Print::matrix_b_scale:
            if (value & 1) out_ << std::string_view(" matrix_b_scale:MATRIX_SCALE_ROW1");
            return;
        case Print::matrix_a_scale_format: matrix_scale_format("a", value); return;
        case Print::matrix_b_scale_format: matrix_scale_format("b", value); return;
        case Print::r128_or_a16:
            if (value) out_ << (target_.has(feature::r128_a16) ? std::string_view(" a16") : std::string_view(" r128"));
            return;
        case Print::image_dim:
            out_ << std::string_view(" dim:SQ_RSRC_IMG_") << text(tables.image_dims[bits & 7].name);
            return;
        default: return;  // Print::nothing
    }
}

void Printer::offset(int64_t value) {
    if (value == 0) return;
    const bool is_wide = target_.generation() >= 12 && instruction_.encoded_as(encoding::mubuf | encoding::mtbuf);
    out_ << std::string_view(" offset:") << (is_wide ? sign_extended(value, 24) : value & 0xFFFF);
}

void Printer::flat_offset(int64_t value) {
    if (value == 0) return;
    out_ << std::string_view(" offset:");
    const unsigned generation = target_.generation();
    if (instruction_.is(flag::flat_global | flag::flat_scratch) || generation >= 12) {
        out_ << sign_extended(value, generation >= 12 ? 24 : generation == 10 ? 12 : 13);
    } else {
        out_ << (value & 0xFFFF);
    }
}

void Printer::temporal_hint(unsigned hint, unsigned scope) {
    constexpr unsigned kDeviceScope = 2, kSystemScope = 3;
    if (hint == 0) return;
    out_ << std::string_view(" th:");
    if (is_atomic_access(instruction_)) {
        out_ << std::string_view("TH_ATOMIC_");
        if ((hint & 4) && scope < kDeviceScope) {
            out_.hex(hint);
        } else if (hint & 4) {
            out_ << (hint & 2 ? std::string_view("CASCADE_NT") : std::string_view("CASCADE_RT"));
        } else {
            out_ << (hint == 1 ? std::string_view("RETURN") : hint == 2 ? std::string_view("NT") : "NT_RETURN");
        }
        return;
    }
    const bool is_store =
        instruction_.is(flag::may_store) && (!instruction_.is(flag::may_load) || instruction_.is(flag::th_store));
    if (hint == 7 && !is_store) {
        out_.hex(hint);
        return;
    }
    constexpr std::string_view kTexts[] = {"", "NT", "HT", "", "NT_RT", "RT_NT", "NT_HT", "NT_WB"};
    out_ << (is_store ? std::string_view("TH_STORE_") : std::string_view("TH_LOAD_"));
    if (hint == 3) {
        out_ << (scope == kSystemScope ? std::string_view("BYPASS") : is_store ? std::string_view("WB") : "LU");
    } else {
        out_ << kTexts[hint];
    }
}

void Printer::cache_policy(int64_t value) {
    const bool returns_old = instruction_.is(flag::atomic_return) &&
                             instruction_.encoded_as(encoding::mubuf | encoding::flat | encoding::smrd);
    const auto bits = static_cast<unsigned>(value) | (returns_old ? 1U : 0U);
    if (target_.generation() >= 12) {
        constexpr std::string_view kScopes[] = {"", " scope:SCOPE_SE", " scope:SCOPE_DEV", " scope:SCOPE_SYS"};
        const unsigned scope = bits >> 3 & 3;
        if (bits & 0x800) out_ << std::string_view(" scale_offset");
        temporal_hint(bits & 7, scope);
        out_ << kScopes[scope];
        if (bits & 32) out_ << std::string_view(" nv");
        return;
    }
    const bool is_gfx940 = target_.has(feature::gfx940_insts);
    const bool is_scalar = instruction_.encoded_as(encoding::smrd);
    if (bits & 1) out_ << (is_gfx940 && !is_scalar ? std::string_view(" sc0") : std::string_view(" glc"));
    if (bits & 2) out_ << (is_gfx940 ? std::string_view(" nt") : std::string_view(" slc"));
    if ((bits & 4) && target_.generation() >= 10) out_ << std::string_view(" dlc");
    if ((bits & 16) && target_.has(feature::gfx90a_insts))
        out_ << (is_gfx940 ? std::string_view(" sc1") : std::string_view(" scc"));
}

// Instructions of the unit for doubles can take rows of one lane only.
bool Printer::is_double_dpp() const {
    // FeatureDPALU_DPP
    if (!target_.has(feature::gfx90a_insts) && text(target_.column->name) != "gfx1251") return false;
    constexpr std::string_view kIntegers[] = {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mad_u32"};
    if (target_.generation() >= 12 &&
        std::ranges::find(kIntegers, text(instruction_.record->mnemonic)) != std::end(kIntegers))
        return true;
    constexpr Name kOperands[] = {Name::vdst, Name::src0, Name::src1, Name::src2};
    return std::ranges::any_of(kOperands, [&](Name name) {
        const int place = instruction_.place(name);
        if (place < 0) return false;
        const OperandKind& kind = instruction_.kind(static_cast<size_t>(place));
        return kind.decode == Decode::vector && kind.width_bits == 64;
    });
}

void Printer::dpp_ctrl(unsigned value) {
    const bool is_gfx10 = target_.generation() >= 10;
    if ((value < 0x150 || value > 0x15F) && is_double_dpp()) {
        out_ << std::string_view(" /* DP ALU dpp only supports ")
             << (is_gfx10 ? std::string_view("row_share") : std::string_view("row_newbcast"))
             << std::string_view(" */");
        return;
    }
    const unsigned low = value & 15;
    if (value <= 0xFF) {
        out_ << std::string_view("quad_perm:[") << (value & 3) << ',' << (value >> 2 & 3) << ',' << (value >> 4 & 3)
             << ',' << (value >> 6) << ']';
    } else if (value > 0x100 && value <= 0x10F) {
        out_ << std::string_view("row_shl:") << low;
    } else if (value > 0x110 && value <= 0x11F) {
        out_ << std::string_view("row_shr:") << low;
    } else if (value > 0x120 && value <= 0x12F) {
        out_ << std::string_view("row_ror:") << low;
    } else if (value == 0x130 || value == 0x134 || value == 0x138 || value == 0x13C) {
        constexpr std::string_view kTexts[] = {"wave_shl", "wave_rol", "wave_shr", "wave_ror"};
        const std::string_view name = kTexts[low / 4];
        if (is_gfx10) {
            out_ << std::string_view("/* ") << name << std::string_view(" is not supported starting from GFX10 */");
        } else {
            out_ << name << std::string_view(":1");
        }
    } else if (value == 0x140) {
        out_ << std::string_view("row_mirror");
    } else if (value == 0x141) {
        out_ << std::string_view("row_half_mirror");
    } else if (value == 0x142 || value == 0x143) {
        if (is_gfx10) {
            out_ << std::string_view("/* row_bcast is not supported starting from GFX10 */");
        } else {
            out_ << (value == 0x142 ? std::string_view("row_bcast:15") : std::string_view("row_bcast:31"));
        }
    } else if (value >= 0x150 && value <= 0x15F) {
        if (target_.has(feature::gfx90a_insts)) {
            out_ << std::string_view("row_newbcast:") << low;
        } else if (is_gfx10) {
            out_ << std::string_view("row_share:") << low;
        } else {
            out_ << std::string_view(
                " /* row_newbcast/row_share is not supported on ASICs earlier than GFX90A/GFX10 */");
        }
    } else if (value >= 0x160 && value <= 0x16F) {
        if (is_gfx10) {
            out_ << std::string_view("row_xmask:") << low;
        } else {
            out_ << std::string_view("/* row_xmask is not supported on ASICs earlier than GFX10 */");
        }
    } else {
        out_ << std::string_view("/* Invalid dpp_ctrl value */");
    }
}

void Printer::packed_bits(std::string_view title, int64_t bit) {
    constexpr int64_t kNoModifiers = 0;
    int64_t modifiers[3] = {};
    size_t count = 0;
    if (instruction_.is(flag::is_wmma | flag::is_swmmac)) {
        for (const Name name : kSourceModifiers)
            modifiers[count++] = instruction_.has(name) ? instruction_.number(name) : kNoModifiers;
    } else {
        for (size_t source = 0; source < 3 && instruction_.has(kSources[source]); ++source) {
            const Name name = kSourceModifiers[source];
            modifiers[count++] = instruction_.has(name) ? instruction_.number(name) : kNoModifiers;
        }
        if (count == 1 && instruction_.has(Name::src2)) {
            modifiers[count++] = kNoModifiers;
            modifiers[count++] = instruction_.number(Name::src2_modifiers);
        }
    }
    const bool has_result = instruction_.has(Name::vdst) || instruction_.has(Name::sdst);
    const bool shows_result = has_result && count != 0 && bit == kOpSel && instruction_.is(flag::vop3_op_sel);
    const bool result_bit = shows_result && (modifiers[0] & kOpSelHigh) != 0;
    const bool usual = bit == kOpSelHigh && instruction_.is(flag::is_packed);
    bool is_usual = !result_bit;
    for (size_t source = 0; source < count; ++source) is_usual &= ((modifiers[source] & bit) != 0) == usual;
    if (is_usual) return;
    out_ << ' ' << title << std::string_view(":[");
    for (size_t source = 0; source < count; ++source) {
        if (source != 0) out_ << ',';
        out_ << (modifiers[source] & bit ? '1' : '0');
    }
    if (shows_result) out_ << (result_bit ? std::string_view(",1") : std::string_view(",0"));
    out_ << ']';
}

void Printer::op_sel() {
    const auto first = static_cast<unsigned>(instruction_.number(Name::src0_modifiers));
    const auto second = static_cast<unsigned>(instruction_.number(Name::src1_modifiers));
    if (!instruction_.is(flag::cvt_fp8 | flag::permlane16)) return packed_bits("op_sel", kOpSel);
    const unsigned left = first >> 2 & 1;
    const unsigned right = instruction_.is(flag::cvt_fp8) ? first >> 3 & 1 : second >> 2 & 1;
    if (left | right) out_ << std::string_view(" op_sel:[") << left << ',' << right << ']';
}

void Printer::blgp(int64_t value) {
    if (value == 0) return;
    if (target_.has(feature::gfx940_insts) && instruction_.is(flag::named_f64)) {
        out_ << std::string_view(" neg:[") << (value & 1) << ',' << (value >> 1 & 1) << ',' << (value >> 2 & 1) << ']';
    } else {
        out_ << std::string_view(" blgp:") << value;
    }
}

void Printer::matrix_format(std::string_view side, int64_t value) {
    constexpr std::string_view kFormats[] = {"FP8", "BF8", "FP6", "BF6", "FP4"};
    const auto format = static_cast<size_t>(value & 7);
    if (format == 0) return;
    out_ << std::string_view(" matrix_") << side << std::string_view("_fmt:");
    if (format < std::size(kFormats)) {
        out_ << std::string_view("MATRIX_FMT_") << kFormats[format];
    } else {
        out_ << static_cast<int64_t>(format);
    }
}

void Printer::matrix_scale_format(std::string_view side, int64_t value) {
    constexpr std::string_view kFormats[] = {"", "MATRIX_SCALE_FMT_E5M3", "MATRIX_SCALE_FMT_E4M3", "3"};
    if ((value & 3) == 0) return;
    out_ << std::string_view(" matrix_") << side << std::string_view("_scale_fmt:") << kFormats[value & 3];
}

void Printer::buffer_format() {
    const auto format = static_cast<uint32_t>(instruction_.number(Name::format));
    const NamedNumber* named_format = find_named(target_.column->formats, format);
    if (named_format == nullptr) {
        out_ << std::string_view(" format:") << format;
    } else if (named_format->text != 0) {  // the default has none
        out_ << ' ' << text(named_format->text);
    }
}

}  // namespace wavewright::isa

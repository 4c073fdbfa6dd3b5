// Reads the text of an instruction, as disassemblers print it: mnemonic, operands, modifiers, DPP controls. What cannot
// be read becomes an operand of kind `other`, or a modifier: then results are unknown, never wrong.
#include "instruction.hpp"

#include <charconv>
#include <optional>
#include <utility>

#include "wavewright/isa.hpp"

namespace wavewright::evaluate {
namespace {

// Suffixes of mnemonics. The longest first: _e64_dpp also ends with _dpp.
constexpr std::string_view kEncodings[] = {"_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa"};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

// Parts between separators that stand outside of brackets.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    size_t begin = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        const char each = text[at];
        if (each == '[' || each == '(') ++depth;
        if (each == ']' || each == ')') --depth;
        if (each != separator || depth > 0) continue;
        parts.push_back(text.substr(begin, at - begin));
        begin = at + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

std::optional<int64_t> integer_of(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return negative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
}

// The bits of inline constants that are spelled as floats. Their negative forms are read as `-` and the positive one.
std::optional<uint32_t> float_of(std::string_view text) {
    static constexpr std::pair<std::string_view, uint32_t> kFloats[] = {
        {"0.5", 0x3F000000}, {"1.0", 0x3F800000}, {"2.0", 0x40000000}, {"4.0", 0x40800000}};
    for (const auto& [name, bits] : kFloats)
        if (text == name) return bits;
    return std::nullopt;
}

struct NamedRegister {
    std::string_view name;
    uint16_t number;
    uint8_t count;
};

constexpr NamedRegister kNamed[] = {
    {"vcc", isa::vcc_lo, 2},
    {"vcc_lo", isa::vcc_lo, 1},
    {"vcc_hi", isa::vcc_hi, 1},
    {"exec", isa::exec_lo, 2},
    {"exec_lo", isa::exec_lo, 1},
    {"exec_hi", isa::exec_hi, 1},
    {"m0", isa::m0, 1},
    {"scc", isa::scc, 1},
    {"src_scc", isa::scc, 1},
    {"flat_scratch", isa::flat_scratch_lo, 2},
    {"flat_scratch_lo", isa::flat_scratch_lo, 1},
    {"flat_scratch_hi", isa::flat_scratch_hi, 1},
    {"xnack_mask", isa::xnack_mask_lo, 2},
    {"null", isa::null_register, 1},
};

struct RegisterFile {
    std::string_view prefix;
    uint16_t first;
    uint16_t end;
};

constexpr RegisterFile kFiles[] = {{"ttmp", isa::ttmp0, isa::m0},
                                   {"v", isa::vgpr0, isa::agpr0},
                                   {"s", isa::sgpr0, isa::vcc_lo},
                                   {"a", isa::agpr0, isa::register_end}};

// Reads v7, s[4:5]. Returns false for other texts.
bool read_numbered(std::string_view text, Operand& operand) {
    constexpr int64_t kMostRegisters = 64;  // more than any operand has
    for (const RegisterFile& file : kFiles) {
        if (!text.starts_with(file.prefix)) continue;
        std::string_view rest = text.substr(file.prefix.size());
        std::optional<int64_t> first, last;
        if (rest.starts_with('[') && rest.ends_with(']')) {
            rest = rest.substr(1, rest.size() - 2);
            const size_t colon = rest.find(':');
            first = integer_of(rest.substr(0, colon));
            last = colon == std::string_view::npos ? first : integer_of(rest.substr(colon + 1));
        } else {
            first = last = integer_of(rest);
        }
        if (!first || !last || *first < 0 || *last < *first || *last - *first >= kMostRegisters ||
            file.first + *last >= file.end)
            continue;
        operand.kind = Operand::Kind::register_;
        operand.number = static_cast<uint16_t>(file.first + *first);
        operand.count = static_cast<uint8_t>(*last - *first + 1);
        return true;
    }
    return false;
}

constexpr unsigned kMostNested = 4;  // sext(-|v0|) has three; texts of a file may have any number

Operand read_operand(std::string_view text, unsigned depth = 0) {
    Operand operand;
    operand.kind = Operand::Kind::other;
    if (depth > kMostNested) return operand;
    if (text == "off") {
        operand.kind = Operand::Kind::off;
        return operand;
    }
    if (const auto number = integer_of(text)) {
        operand.kind = Operand::Kind::number;
        operand.literal = static_cast<uint32_t>(*number);
        operand.is_inline = *number >= -16 && *number <= 64;
        return operand;
    }
    if (text.starts_with("sext(") && text.ends_with(')')) {
        operand = read_operand(text.substr(5, text.size() - 6), depth + 1);
        operand.is_sign_extended = true;
        return operand;
    }
    if (text.starts_with("-|") || text.starts_with('|') || text.starts_with('-')) {
        const bool is_negated = text.starts_with('-');
        if (is_negated) text.remove_prefix(1);
        const bool is_absolute = text.starts_with('|') && text.ends_with('|') && text.size() > 2;
        operand = read_operand(is_absolute ? text.substr(1, text.size() - 2) : text, depth + 1);
        operand.is_negated = is_negated;
        operand.is_absolute = is_absolute;
        operand.is_changed = true;
        return operand;
    }
    if (text.starts_with("abs(") || text.starts_with("neg(")) {
        operand.is_changed = true;  // whatever it is
        return operand;
    }
    if (const auto bits = float_of(text)) {
        operand.kind = Operand::Kind::number;
        operand.literal = *bits;
        return operand;
    }
    if (text.ends_with(".l") || text.ends_with(".h")) {
        operand.half = text.back() == 'l' ? Half::low : Half::high;
        text.remove_suffix(2);
    }
    for (const NamedRegister& named : kNamed)
        if (text == named.name) {
            operand.kind = Operand::Kind::register_;
            operand.number = named.number;
            operand.count = named.count;
            return operand;
        }
    read_numbered(text, operand);
    return operand;
}

// DPP controls: AMD's instruction set documents, "Data Parallel Processing". A quad has 4 lanes, a row 16. Each control
// is a function from a lane to the lane it reads, -1 for none.
void read_move(Instruction& instruction, unsigned lane_count) {
    LaneMove& move = instruction.move;
    const bool has_dpp8 = instruction.has("dpp8");
    move.row_mask = static_cast<uint8_t>(instruction.number("row_mask", 0xF));
    move.bank_mask = static_cast<uint8_t>(instruction.number("bank_mask", 0xF));
    move.bound_zero = instruction.has("bound_ctrl");
    const auto list = [&](std::string_view name, size_t count) {
        std::vector<int> numbers;
        const auto text = instruction.word(name);
        if (text && text->size() >= 2)
            for (std::string_view part : parts_of(text->substr(1, text->size() - 2), ','))
                numbers.push_back(static_cast<int>(integer_of(trimmed(part)).value_or(-1)));
        return numbers.size() == count ? numbers : std::vector<int>{};
    };
    const auto each_lane = [&](auto&& source) {
        for (unsigned lane = 0; lane < 64; ++lane) {
            const int from = lane < lane_count ? source(static_cast<int>(lane)) : -1;
            move.from[lane] = static_cast<int8_t>(from < static_cast<int>(lane_count) ? from : -1);
        }
    };
    move.is_there = true;
    if (has_dpp8) {
        const auto selected = list("dpp8", 8);
        if (selected.empty())
            move.is_evaluated = false;
        else
            each_lane([&](int lane) { return lane / 8 * 8 + (selected[static_cast<size_t>(lane % 8)] & 7); });
    } else if (const auto quad = list("quad_perm", 4); !quad.empty()) {
        each_lane([&](int lane) { return lane / 4 * 4 + (quad[static_cast<size_t>(lane % 4)] & 3); });
    } else if (instruction.has("row_shl")) {
        const int by = static_cast<int>(instruction.number("row_shl", 0));
        each_lane([&](int lane) { return lane % 16 + by < 16 ? lane + by : -1; });
    } else if (instruction.has("row_shr")) {
        const int by = static_cast<int>(instruction.number("row_shr", 0));
        each_lane([&](int lane) { return lane % 16 >= by ? lane - by : -1; });
    } else if (instruction.has("row_ror")) {
        const int by = static_cast<int>(instruction.number("row_ror", 0));
        each_lane([&](int lane) { return lane / 16 * 16 + (lane % 16 + 16 - by) % 16; });
    } else if (instruction.has("row_mirror")) {
        each_lane([](int lane) { return lane / 16 * 16 + 15 - lane % 16; });
    } else if (instruction.has("row_half_mirror")) {
        each_lane([](int lane) { return lane / 8 * 8 + 7 - lane % 8; });
    } else if (instruction.has("row_newbcast") || instruction.has("row_share")) {
        const int row_lane =
            static_cast<int>(instruction.number(instruction.has("row_share") ? "row_share" : "row_newbcast", 0));
        each_lane([&](int lane) { return lane / 16 * 16 + (row_lane & 15); });
    } else if (instruction.has("row_xmask")) {
        const int mask = static_cast<int>(instruction.number("row_xmask", 0));
        each_lane([&](int lane) { return lane ^ (mask & 15); });
    } else {
        move.is_evaluated = false;  // wave_*, row_bcast: of data, not of addresses
    }
}

// Whether a word is an operand. Others are modifiers, `name:value` or a name behind the operands; of operands only
// ranges of registers (s[4:5]) have a colon.
bool is_operand(std::string_view word, bool is_first_of_part, bool has_modifiers) {
    if (!is_first_of_part) return false;
    const bool has_brackets = word.find('[') != std::string_view::npos;
    const bool is_list = word.find(":[") != std::string_view::npos;  // quad_perm:[0,1,2,3]
    if (has_brackets && !is_list) return true;
    return word.find(':') == std::string_view::npos && !has_modifiers;
}

// `v0, s[4:5], off offset:16`: operands are separated by commas, modifiers stand behind the last one.
void read_operands(std::string_view text, Instruction& instruction) {
    for (std::string_view part : parts_of(text, ',')) {
        bool is_first = true;
        for (std::string_view word : parts_of(trimmed(part), ' ')) {
            if (word.empty()) continue;
            const bool has_modifiers = !instruction.operands.empty() && !instruction.words.empty();
            if (is_operand(word, is_first, has_modifiers))
                instruction.operands.push_back(read_operand(word));
            else
                instruction.words.emplace_back(word);
            is_first = false;
        }
    }
}

Instruction read_single(std::string_view text, unsigned lane_count) {
    constexpr std::string_view kDual = "v_dual_";
    Instruction instruction;
    text = trimmed(text);
    const size_t space = text.find(' ');
    std::string_view mnemonic = text.substr(0, space);
    bool has_move = false;
    for (std::string_view encoding : kEncodings)
        if (mnemonic.ends_with(encoding)) {
            mnemonic.remove_suffix(encoding.size());
            has_move = encoding.ends_with("_dpp");
            instruction.has_sdwa = encoding == "_sdwa";
            break;
        }
    if (mnemonic.starts_with(kDual)) {
        instruction.mnemonic = "v_" + std::string(mnemonic.substr(kDual.size()));
    } else {
        instruction.mnemonic = std::string(mnemonic);
    }
    if (space != std::string_view::npos) read_operands(text.substr(space + 1), instruction);
    if (has_move || instruction.has("quad_perm") || instruction.has("dpp8")) read_move(instruction, lane_count);
    return instruction;
}

}  // namespace

std::optional<std::string_view> Instruction::word(std::string_view name) const {
    for (const std::string& each : words) {
        if (each == name) return each;
        if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == ':')
            return std::string_view(each).substr(name.size() + 1);
    }
    return std::nullopt;
}

int64_t Instruction::number(std::string_view name, int64_t otherwise) const {
    const auto text = word(name);
    return text ? integer_of(*text).value_or(otherwise) : otherwise;
}

std::vector<Instruction> read_instruction(std::string_view text, unsigned lane_count) {
    constexpr std::string_view kSecondHalf = " :: ";  // of a v_dual_...
    std::vector<Instruction> both;
    if (const size_t comment = text.find("//"); comment != std::string_view::npos) text = text.substr(0, comment);
    const size_t second = text.find(kSecondHalf);
    both.push_back(read_single(text.substr(0, second), lane_count));
    if (second != std::string_view::npos)
        both.push_back(read_single(text.substr(second + kSecondHalf.size()), lane_count));
    return both;
}

}  // namespace wavewright::evaluate

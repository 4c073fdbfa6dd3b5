// Which record a printed instruction belongs to: texts are matched with the templates that the printer fills in.
#include "match_text.hpp"

#include <algorithm>
#include <optional>

#include "decode.hpp"
#include "print.hpp"
#include "register_text.hpp"

namespace wavewright::isa {
namespace {

// The place of `wanted` outside of brackets, or npos.
size_t find_outside(std::string_view text, std::string_view wanted) {
    int depth = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        if (depth == 0 && text.substr(at).starts_with(wanted)) return at;
        depth += text[at] == '(' || text[at] == '[';
        depth -= text[at] == ')' || text[at] == ']';
    }
    return std::string_view::npos;
}

bool has_word(std::string_view text, std::string_view wanted) {
    for (size_t at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
        const size_t end = at + wanted.size();
        if (at != 0 && text[at - 1] == ' ' && (end == text.size() || text[end] == ' ')) return true;
    }
    return false;
}

// Whether an atomic says that it gives back the old value; nothing where it does not say either. Before gfx12 glc or
// sc0 say so; from then on the temporal hint does, in whose number bit 0 means it.
std::optional<bool> says_return(std::string_view text) {
    constexpr std::string_view kHint = "th:TH_ATOMIC_", kHex = "0x";
    const size_t at = text.find(kHint);
    if (at == std::string_view::npos) return has_word(text, "glc") || has_word(text, "sc0");
    std::string_view hint = text.substr(at + kHint.size());
    hint = hint.substr(0, hint.find(' '));
    if (hint.starts_with("CASCADE")) return std::nullopt;
    if (hint.starts_with(kHex))  // one digit; LLVM prints hints without a name so, and none above 7
        return hint.ends_with('1') || hint.ends_with('3') || hint.ends_with('5') || hint.ends_with('7');
    return hint.ends_with("RETURN");
}

// Walks the template of a record and a text side by side. Text of the template must be there, registers are read into
// the values of operands, and modifiers and numbers are passed over: what comes next in the template tells where they
// end. The more of the text is explained, the larger is the score.
class Matcher {
  public:
    Matcher(const Target& target, std::string_view rest, Instruction& instruction)
        : target_(target), rest_(rest), instruction_(instruction) {}

    // The score, or kNoMatch.
    int match() {
        if (!fits_return() || !fits_lanes()) return kNoMatch;
        const std::string_view shape = text(instruction_.shape->text);
        for (size_t at = 0; at < shape.size();) {
            const auto is_operand = [](char letter) { return static_cast<uint8_t>(letter) >= kFirstOperandByte; };
            if (is_operand(shape[at])) {
                if (!operand(size_t{static_cast<uint8_t>(shape[at++])} - kFirstOperandByte)) return kNoMatch;
                continue;
            }
            const auto end = std::find_if(shape.begin() + static_cast<ptrdiff_t>(at), shape.end(), is_operand);
            const auto length = static_cast<size_t>(end - shape.begin()) - at;
            if (!literal(shape.substr(at, length))) return kNoMatch;
            at += length;
        }
        return is_done() ? std::max(score_, 0) : kNoMatch;
    }

  private:
    // Buffer and scalar atomics look the same with and without a result, but for a word.
    bool fits_return() const {
        constexpr uint32_t kOthers = encoding::ds | encoding::mimg | encoding::vimage;
        const bool gives_back = instruction_.is(flag::atomic_return);
        if (instruction_.encoded_as(kOthers) || !(gives_back || instruction_.is(flag::atomic_no_return))) return true;
        // Of flat ones the number of operands tells.
        const bool unsaid = instruction_.encoded_as(encoding::flat) && gives_back;
        return says_return(rest_).value_or(unsaid) == gives_back;
    }

    // The two kinds of DPP have the same operands.
    bool fits_lanes() const {
        const bool is_dpp8 = rest_.find(" dpp8:") != std::string_view::npos;
        return !instruction_.has(is_dpp8 ? Name::dpp_ctrl : Name::dpp8);
    }

    bool take(std::string_view wanted) {
        if (!rest_.starts_with(wanted)) return false;
        rest_.remove_prefix(wanted.size());
        return true;
    }

    // Text of the template. Behind modifiers it is looked for, because their text was passed over.
    bool literal(std::string_view wanted) {
        const bool is_blank = wanted.find_first_not_of(' ') == std::string_view::npos;
        if (is_skipping_) {
            const size_t at = find_outside(rest_, is_blank ? " " : wanted);
            if (at == std::string_view::npos && !is_blank) return false;
            rest_.remove_prefix(std::min(at, rest_.size()));
            is_skipping_ = false;
        }
        for (const char letter : wanted) {
            if (letter == ' ') {
                if (!take(" ") && !was_blank_ && !rest_.empty()) return false;
                was_blank_ = true;
                continue;
            }
            if (rest_.empty() || rest_.front() != letter) return skips_addresses(wanted);
            rest_.remove_prefix(1);
            was_blank_ = false;
            score_ += letter != ',';
        }
        was_blank_ = wanted.ends_with(' ');
        is_behind_literal_ = wanted.ends_with(' ') || wanted.ends_with('[');
        return true;
    }

    // Fewer separate addresses of an image than the record has.
    bool skips_addresses(std::string_view wanted) {
        has_all_addresses_ = !(wanted == ", " && rest_.starts_with(']'));
        return !has_all_addresses_;
    }

    bool operand(size_t place) {
        const Print print = instruction_.kind(place).print;
        const bool is_source = print == Print::float_source || print == Print::integer_source;
        const bool is_export = print >= Print::export_source_0 && print <= Print::export_source_3;
        if (!has_all_addresses_ && !rest_.starts_with(' ')) return true;
        const size_t valued = is_source ? place + 1 : place;
        const bool is_first = !has_operands_;
        if (print == Print::export_target) return export_target();
        if (!is_export && !is_source && !may_be_register(instruction_.kind(place).decode)) return skip();
        if (is_skipping_) return false;
        has_operands_ = true;
        if (print == Print::vop_dst && place == 0 && !take(" ")) return false;
        if (print == Print::vintrp_dst && !take(" ")) return false;
        if (is_first && implies_vcc(instruction_)) take_vcc("", ", ");
        if (is_export ? !exported(place) : !source(valued)) return false;
        return behind(place, valued, is_source);
    }

    static bool may_be_register(Decode decode) {
        switch (decode) {
            case Decode::number:
            case Decode::smem_offset:
            case Decode::dpp8_fi:
            case Decode::literal_field:
            case Decode::literal_field_64: return false;
            default: return true;
        }
    }

    // What the printer adds behind an operand.
    bool behind(size_t place, size_t valued, bool is_source) {
        const Name name = instruction_.names[valued];
        const bool is_result = instruction_.kind(place).print == Print::vop_dst;
        if (is_result && instruction_.is(flag::vcc_after_dst)) take_vcc(", ", "");
        if (name == Name::src1 && is_source && instruction_.is(flag::vcc_after_src1_mods)) take_vcc(", ", "");
        if (name == Name::soffset && instruction_.encoded_as(encoding::mtbuf) && rest_.starts_with(" format:"))
            rest_.remove_prefix(std::min(rest_.find(' ', 1), rest_.size()));
        is_behind_literal_ = false;
        was_blank_ = false;
        return true;
    }

    // Within the bars of an absolute value, as LLVM prints it.
    void take_vcc_of_src1(size_t place) {
        if (instruction_.names[place] == Name::src1 && instruction_.is(flag::vcc_after_src1)) take_vcc(", ", "");
    }

    void take_vcc(std::string_view before, std::string_view after) {
        const std::string_view whole = rest_;
        if (take(before) && (take("vcc_lo") || take("vcc")) && take(after)) return;
        rest_ = whole;
    }

    // A modifier or number: its text is passed over. A register is none.
    bool skip() {
        if (is_behind_literal_ && !is_skipping_) {
            Value value;
            std::string_view ahead = rest_;
            if (take_register(target_, ahead, value)) return false;
        } else if (rest_.starts_with(',')) {
            return false;
        }
        is_skipping_ = true;
        return true;
    }

    bool export_target() {
        take(" ");
        rest_.remove_prefix(word_length(rest_));
        return true;
    }

    bool exported(size_t place) {
        Value& value = instruction_.values[place];
        if (take("off")) return true;
        if (!take_register(target_, rest_, value)) return false;
        if (Value* enabled = instruction_.value(Name::en)) {
            const auto source =
                static_cast<unsigned>(instruction_.kind(place).print) - static_cast<unsigned>(Print::export_source_0);
            const bool is_pair = has_word(rest_, "compr");
            *enabled = Value::of(Value::Kind::number, enabled->number | (is_pair ? 3 << 2 * source : 1 << source));
        }
        return true;
    }

    // A register or a constant, with signs and bars around it.
    bool source(size_t place) {
        const OperandKind& kind = instruction_.kind(place);
        Value& value = instruction_.values[place];
        const std::string_view whole = rest_;
        std::string_view closing;
        if (take("neg(") || take("sext(")) {
            closing = ")";
        } else {
            take("-");
            if (take("|")) closing = "|";
        }
        if (take_register(target_, rest_, value)) {
            if (!fits(kind, value)) return false;
            score_ -= kind.width_bits != 32U * value.dwords;
            take_vcc_of_src1(place);
            return closing.empty() || take(closing);
        }
        rest_ = whole;
        if (!constant(kind)) return false;
        take_vcc_of_src1(place);
        return true;
    }

    bool constant(const OperandKind& kind) {
        if (kind.constant == Constant::no_constant) return false;
        const size_t end = std::min({find_outside(rest_, ","), find_outside(rest_, " "), rest_.size()});
        rest_.remove_prefix(end);
        return end != 0;
    }

    static bool fits(const OperandKind& kind, const Value& value) {
        switch (kind.decode) {
            case Decode::acc: return value.bank == Bank::agpr;
            case Decode::source_acc: return value.bank != Bank::vgpr;
            case Decode::vector_or_acc: return value.is_vector();
            case Decode::vector:
            case Decode::vector_lo128:
            case Decode::half:
            case Decode::half_lo128:
            case Decode::vopd_dst_y: return value.bank == Bank::vgpr;
            default: return true;
        }
    }

    // Modifiers may be left, operands not.
    bool is_done() {
        if (find_outside(rest_, ",") != std::string_view::npos) return false;
        score_ -= !is_skipping_ && !rest_.empty();
        return is_skipping_ || rest_.empty() || rest_.starts_with(' ');
    }

    const Target& target_;
    std::string_view rest_;
    Instruction& instruction_;
    // Letters that the template explains make it larger, widths that do not fit and what is left over make it smaller.
    // It starts high enough to stay above kNoMatch: an instruction has few operands.
    int score_ = 100;
    bool is_skipping_ = false;       // the text of a modifier was reached and its end is not known yet
    bool is_behind_literal_ = true;  // an operand is next, not a modifier
    bool was_blank_ = false;         // the template had a blank just now: LLVM prints several as one
    bool has_operands_ = false;      // one was read
    bool has_all_addresses_ = true;  // false: the text has fewer separate addresses than the record
};

}  // namespace

std::string first_word(const Record& record) {
    const Template& shape = tables.templates[tables.forms[record.form].template_number];
    std::string word(text(record.mnemonic));
    Instruction instruction;
    instruction.record = &record;
    instruction.traits = &traits_of(record);
    const std::string_view printed = text(shape.text);
    if (printed.empty() || static_cast<uint8_t>(printed.front()) < kFirstOperandByte) return word;
    const size_t operand = size_t{static_cast<uint8_t>(printed.front())} - kFirstOperandByte;
    const OperandKind& kind = tables.kinds[tables.operand_kinds[shape.first_operand + operand]];
    if (kind.print == Print::vop_dst) word += form_suffix(instruction);
    if (kind.print == Print::vintrp_dst) word += "_e32";
    return word;
}

int match_text(const Target& target, const Record& record, std::string_view rest, Instruction& instruction) {
    begin_record(record, instruction);
    std::fill_n(instruction.values, instruction.operand_count(), Value());
    const int score = Matcher(target, rest, instruction).match();
    // A result that is printed as the operand that is tied to it.
    const uint16_t* sources = tables.sources.data() + tables.forms[record.form].first_source;
    for (size_t place = 0; place < instruction.operand_count(); ++place)
        if (is_tied(sources[place]) && instruction.values[place].is_reg())
            instruction.values[sources[place] - kTied] = instruction.values[place];
    return score;
}

}  // namespace wavewright::isa

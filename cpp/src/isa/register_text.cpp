#include "register_text.hpp"

#include <algorithm>
#include <charconv>

namespace wavewright::isa {
namespace {

struct SpecialName {
    std::string_view name;
    uint16_t code;
    uint8_t dwords;
};

// As before gfx11, where m0 and null changed places.
constexpr SpecialName kSpecialNames[] = {
    {"flat_scratch", code::flat_scratch_lo, 2},
    {"flat_scratch_lo", code::flat_scratch_lo, 1},
    {"flat_scratch_hi", code::flat_scratch_hi, 1},
    {"xnack_mask", code::xnack_mask_lo, 2},
    {"xnack_mask_lo", code::xnack_mask_lo, 1},
    {"xnack_mask_hi", code::xnack_mask_hi, 1},
    {"vcc", code::vcc_lo, 2},
    {"vcc_lo", code::vcc_lo, 1},
    {"vcc_hi", code::vcc_hi, 1},
    {"m0", code::m0, 1},
    {"null", code::null_register, 1},
    {"exec", code::exec_lo, 2},
    {"exec_lo", code::exec_lo, 1},
    {"exec_hi", code::exec_hi, 1},
    {"src_vccz", code::vccz, 1},
    {"src_execz", code::execz, 1},
    {"src_scc", code::scc, 1},
    {"src_lds_direct", code::lds_direct, 1},
    {"src_shared_base", code::shared_base, 1},
    {"src_shared_limit", code::shared_limit, 1},
    {"src_private_base", code::private_base, 1},
    {"src_private_limit", code::private_limit, 1},
    {"src_pops_exiting_wave_id", code::pops_exiting_wave_id, 1},
    {"src_flat_scratch_base_lo", code::flat_scratch_base_lo, 1},
    {"src_flat_scratch_base_hi", code::flat_scratch_base_hi, 1},
};

struct NumberedBank {
    std::string_view prefix;
    Bank bank;
    unsigned size;
};

constexpr NumberedBank kBanks[] = {
    {"v", Bank::vgpr, 1024}, {"s", Bank::sgpr, 106}, {"a", Bank::agpr, 256}, {"ttmp", Bank::ttmp, 16}};

bool is_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
}

bool take_number(std::string_view& text, unsigned& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

// 4, [4] or [4:7].
bool take_range(std::string_view& text, unsigned& first, unsigned& last) {
    const bool has_brackets = text.starts_with('[');
    if (has_brackets) text.remove_prefix(1);
    if (!take_number(text, first)) return false;
    last = first;
    if (!has_brackets) return true;
    if (text.starts_with(':')) {
        text.remove_prefix(1);
        if (!take_number(text, last)) return false;
    }
    if (!text.starts_with(']')) return false;
    text.remove_prefix(1);
    return true;
}

bool take_numbered(std::string_view& text, Value& value);

// What a vector register is behind s_set_vgpr_msb: v1 /*v257*/.
void take_high_bits(std::string_view& text, Value& value) {
    constexpr std::string_view kOpening = " /*", kClosing = "*/";
    const size_t end = text.find(kClosing);
    if (value.bank != Bank::vgpr || !text.starts_with(kOpening) || end == std::string_view::npos) return;
    std::string_view inside = text.substr(kOpening.size(), end - kOpening.size());
    Value meant;
    if (!take_numbered(inside, meant) || meant.number < value.number) return;
    value.high_bits = static_cast<uint16_t>(meant.number - value.number);
    text.remove_prefix(end + kClosing.size());
}

bool take_numbered(std::string_view& text, Value& value) {
    const auto* bank = std::ranges::find_if(kBanks, [&](const auto& each) { return text.starts_with(each.prefix); });
    if (bank == std::end(kBanks)) return false;
    text.remove_prefix(bank->prefix.size());
    unsigned first = 0, last = 0;
    if (!take_range(text, first, last) || last < first || last >= bank->size || last - first >= 64) return false;
    value = Value::reg(bank->bank, first, 32 * (last - first + 1));
    if (text.starts_with(".l") || text.starts_with(".h")) {
        value = Value::reg_half(first, text[1] == 'h');
        text.remove_prefix(2);
    }
    if (!text.empty() && is_word(text.front())) return false;
    take_high_bits(text, value);
    return true;
}

bool take_special(const Target& target, std::string_view& text, Value& value) {
    const std::string_view word = text.substr(0, word_length(text));
    const auto* name = std::ranges::find(kSpecialNames, word, &SpecialName::name);
    if (name == std::end(kSpecialNames)) return false;
    const bool is_swapped = target.generation() >= 11 && (name->code == code::m0 || name->code == code::null_register);
    value = Value::reg(Bank::special, is_swapped ? code::m0 + code::null_register - name->code : name->code,
                       32U * name->dwords);
    text.remove_prefix(word.size());
    return true;
}

}  // namespace

size_t word_length(std::string_view text) {
    return static_cast<size_t>(std::ranges::find_if_not(text, is_word) - text.begin());
}

bool take_register(const Target& target, std::string_view& text, Value& value) {
    std::string_view rest = text;
    if (take_numbered(rest, value)) {
        text = rest;
        return true;
    }
    return take_special(target, text, value);
}

}  // namespace wavewright::isa

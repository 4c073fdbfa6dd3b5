// Operands of instructions that somebody else disassembled: the records with the right first word are tried, and the
// one that explains most of the text is taken.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "match_text.hpp"
#include "operands.hpp"
#include "wavewright/isa.hpp"

namespace wavewright::isa {
namespace {

// Records by the first word of their texts, in the order in which decoding tries them.
using RecordsByWord = std::unordered_map<std::string, std::vector<uint16_t>>;

RecordsByWord records_by_word(size_t column, bool wave64) {
    const uint64_t others = wave64 ? flag::wave32_only : flag::wave64_only;
    std::vector<std::vector<uint16_t>> by_table(tables.table_sizes.size());
    for (size_t number = 0; number < tables.records.size(); ++number) {
        const Record& record = tables.records[number];
        if ((record.columns >> column & 1) && !(traits_of(record).flags & others))
            by_table[record.table].push_back(static_cast<uint16_t>(number));
    }
    RecordsByWord by_word;
    for (const SearchStep& step : tables.search_order) {
        if (step.family != tables.columns[column].family) continue;
        for (const uint16_t number : by_table[step.table])
            by_word[first_word(tables.records[number])].push_back(number);
    }
    return by_word;
}

// Made at first use, then shared: one for each column and size of waves.
const RecordsByWord& words_of(size_t column, bool wave64) {
    constexpr size_t kMaxColumns = 8 * sizeof Record::columns;
    static std::array<std::once_flag, 2 * kMaxColumns> flags;
    static std::array<std::unique_ptr<const RecordsByWord>, 2 * kMaxColumns> words;
    const size_t place = 2 * column + (wave64 ? 1 : 0);
    std::call_once(flags[place],
                   [&] { words[place] = std::make_unique<RecordsByWord>(records_by_word(column, wave64)); });
    return *words[place];
}

constexpr size_t kLongestText = 1024;  // no instruction is longer

// Without comments, and blanks around it.
std::string_view instruction_of(std::string_view text) {
    text = text.substr(0, std::min(text.find("//"), text.find(';')));
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

class Reader {
  public:
    Reader(size_t column, bool wave64, Disassembly& out) : by_word_(words_of(column, wave64)), out_(out) {
        target_.column = &tables.columns[column];
        target_.wave32 = target_.generation() >= 10 && !wave64;
    }

    void read(std::string_view line) {
        const std::string_view text = instruction_of(line);
        const size_t end = std::min(text.find(' '), text.size());
        const auto records =
            text.size() > kLongestText ? by_word_.end() : by_word_.find(std::string(text.substr(0, end)));
        const Instruction* best = records == by_word_.end() ? nullptr : best_of(records->second, text.substr(end));
        const auto row = static_cast<uint32_t>(out_.record.size());
        out_.record.push_back(best ? static_cast<uint16_t>(best->record - tables.records.data()) : kNoRecord);
        out_.facts.push_back(best ? facts_of(*best->record) : 0);
        if (best) add_operands(target_, *best, row, out_);
    }

  private:
    // The record that explains most of the text; of several the first.
    const Instruction* best_of(const std::vector<uint16_t>& records, std::string_view rest) {
        int best = kNoMatch;
        size_t chosen = 0;
        for (const uint16_t number : records) {
            const int score = match_text(target_, tables.records[number], rest, tried_[1 - chosen]);
            if (score <= best) continue;
            best = score;
            chosen = 1 - chosen;
        }
        return best == kNoMatch ? nullptr : &tried_[chosen];
    }

    const RecordsByWord& by_word_;
    Disassembly& out_;
    Target target_;
    Instruction tried_[2];  // the best so far, and the one that is tried
};

}  // namespace

Disassembly read_texts(std::span<const std::string_view> texts, std::string_view column, bool wave64) {
    const auto names = targets();
    const auto name = std::ranges::find(names, column);
    if (name == names.end()) throw std::invalid_argument("no tables for target " + std::string(column));
    Disassembly out;
    Reader reader(static_cast<size_t>(name - names.begin()), wave64, out);
    for (const std::string_view text : texts) reader.read(text);
    return out;
}

}  // namespace wavewright::isa

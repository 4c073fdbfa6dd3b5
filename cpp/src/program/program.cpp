#include "wavewright/program.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace wavewright {
namespace {

constexpr size_t kMaxRows = size_t{1} << 30;  // rows are 32-bit and there are up to two per line
constexpr uint32_t kMinLineSize = 4;          // shorter sizes would make a line its own successor

bool parse_number(std::string_view text, uint64_t& value) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, hex ? 16 : 10);
    return error == std::errc{} && stop == end;
}

// Blanks between double quotes do not separate words.
std::string_view last_word(std::string_view text) {
    size_t begin = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == ' ' && !quoted) begin = i + 1;
    }
    return text.substr(begin);
}

// The reference reads the last word as a decimal prefix: labels, 0x numbers and what does not fit into 32 bits become
// 0, and 16-bit values are sign-extended by hand. Counts from the dword after the branch.
int32_t branch_displacement_dwords(std::string_view text) {
    std::string_view word = last_word(text);
    word.remove_prefix(std::min(word.find_first_not_of("\t\v\f\r"), word.size()));
    const bool has_plus = word.starts_with('+');
    if (has_plus) word.remove_prefix(1);
    if (has_plus && word.starts_with('-')) return 0;
    int32_t dwords = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), dwords).ec != std::errc{}) return 0;
    return dwords >= 32768 ? dwords - 65536 : dwords;
}

uint8_t flags_of(std::string_view text) {
    uint8_t flags = 0;
    if (text.empty()) flags |= Line::empty_text;
    if (text.starts_with("s_waitcnt")) flags |= Line::starts_s_waitcnt;
    if (text.find("_load_") != std::string_view::npos) flags |= Line::has_load;
    if (text.find("scratch_") != std::string_view::npos) flags |= Line::has_scratch;
    if (text.starts_with("s_barrier_wait")) flags |= Line::starts_s_barrier_wait;
    return flags;
}

// Texts leave as UTF-8 and reach terminals: anything but printable ASCII and the separators is replaced.
std::string printable(std::string_view tsv) {
    std::string clean(tsv);
    for (char& c : clean) {
        if ((c < 0x20 || c > 0x7E) && c != '\t' && c != '\n' && c != '\r') c = '?';
    }
    return clean;
}

std::string_view take(std::string_view& rest, char separator) {
    const size_t at = rest.find(separator);
    const std::string_view head = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    return head;
}

}  // namespace

uint64_t branch_target(uint64_t address, std::string_view text) {
    return address + static_cast<uint64_t>(4 + 4 * int64_t{branch_displacement_dwords(text)});
}

size_t Program::add_listing(uint64_t object, std::optional<uint64_t> load_address, std::string_view tsv) {
    Object& added = objects_.emplace_back();
    added.id = object;
    added.load_address = load_address;
    added.tsv = printable(tsv);
    std::string_view rest = added.tsv;
    size_t unreadable = 0;
    while (!rest.empty()) {
        std::string_view text = take(rest, '\n');
        if (text.ends_with('\r')) text.remove_suffix(1);
        if (text.empty()) continue;
        Parsed parsed{};
        uint64_t size = 0;
        const std::string_view address_text = take(text, '\t');
        const bool readable = parse_number(address_text, parsed.address) && parse_number(take(text, '\t'), size) &&
                              size <= std::numeric_limits<uint16_t>::max() && added.lines.size() < kMaxRows / 2;
        if (!readable) {
            ++unreadable;
            continue;
        }
        parsed.size = std::max(static_cast<uint32_t>(size), kMinLineSize);
        parsed.text = text;
        parsed.flags = flags_of(text);
        for (size_t dialect = 0; dialect < parsed.classes.size(); ++dialect) {
            parsed.classes[dialect] = classify(text, static_cast<Dialect>(dialect));
        }
        added.lines.push_back(parsed);
    }
    auto by_address = [](const Parsed& a, const Parsed& b) { return a.address < b.address; };
    auto same_address = [](const Parsed& a, const Parsed& b) { return a.address == b.address; };
    std::stable_sort(added.lines.begin(), added.lines.end(), by_address);
    const auto unique_end = std::unique(added.lines.begin(), added.lines.end(), same_address);
    unreadable += static_cast<size_t>(added.lines.end() - unique_end);
    added.lines.erase(unique_end, added.lines.end());
    return unreadable;
}

void Program::add_row(Pc pc, const Parsed& parsed, int32_t listed) {
    const auto row = static_cast<int32_t>(pcs_.size());
    pcs_.push_back(pc);
    listed_.push_back(listed);
    Line line;
    line.classes = parsed.classes;
    line.flags = parsed.flags;
    lines_.push_back(line);
    spaces_[pc.object].rows.emplace_back(pc.address, row);
}

// Rows of all listings behind each other (those of object 0 at their place in memory), then the lines of loaded
// objects once more at their load address, then an end row for each skipped line that nothing follows.
void Program::link() {
    size_t total = 0;
    for (const Object& object : objects_) total += object.lines.size();
    lines_.reserve(total);
    pcs_.reserve(total);
    listed_.reserve(total);
    text_ends_.push_back(0);
    for (const Object& object : objects_) {
        first_rows_.push_back(pcs_.size());
        const uint64_t bias = object.id == 0 ? object.load_address.value_or(0) : 0;
        for (const Parsed& parsed : object.lines) {
            add_row({parsed.address + bias, object.id}, parsed, static_cast<int32_t>(pcs_.size()));
            sizes_.push_back(parsed.size);
            texts_.append(parsed.text);
            text_ends_.push_back(texts_.size());
        }
    }
    listed_rows_ = pcs_.size();
    first_rows_.push_back(listed_rows_);
    for (size_t index = 0; index < objects_.size(); ++index) {
        const Object& object = objects_[index];
        if (object.id == 0 || !object.load_address) continue;
        for (size_t i = 0; i < object.lines.size(); ++i) {
            const Parsed& parsed = object.lines[i];
            add_row({parsed.address + *object.load_address, 0}, parsed, static_cast<int32_t>(first_rows_[index] + i));
        }
    }
    for (auto& [id, space] : spaces_) {
        auto& rows = space.rows;  // where objects overlap, the line of the one added first comes first
        std::sort(rows.begin(), rows.end(), [this](const auto& a, const auto& b) {
            return a.first != b.first ? a.first < b.first
                                      : listed_[static_cast<size_t>(a.second)] < listed_[static_cast<size_t>(b.second)];
        });
        rows.erase(
            std::unique(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
            rows.end());
    }

    std::vector<const Parsed*> parsed_of_listed;
    parsed_of_listed.reserve(listed_rows_);
    for (const Object& object : objects_) {
        for (const Parsed& parsed : object.lines) parsed_of_listed.push_back(&parsed);
    }
    const size_t linked_rows = pcs_.size();
    for (size_t row = 0; row < linked_rows; ++row) {
        const Parsed& parsed = *parsed_of_listed[static_cast<size_t>(listed_[row])];
        const Pc own = pcs_[row];
        Line& line = lines_[row];
        const Pc behind{own.address + parsed.size, own.object};
        line.next = find(behind);
        const bool branches =
            std::find(line.classes.begin(), line.classes.end(), LineClass::branch) != line.classes.end();
        if (branches) {
            line.target = find({branch_target(own.address, parsed.text), own.object});
        }
        if (line.next < 0 && line.classes[0] == LineClass::skip) {
            end_rows_[static_cast<int32_t>(row)] = static_cast<int32_t>(pcs_.size());
            pcs_.push_back(behind);
            listed_.push_back(-1);
        }
    }
    objects_.clear();
}

int32_t Program::find(Pc pc) const {
    if (!pc.known()) return -1;
    const auto space = spaces_.find(pc.object);
    if (space != spaces_.end()) {
        const auto& rows = space->second.rows;
        const auto at = std::lower_bound(rows.begin(), rows.end(), pc.address,
                                         [](const auto& entry, uint64_t address) { return entry.first < address; });
        if (at != rows.end() && at->first == pc.address) return at->second;
    }
    if (missing_) missing_->push_back(pc);
    return -1;
}

int32_t Program::end_row(int32_t row) const {
    const auto at = end_rows_.find(row);
    return at == end_rows_.end() ? -1 : at->second;
}

}  // namespace wavewright

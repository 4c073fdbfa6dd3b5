#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

#include "sqlite/bytes.hpp"
#include "sqlite/text.hpp"
#include "wavewright/sqlite_columns.hpp"

namespace wavewright {

using namespace sqlite;

namespace {

// Differs from run to run, so that nobody can write texts that all fall into one slot.
const uint64_t kHashSeed = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
}();

uint64_t folded(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// A hash by products of 128 bits that are folded, as in wyhash.
uint32_t hash_of(std::string_view text) {
    constexpr uint64_t kFirst = 0x9E3779B97F4A7C15, kSecond = 0xD6E8FEB86659FD93;
    uint64_t hash = kHashSeed ^ folded(text.size() ^ kFirst, kSecond);
    while (!text.empty()) {
        uint64_t word = 0;
        const size_t taken = std::min<size_t>(sizeof word, text.size());
        std::memcpy(&word, text.data(), taken);
        hash = folded(hash ^ word, kFirst ^ kHashSeed);
        text.remove_prefix(taken);
    }
    return static_cast<uint32_t>(hash ^ hash >> 32);
}

std::string_view text_at(uint64_t serial, const uint8_t* at) {
    return {reinterpret_cast<const char*>(at), static_cast<size_t>(size_of(serial))};
}

bool is_integer(double value) {
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    return value >= -kLimit && value < kLimit && std::trunc(value) == value;
}

}  // namespace

uint32_t TextDictionary::find_or_add(std::string_view text) {
    if ((size() + 1) * 2 > slots_.size()) grow();
    const uint32_t hash = hash_of(text);
    const size_t mask = slots_.size() - 1;
    size_t place = hash & mask;
    for (; slots_[place].number != 0; place = (place + 1) & mask) {
        const Slot& slot = slots_[place];
        if (slot.hash == hash && this->text(slot.number - 1) == text) return slot.number - 1;
    }
    if (ends_.empty()) ends_.push_back(0);
    texts_.append({text.data(), text.size()});
    ends_.push_back(static_cast<int64_t>(texts_.size()));
    slots_[place] = {hash, static_cast<uint32_t>(size())};
    return slots_[place].number - 1;
}

void TextDictionary::grow() {
    std::vector<Slot> larger(std::max<size_t>(16, slots_.size() * 2));
    const size_t mask = larger.size() - 1;
    for (const Slot& slot : slots_) {
        if (slot.number == 0) continue;
        size_t place = slot.hash & mask;
        while (larger[place].number != 0) place = (place + 1) & mask;
        larger[place] = slot;
    }
    slots_.swap(larger);
}

void SqliteColumn::add(uint64_t serial, const uint8_t* at) {
    if (serial >= kFirstBlob) {
        if (is_text(serial)) {
            add_text(text_at(serial, at));
        } else {
            add_misfit();
        }
    } else if (serial == kReal) {
        const double value = real_at(at);
        if (std::isnan(value)) {
            add_null();  // as SQLite reads it
        } else {
            add_real(value);
        }
    } else if (serial == kNull || serial > kOne) {
        add_null();
    } else {
        add_integer(serial >= kZero ? static_cast<int64_t>(serial - kZero) : integer_at(at, serial));
    }
}

void SqliteColumn::add(const SqliteValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return add_integer(*integer);
    if (const auto* real = std::get_if<double>(&value)) return add_real(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return add_text(*text);
    add_null();
}

void SqliteColumn::add_integer(int64_t value) {
    switch (type_) {
        case SqliteType::integer: integers_.push_back(value); return;
        case SqliteType::real: reals_.push_back(static_cast<double>(value)); return;
        default: break;
    }
    if (stores_reals_) return add_sound_text(text_of(static_cast<double>(value)));  // declared REAL: 1 reads as 1.0
    char figures[24];
    const auto [end, error] = std::to_chars(figures, figures + sizeof figures, value);
    add_sound_text({figures, static_cast<size_t>(end - figures)});
}

void SqliteColumn::add_real(double value) {
    switch (type_) {
        case SqliteType::integer:
            if (!is_integer(value)) return add_misfit();
            integers_.push_back(static_cast<int64_t>(value));
            return;
        case SqliteType::real: reals_.push_back(value); return;
        default: add_sound_text(text_of(value));
    }
}

void SqliteColumn::add_text(std::string_view bytes) {
    if (type_ == SqliteType::integer || type_ == SqliteType::real) return add_number_of(bytes);
    // Most columns of names repeat one text over many rows. After a null the last code is not that of a text.
    if (type_ == SqliteType::dictionary && !codes_.empty() && dictionary_.size() != 0 &&
        dictionary_.text(codes_.back()) == bytes && (null_rows_.empty() || null_rows_.back() + 1 != codes_.size())) {
        codes_.push_back(codes_.back());
        return;
    }
    if (is_utf8(bytes)) return add_sound_text(bytes);
    add_sound_text(repaired(bytes));
}

void SqliteColumn::add_number_of(std::string_view text) {
    const SqliteValue number = number_of(text);
    if (std::holds_alternative<std::monostate>(number)) return add_misfit();
    add(number);
}

void SqliteColumn::add_sound_text(std::string_view text) {
    if (type_ == SqliteType::dictionary) {
        codes_.push_back(dictionary_.find_or_add(text));
        return;
    }
    texts_.append({text.data(), text.size()});
    ends_.push_back(static_cast<int64_t>(texts_.size()));
}

void SqliteColumn::add_null() {
    null_rows_.push_back(static_cast<uint32_t>(size()));
    switch (type_) {
        case SqliteType::integer: integers_.push_back(0); return;
        case SqliteType::real: reals_.push_back(0); return;
        case SqliteType::text: ends_.push_back(static_cast<int64_t>(texts_.size())); return;
        case SqliteType::dictionary: codes_.push_back(0); return;
    }
}

void SqliteColumn::add_misfit() {
    ++mixed_count_;
    add_null();
}

size_t SqliteColumn::size() const {
    switch (type_) {
        case SqliteType::integer: return integers_.size();
        case SqliteType::real: return reals_.size();
        case SqliteType::text: return ends_.size() - 1;
        case SqliteType::dictionary: return codes_.size();
    }
    return 0;
}

Column<uint8_t> SqliteColumn::validity() const {
    Column<uint8_t> bits;
    if (null_rows_.empty()) return bits;
    const size_t bytes = (size() + 7) / 8;
    std::memset(bits.extend(bytes), 0xFF, bytes);
    for (const uint32_t row : null_rows_) bits[row / 8] &= static_cast<uint8_t>(~(1U << row % 8));
    return bits;
}

}  // namespace wavewright

// The static code as arrays: every instruction of every code object, its matching class, its successor and its
// branch target. Built once, then shared read-only by all decoding threads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace wavewright {

// A place in code: an ELF address inside code object `object`, or with object 0 a raw virtual address.
struct Pc {
    uint64_t address = 0;
    uint64_t object = 0;
    bool known() const { return (address | object) != 0; }
    bool operator==(const Pc&) const = default;
};

// How the reference matches a line of code with instruction tokens (spec_gfx9 6.2, spec_rdna 11.2). The low
// numbers equal Category.
enum class LineClass : uint8_t {
    skip = 0,
    smem = 1,
    salu = 2,
    vmem = 3,
    flat = 4,
    lds = 5,
    valu = 6,
    immed = 9,
    bvh = 12,
    unknown = 15,
    branch = 16,
    barrier_excluded = 17,
    mfma_scale = 18,
    barrier = 19,
    v_mov_b64 = 20,
};

// The three dialects of the class rules.
enum class Dialect : uint8_t { gfx9 = 0, gfx10_11 = 1, gfx12 = 2 };

LineClass classify(std::string_view text, Dialect dialect);

// Address that a branch at `address` leads to, as the reference reads its text.
uint64_t branch_target(uint64_t address, std::string_view text);

struct Line {
    enum Flag : uint8_t {
        empty_text = 1,
        starts_s_waitcnt = 2,
        has_load = 4,     // contains "_load_"
        has_scratch = 8,  // contains "scratch_"
        starts_s_barrier_wait = 16,
    };
    int32_t next = -1;                   // row of the following line; -1 = no such line
    int32_t target = -1;                 // row of the branch target; -1 = no such line or not a branch
    std::array<LineClass, 3> classes{};  // by Dialect
    uint8_t flags = 0;

    LineClass in(Dialect dialect) const { return classes[static_cast<size_t>(dialect)]; }
};

// One named row of a `.sqtt_funcmap` section (spec_rdna 12.2).
enum class MarkerKind : uint8_t { function = 1, user_scope = 2, point = 3, kernel = 4 };
struct MarkerName {
    MarkerKind kind = MarkerKind::point;
    uint32_t id = 0;             // kernels have none
    uint32_t payload_count = 0;  // values after the marker that belong to it
    std::string name;            // bytes as in the section, like location
    std::string location;
};

struct FuncMap {
    std::vector<MarkerName> rows;                // in the order of the section
    std::unordered_map<uint32_t, size_t> by_id;  // marker id -> row; of duplicates the last
    uint32_t wave_size = 0;                      // 0 = not given
    uint32_t clock_bits = 0;                     // width of the clock in the top bits of a value; 0 = none
    uint32_t clock_shift = 0;                    // how far that clock was shifted right

    const MarkerName* find(uint32_t id) const {
        const auto at = by_id.find(id);
        return at == by_id.end() ? nullptr : &rows[at->second];
    }
};

class Program {
  public:
    // Adds a code object from its listing, lines of "address<TAB>size<TAB>text" (decimal or 0x numbers). Returns
    // the number of lines that could not be read. `load_address` lets raw virtual addresses find this object;
    // objects with id 0 always take part in that (load address 0 unless given).
    size_t add_listing(uint64_t object, std::optional<uint64_t> load_address, std::string_view tsv);

    // Adds the marker names of a code object, the text of its `.sqtt_funcmap` section. Returns the number of rows
    // that could not be read.
    size_t add_funcmap(uint64_t object, std::string_view text);

    // Resolves successors and targets. Call once, after the last listing and before the first find().
    void link();

    // Row of the line at `pc`, or -1. The unknown pc (0, 0) is never found.
    int32_t find(Pc pc) const;
    // Lists from now on the places that find() does not find; null = no more. Only while one thread decodes.
    void note_missing(std::vector<Pc>* places) { missing_ = places; }

    const Line& line(int32_t row) const { return lines_[static_cast<size_t>(row)]; }
    std::span<const Line> lines() const { return lines_; }  // by row; the places after them have no line
    Pc pc(int32_t row) const { return pcs_[static_cast<size_t>(row)]; }

    // Rows 0 .. listed_rows()-1 are the listings in the order added (by address inside each); rows after them
    // are the same lines seen through raw virtual addresses, then the ends of listings that stop in skipped
    // lines (places without a line that an instruction can still be attributed to).
    size_t row_count() const { return pcs_.size(); }
    size_t listed_rows() const { return listed_rows_; }
    // Row among the listed ones whose text and size `row` shows; -1 for a place without a line.
    int32_t listed_row(int32_t row) const { return listed_[static_cast<size_t>(row)]; }
    const FuncMap* funcmap(uint64_t object) const;
    const std::map<uint64_t, FuncMap>& funcmaps() const { return funcmaps_; }

    // First listed row of every listing, in the order added, and after them listed_rows().
    const std::vector<size_t>& first_rows() const { return first_rows_; }

    // Size in bytes and text of a listed row; characters outside printable ASCII are shown as '?'.
    uint32_t size(int32_t row) const { return sizes_[static_cast<size_t>(row)]; }
    std::string_view text(int32_t row) const {
        const auto at = static_cast<size_t>(row);
        return std::string_view(texts_).substr(text_ends_[at], text_ends_[at + 1] - text_ends_[at]);
    }

    // Row right after a skipped line whose successor is missing: the reference reports that address.
    int32_t end_row(int32_t row) const;

  private:
    struct Parsed {
        uint64_t address;
        std::string_view text;  // in the object's `tsv`
        uint32_t size;
        uint8_t flags;
        std::array<LineClass, 3> classes;
    };
    struct Object {
        uint64_t id;
        std::optional<uint64_t> load_address;
        std::string tsv;            // printable ASCII; owned until link()
        std::vector<Parsed> lines;  // by address, unique
    };
    struct Space {  // what one object id can see: addresses with their rows, sorted
        std::vector<std::pair<uint64_t, int32_t>> rows;
    };

    void add_row(Pc pc, const Parsed& parsed, int32_t listed);

    std::deque<Object> objects_;  // a deque, because lines point into their object's text
    std::unordered_map<uint64_t, Space> spaces_;
    std::vector<Line> lines_;
    std::vector<Pc> pcs_;
    std::vector<int32_t> listed_;
    std::vector<size_t> first_rows_;
    std::vector<uint32_t> sizes_;    // listed rows only
    std::string texts_;              // of listed rows, one after the other
    std::vector<size_t> text_ends_;  // text of row r: [text_ends_[r], text_ends_[r + 1])
    std::unordered_map<int32_t, int32_t> end_rows_;
    std::map<uint64_t, FuncMap> funcmaps_;  // by code object
    size_t listed_rows_ = 0;
    std::vector<Pc>* missing_ = nullptr;
};

}  // namespace wavewright

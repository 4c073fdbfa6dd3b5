// Text of an instruction -> matching class, by the words the reference knows (spec_gfx9 6.2 and appendix C,
// spec_rdna 11.2). The table is the whole rule set; the walk below it is shared by all dialects.
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "wavewright/program.hpp"

namespace wavewright {
namespace {

struct WordRow {
    LineClass cls;
    std::string_view words;  // separated by '|', because one of them contains a blank
};

constexpr WordRow kWords[] = {
    {LineClass::skip, "s_wait_dep|s_wait_alu|buffer_nop|s_set_vgpr|s_delay"},
    {LineClass::smem, "s_load|s_buffer|s_atomic|s_atc|s_scratch|s_store|s_dcache|s_memrealtime|s_prefetch"},
    {LineClass::salu,
     "s_setprio_inc|s_call|s_cvt|s_getreg|s_setreg|s_add|s_sub|s_and|s_or|s_pack|s_round|s_denorm|s_ctz|s_cls|"
     "s_cmp|s_bit|s_mov|s_mul|s_ash|s_bf|s_lsh|s_min|s_max|s_abs|s_cmov|s_not|s_nor|s_wqm|s_quadmask|s_brev|"
     "s_bcnt|s_f|s_sext|s_cselect|s_xor|s_xnor|s_nand|s_getpc|s_setpc|s_swappc|s_get_pc|s_set_pc|s_swap_pc"},
    {LineClass::vmem,
     "buffer_l|buffer_s|buffer_a|buffer_g|buffer_i|buffer_w|buffer_p|buffer_d|tbuffer_|global_|scratch_|cluster_|"
     "tensor_|dds_|image_l|image_s|image_a|image_m|image_g"},
    {LineClass::flat, "flat_"},
    {LineClass::lds, "ds_|lds_"},
    {LineClass::bvh, "image_bvh"},
    {LineClass::immed,
     "s_waitcnt|s_wait_idle|s_wait_kmcnt|s_wait_loadcnt|s_wait_storecnt|s_wait_bvhcnt|s_wait_expcnt|s_wait_dscnt|"
     "s_wait_samplecnt|s_wait_event|s_wait_xcnt|s_wait_tensor|s_wait_async|s_nop|s_sleep|s_wakeup|s_sendmsg|"
     "s_setprio |s_set_inst|s_inst_prefetch|s_setkill|s_version|s_trap|s_barrie|s_endpgm|s_icache_inv|"
     "s_dcache_inv|s_incperflvl|s_sethalt|s_decperflvl|s_setvskip|s_ttrace|s_clause|s_monitor"},
};

class Trie {
  public:
    Trie() : nodes_(1) {
        for (const WordRow& row : kWords) {
            std::string_view rest = row.words;
            while (!rest.empty()) {
                const size_t bar = rest.find('|');
                add(rest.substr(0, bar), row.cls);
                rest = bar == std::string_view::npos ? std::string_view{} : rest.substr(bar + 1);
            }
        }
    }

    // A character without an edge is skipped, so words match as subsequences of the whole text, operands
    // included; the first node with a class ends the walk.
    LineClass walk(std::string_view text) const {
        uint16_t at = 0;
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            const uint16_t child = byte < kAlphabet ? nodes_[at].children[byte] : 0;
            if (child == 0) continue;
            at = child;
            if (nodes_[at].cls != LineClass::unknown) return nodes_[at].cls;
        }
        return LineClass::unknown;
    }

  private:
    static constexpr size_t kAlphabet = 128;
    struct Node {
        std::array<uint16_t, kAlphabet> children{};
        LineClass cls = LineClass::unknown;
    };

    void add(std::string_view word, LineClass cls) {
        uint16_t at = 0;
        for (const char c : word) {
            const auto byte = static_cast<unsigned char>(c);
            if (nodes_[at].children[byte] == 0) {
                nodes_[at].children[byte] = static_cast<uint16_t>(nodes_.size());
                nodes_.emplace_back();
            }
            at = nodes_[at].children[byte];
        }
        nodes_[at].cls = cls;
    }

    std::vector<Node> nodes_;
};

}  // namespace

LineClass classify(std::string_view text, Dialect dialect) {
    static const Trie trie;
    if (text.find("branch") != std::string_view::npos) return LineClass::branch;
    if (text.starts_with("v_")) {
        if (dialect == Dialect::gfx9 && text.starts_with("v_mfma_scale_")) return LineClass::mfma_scale;
        if (dialect == Dialect::gfx12 && text.starts_with("v_mov_b64")) return LineClass::v_mov_b64;
        return LineClass::valu;
    }
    const LineClass found = trie.walk(text);
    if (found == LineClass::unknown) return text.starts_with("s_") ? LineClass::salu : LineClass::unknown;
    if (dialect == Dialect::gfx9 && found == LineClass::immed && text.starts_with("s_barrier")) {
        return LineClass::barrier;
    }
    if (dialect == Dialect::gfx12 && found == LineClass::lds && text.starts_with("ds_bvh")) return LineClass::bvh;
    return found;
}

}  // namespace wavewright

#include "wavewright/call_tree.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/dense_index.hpp"

namespace wavewright {
namespace {

constexpr int64_t latest = std::numeric_limits<int64_t>::max();

// Lengths and sums of times are untrusted input: they stop at the largest number instead of overflowing.
int64_t plus(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? latest : sum;
}

int64_t minus(int64_t a, int64_t b) {
    int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? latest : difference;
}

struct Open {
    int64_t begin, end;
    int64_t covered_to;  // latest end of its children so far
    int64_t covered;     // how much of it they cover
    int32_t node;
    int64_t work_begin = latest, work_end = std::numeric_limits<int64_t>::min();  // of what was launched in it
};

class Tree {
  public:
    explicit Tree(const Calls& calls) : calls_(calls) {}

    CallNodes take() && {
        std::vector<size_t> order;
        for (size_t at = 0; at < calls_.begin.size();) {
            size_t next = at + 1;
            while (next < calls_.begin.size() && same_moment(at, next)) ++next;
            if (at > 0 && calls_.thread[at] != calls_.thread[at - 1]) close_all();
            if (next == at + 1) {
                add(at);
            } else {  // the longest of those that begin together is the outermost
                order.clear();
                for (size_t i = at; i < next; ++i) order.push_back(i);
                std::stable_sort(order.begin(), order.end(),
                                 [&](size_t a, size_t b) { return calls_.end[a] > calls_.end[b]; });
                for (const size_t i : order) add(i);
            }
            at = next;
        }
        close_all();
        return std::move(nodes_);
    }

  private:
    bool same_moment(size_t a, size_t b) const {
        return calls_.thread[a] == calls_.thread[b] && calls_.begin[a] == calls_.begin[b];
    }

    void add(size_t at) {
        const int64_t begin = calls_.begin[at], end = std::max(begin, calls_.end[at]);
        while (!open_.empty() && open_.back().end <= begin) close();
        if (calls_.name[at] == nameless) {
            if (!open_.empty()) count_launch(open_.back(), calls_.launch[at]);
            return;
        }
        bool crosses = false;
        while (!open_.empty() && open_.back().end < end) {
            crosses = true;
            close();
        }
        const int32_t node = node_of(open_.empty() ? -1 : open_.back().node, calls_.name[at]);
        count(static_cast<size_t>(node), minus(end, begin));
        nodes_.crossing_count[static_cast<size_t>(node)] += crosses ? 1 : 0;
        if (!open_.empty()) {
            Open& parent = open_.back();
            const int64_t from = std::max(begin, parent.covered_to);
            if (end > from) parent.covered = plus(parent.covered, minus(end, from));
            parent.covered_to = std::max(parent.covered_to, end);
        }
        open_.push_back({begin, end, begin, 0, node});
        count_launch(open_.back(), calls_.launch[at]);
    }

    int32_t node_of(int32_t parent, uint32_t name) {
        const uint64_t key = (static_cast<uint64_t>(static_cast<uint32_t>(parent + 1)) << 32) | name;
        const auto [number, is_new] = index_.find_or_add(key);
        if (is_new) {
            const int32_t depth = parent < 0 ? 0 : nodes_.depth[static_cast<size_t>(parent)] + 1;
            nodes_.add(parent, name, depth, 0, 0, 0, latest, 0, 0, 0, 0, 0);
        }
        return static_cast<int32_t>(number);
    }

    void count(size_t node, int64_t length) {
        nodes_.call_count[node] += 1;
        nodes_.total_ns[node] = plus(nodes_.total_ns[node], length);
        nodes_.min_ns[node] = std::min(nodes_.min_ns[node], length);
        nodes_.max_ns[node] = std::max(nodes_.max_ns[node], length);
    }

    void count_launch(Open& call, uint32_t launch) {
        if (launch >= calls_.launch_ns.size()) return;
        const size_t node = static_cast<size_t>(call.node);
        if (calls_.launch_begin[launch] <= calls_.launch_end[launch])
            widen(call, calls_.launch_begin[launch], calls_.launch_end[launch]);
        nodes_.gpu_count[node] = plus(nodes_.gpu_count[node], calls_.launch_count[launch]);
        nodes_.gpu_ns[node] = plus(nodes_.gpu_ns[node], calls_.launch_ns[launch]);
    }

    static void widen(Open& call, int64_t begin, int64_t end) {
        call.work_begin = std::min(call.work_begin, begin);
        call.work_end = std::max(call.work_end, end);
    }

    void close() {
        const Open last = open_.back();
        const size_t node = static_cast<size_t>(last.node);
        nodes_.self_ns[node] = plus(nodes_.self_ns[node], minus(minus(last.end, last.begin), last.covered));
        open_.pop_back();
        if (last.work_begin > last.work_end) return;
        nodes_.gpu_length_ns[node] = plus(nodes_.gpu_length_ns[node], minus(last.work_end, last.work_begin));
        if (!open_.empty()) widen(open_.back(), last.work_begin, last.work_end);
    }

    void close_all() {
        while (!open_.empty()) close();
    }

    const Calls& calls_;
    CallNodes nodes_;
    DenseIndex index_;
    std::vector<Open> open_;
};

}  // namespace

CallNodes call_tree(const Calls& calls) {
    return Tree(calls).take();
}

}  // namespace wavewright

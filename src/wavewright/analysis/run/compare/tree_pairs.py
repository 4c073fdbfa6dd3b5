"""Nodes of two call trees that are the same: pairs from the roots down, by the names of nodes in their order.

Nodes that wrap others on one side only are looked through; what then has no partner is paired by kinds of kernels.
Trees have many equal parts: each node has a *form*, a hash of the names of its tree, and where the forms of a pair are
equal and no shapes are exchanged, all nodes below are paired at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wavewright.analysis.run.compare.call_forest import levels

Ints = NDArray[np.int64]

_MOST_CELLS = 1 << 22  #: Lists whose alignment needs a larger table are paired name by name: the nth with the nth.
_MOST_ROUNDS = 8  #: Below one pair, wrappers are opened in at most so many rounds.
_DEEPEST_CHAIN = 8  #: At most so many wrappers around one another are looked through.


class NamedTree(NamedTuple):
    """A tree whose nodes come before those below them; names, shapes and categories are numbers."""

    name: Ints
    shapes: Ints  #: -1 = not recorded.
    parent: Ints
    size: Ints  #: Nodes of the tree below each node, with itself.
    depth: Ints
    is_wrapper: NDArray[np.bool_]
    category: Ints  #: Of each piece of GPU work.
    first_work: Ints  #: Of each node: the first piece of work of it or of a later node; one more than there are nodes.

    def children(self, node: int) -> list[int]:
        """The nodes right below one."""
        children, child, end = [], node + 1, node + int(self.size[node])
        while child < end:
            children.append(child)
            child += int(self.size[child])
        return children

    def categories(self, node: int) -> list[int]:
        """Kinds of kernels that run below a node, in order of kinds."""
        first, end = self.first_work[node], self.first_work[node + int(self.size[node])]
        return sorted(self.category[first:end].tolist())

    def names_inside(self, node: int) -> set[int]:
        """The names right below a node, and below what is alone there."""
        names: set[int] = set()
        for _ in range(_DEEPEST_CHAIN):
            children = self.children(node)
            names.update(int(self.name[child]) for child in children)
            if len(children) != 1:
                break
            (node,) = children
        return names


def paired(first: NamedTree, second: NamedTree) -> Ints:
    """For every node of the first tree that of the second that it is paired with; -1 = none. The roots are a pair."""
    pairing = _Pairing(first, second)
    partner = np.full(len(first.name), -1, dtype=np.int64)
    node_pairs = [(0, 0)]
    while node_pairs:
        left_node, right_node = node_pairs.pop()
        size = int(first.size[left_node])
        if pairing.are_same(left_node, right_node):
            partner[left_node : left_node + size] = np.arange(right_node, right_node + size)
            continue
        partner[left_node] = right_node
        node_pairs += pairing.below(first.children(left_node), second.children(right_node))
    return partner


def _are_in_place(first: Ints, second: Ints) -> bool:
    """True if no other order of nodes would pair more equal shapes than theirs does."""
    equal_count = int((first == second).sum())
    if equal_count == len(first):
        return True
    lowest = min(first.min(), second.min())
    height = max(first.max(), second.max()) - lowest + 1
    counts = [np.bincount(shapes - lowest, minlength=height) for shapes in (first, second)]
    return equal_count == int(np.minimum(*counts).sum())


def _forms(tree: NamedTree) -> NDArray[np.uint64]:
    """A number for each node, equal for trees of equal names (and, but for one in 2^64 cases, for no others).

    It is the hash of the name, plus those of the children times an odd weight by their places among their siblings.
    """
    form = mixed(tree.name.astype(np.uint64))
    place = np.zeros(len(form), dtype=np.int64)
    inner_levels = levels(tree.depth)[1:]
    for level in inner_levels:
        above = tree.parent[level]
        place[level] = np.arange(len(level)) - np.searchsorted(above, above)
    weight = mixed(place.astype(np.uint64)) | np.uint64(1)
    for level in reversed(inner_levels):
        np.add.at(form, tree.parent[level], mixed(form[level]) * weight[level])
    return form


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Values as random numbers: splitmix64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


_Pairs = list[tuple[int, int]]


class _Pairing:
    """Two trees whose nodes are paired; nodes of the first are the left ones."""

    def __init__(self, first: NamedTree, second: NamedTree) -> None:
        self._first, self._second = first, second
        self._forms = _forms(first), _forms(second)

    def are_same(self, left_node: int, right_node: int) -> bool:
        """True if the trees below two nodes have the same names, and their shapes are in place."""
        below = [
            tree.shapes[node : node + int(self._first.size[left_node])]
            for tree, node in ((self._first, left_node), (self._second, right_node))
        ]
        return bool(self._forms[0][left_node] == self._forms[1][right_node]) and _are_in_place(*below)

    def below(self, left_nodes: list[int], right_nodes: list[int]) -> _Pairs:
        """The pairs of the nodes below a pair: of equal names, then of what is inside those that are left.

        Each round opens nodes, so that their children take their places: first those around names that the other side
        has, then, unless the nodes run the same kinds of kernels and are paired for that, all wrappers.
        """
        first, second = self._first, self._second
        node_pairs: _Pairs = []
        for _ in range(_MOST_ROUNDS):
            pairs = self._aligned(left_nodes, right_nodes)
            node_pairs += pairs
            paired_left, paired_right = {left for left, _ in pairs}, {right for _, right in pairs}
            left_nodes = [node for node in left_nodes if node not in paired_left]
            right_nodes = [node for node in right_nodes if node not in paired_right]
            if not left_nodes or not right_nodes:
                break
            inner_left = _opened(first, left_nodes, _around(first, second, right_nodes))
            inner_right = _opened(second, right_nodes, _around(second, first, left_nodes))
            if (inner_left, inner_right) == (left_nodes, right_nodes):
                left_kinds = [first.categories(node) for node in left_nodes]
                if left_kinds == [second.categories(node) for node in right_nodes]:
                    node_pairs += zip(left_nodes, right_nodes, strict=True)
                    break
                inner_left = _opened(first, left_nodes, lambda node: bool(first.is_wrapper[node]))
                inner_right = _opened(second, right_nodes, lambda node: bool(second.is_wrapper[node]))
            if (inner_left, inner_right) == (left_nodes, right_nodes):
                break
            left_nodes, right_nodes = inner_left, inner_right
        return node_pairs

    def _aligned(self, left_nodes: list[int], right_nodes: list[int]) -> _Pairs:
        """Pairs of equal names in one order: those of most weight, where equal forms and shapes count more.

        It is the alignment of two lists (`best[i, j]` is that of the first i and j nodes), after what is equal from the
        start; a pair of equal names weighs 1, an equal form 1 more, equal shapes 2 more.
        """
        first, second, forms = self._first, self._second, self._forms
        equal_count = 0
        for left_node, right_node in zip(left_nodes, right_nodes, strict=False):
            is_same = forms[0][left_node] == forms[1][right_node]
            if not is_same or first.shapes[left_node] != second.shapes[right_node]:
                break
            equal_count += 1
        pairs = list(zip(left_nodes[:equal_count], right_nodes[:equal_count], strict=True))
        left_nodes, right_nodes = left_nodes[equal_count:], right_nodes[equal_count:]
        if not left_nodes or not right_nodes:
            return pairs
        if len(left_nodes) * len(right_nodes) > _MOST_CELLS:
            return pairs + self._numbered(left_nodes, right_nodes)
        rows, columns = np.array(left_nodes)[:, None], np.array(right_nodes)[None, :]
        score = 1 + (forms[0][rows] == forms[1][columns])
        score += 2 * (first.shapes[rows] == second.shapes[columns])
        score *= first.name[rows] == second.name[columns]
        best = np.zeros((len(left_nodes) + 1, len(right_nodes) + 1), dtype=np.int64)
        for row in range(len(left_nodes)):
            best[row + 1, 1:] = np.maximum.accumulate(np.maximum(best[row, 1:], best[row, :-1] + score[row]))
        row, column, aligned = len(left_nodes), len(right_nodes), []
        while row and column:
            if best[row, column] == best[row - 1, column]:
                row -= 1
            elif best[row, column] == best[row, column - 1]:
                column -= 1
            else:
                row, column = row - 1, column - 1
                aligned.append((left_nodes[row], right_nodes[column]))
        return pairs + aligned[::-1]

    def _numbered(self, left_nodes: list[int], right_nodes: list[int]) -> _Pairs:
        """The nth node of each name with the nth."""
        places: dict[int, list[int]] = defaultdict(list)
        for node in reversed(right_nodes):
            places[int(self._second.name[node])].append(node)
        return [(node, places[name].pop()) for node in left_nodes if places.get(name := int(self._first.name[node]))]


def _around(tree: NamedTree, other: NamedTree, other_nodes: list[int]) -> Callable[[int], bool]:
    """True for a node of a tree with a name inside that some nodes of the other tree have themselves."""
    names = {int(other.name[node]) for node in other_nodes}
    return lambda node: not tree.names_inside(node).isdisjoint(names)


def _opened(tree: NamedTree, nodes: Sequence[int], is_opened: Callable[[int], bool]) -> list[int]:
    """The nodes, with their children in place of those that are opened."""
    return [inner for node in nodes for inner in (tree.children(node) if is_opened(node) else [node])]

"""Nodes of two trees that are the same: paired from the top by the order of their names, around what only one has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wavewright.analysis.run.compare.call_forest import levels

Ints = NDArray[np.int64]

_MOST_CELLS = 1 << 22  #: Of the table of an alignment; longer lists are paired by the number of each name.
_MOST_ROUNDS = 8  #: How often what wraps something is opened below one pair.
_DEEPEST_CHAIN = 8  #: Wrappers around one another that are looked through.


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
        found, at, end = [], node + 1, node + int(self.size[node])
        while at < end:
            found.append(at)
            at += int(self.size[at])
        return found

    def categories(self, node: int) -> list[int]:
        """What kinds of kernels run below a node, in order of kinds."""
        first, end = self.first_work[node], self.first_work[node + int(self.size[node])]
        return sorted(self.category[first:end].tolist())

    def names_inside(self, node: int) -> set[int]:
        """The names right below a node, and below what is alone there."""
        found: set[int] = set()
        for _ in range(_DEEPEST_CHAIN):
            children = self.children(node)
            found.update(int(self.name[child]) for child in children)
            if len(children) != 1:
                break
            (node,) = children
        return found


def paired(first: NamedTree, second: NamedTree) -> Ints:
    """For every node of the first tree that of the second that it is paired with; -1 = none. The roots are a pair."""
    forms = _forms(first), _forms(second)
    partner = np.full(len(first.name), -1, dtype=np.int64)
    pending = [(0, 0)]
    while pending:
        left, right = pending.pop()
        size = int(first.size[left])
        if forms[0][left] == forms[1][right] and _are_in_place(
            first.shapes[left : left + size], second.shapes[right : right + size]
        ):
            partner[left : left + size] = np.arange(right, right + size)
            continue
        partner[left] = right
        pending += _below(first, second, forms, first.children(left), second.children(right))
    return partner


def _are_in_place(first: Ints, second: Ints) -> bool:
    """True if no other order of nodes would pair more equal shapes than theirs does."""
    same = int((first == second).sum())
    if same == len(first):
        return True
    least = min(first.min(), second.min())
    height = max(first.max(), second.max()) - least + 1
    counts = [np.bincount(side - least, minlength=height) for side in (first, second)]
    return same == int(np.minimum(*counts).sum())


def _forms(tree: NamedTree) -> NDArray[np.uint64]:
    """A number for each node, equal for trees of equal names (and, but for one in 2^64 cases, for no others)."""
    form = mixed(tree.name.astype(np.uint64))
    place = np.zeros(len(form), dtype=np.int64)
    every = levels(tree.depth)
    for level in every[1:]:
        above = tree.parent[level]
        place[level] = np.arange(len(level)) - np.searchsorted(above, above)
    weight = mixed(place.astype(np.uint64)) | np.uint64(1)
    for level in reversed(every[1:]):
        np.add.at(form, tree.parent[level], mixed(form[level]) * weight[level])
    return form


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Values as random numbers: splitmix64."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(31))


_Forms = tuple["NDArray[np.uint64]", "NDArray[np.uint64]"]
_Pairs = list[tuple[int, int]]


def _below(first: NamedTree, second: NamedTree, forms: _Forms, left: list[int], right: list[int]) -> _Pairs:
    """The pairs below a pair: by names, through what only one side has around them, at last by kinds of kernels."""
    found: _Pairs = []
    for _ in range(_MOST_ROUNDS):
        pairs = _aligned(first, second, forms, left, right)
        found += pairs
        left, right = ([node for node in side if node not in done] for side, done in _left_over(left, right, pairs))
        if not left or not right:
            break
        opened = (
            _opened(first, left, _around(first, second, right)),
            _opened(second, right, _around(second, first, left)),
        )
        if opened == (left, right):
            kinds = [first.categories(node) for node in left], [second.categories(node) for node in right]
            if kinds[0] == kinds[1]:
                found += zip(left, right, strict=True)
                break
            opened = (
                _opened(first, left, lambda node: bool(first.is_wrapper[node])),
                _opened(second, right, lambda node: bool(second.is_wrapper[node])),
            )
        if opened == (left, right):
            break
        left, right = opened
    return found


def _left_over(left: list[int], right: list[int], pairs: _Pairs) -> list[tuple[list[int], set[int]]]:
    return [(left, {pair[0] for pair in pairs}), (right, {pair[1] for pair in pairs})]


def _around(tree: NamedTree, other: NamedTree, others: list[int]) -> Callable[[int], bool]:
    """True for a node of a tree with a name inside that some others of the other tree have themselves."""
    names = {int(other.name[node]) for node in others}
    return lambda node: not tree.names_inside(node).isdisjoint(names)


def _opened(tree: NamedTree, nodes: Sequence[int], is_opened: Callable[[int], bool]) -> list[int]:
    """The nodes, in place of some those below them."""
    return [each for node in nodes for each in (tree.children(node) if is_opened(node) else [node])]


def _aligned(first: NamedTree, second: NamedTree, forms: _Forms, left: list[int], right: list[int]) -> _Pairs:
    """Pairs of equal names in one order: those of most weight, where equal forms and shapes count more."""
    head = 0
    while head < min(len(left), len(right)) and _are_alike(first, second, forms, left[head], right[head]):
        head += 1
    pairs = list(zip(left[:head], right[:head], strict=True))
    left, right = left[head:], right[head:]
    if not left or not right:
        return pairs
    if len(left) * len(right) > _MOST_CELLS:
        return pairs + _numbered(first, second, left, right)
    rows, columns = np.array(left), np.array(right)
    is_same = first.name[rows][:, None] == second.name[columns][None, :]
    score = 1 + (forms[0][rows][:, None] == forms[1][columns][None, :])
    score += 2 * (first.shapes[rows][:, None] == second.shapes[columns][None, :])
    score *= is_same
    best = np.zeros((len(left) + 1, len(right) + 1), dtype=np.int64)
    for row in range(len(left)):
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(best[row, 1:], best[row, :-1] + score[row]))
    row, column, found = len(left), len(right), []
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            found.append((left[row], right[column]))
    return pairs + found[::-1]


def _are_alike(first: NamedTree, second: NamedTree, forms: _Forms, left: int, right: int) -> bool:
    return bool(forms[0][left] == forms[1][right] and first.shapes[left] == second.shapes[right])


def _numbered(first: NamedTree, second: NamedTree, left: list[int], right: list[int]) -> _Pairs:
    """The nth of each name with the nth."""
    places: dict[int, list[int]] = defaultdict(list)
    for node in reversed(right):
        places[int(second.name[node])].append(node)
    return [(node, places[name].pop()) for node in left if places.get(name := int(first.name[node]))]

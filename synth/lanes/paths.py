"""The way of a wave through the machine code, found from how often it must come to each access.

Nothing is evaluated: of all walks through the code the only one is taken on which every marked line is executed as
often as the source's meaning says (and lines of one loop in that order). Code with more than one such walk is refused.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from synth.isa import Kind, code_graph
from synth.kernel import compiled, family_of
from synth.kernels import kernel_path, source_paths
from wavewright.codeobj.classes import classify
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.lines import line_table
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from synth.isa import CodeGraph

__all__ = ["access_rows", "branch_decisions", "label_lines"]

_LABEL = re.compile(r"// @(\w+)$")
_ACCESSES = (  # classes of instructions
    *("lds_load", "lds_store", "lds_atomic", "vmem_load", "vmem_store", "vmem_atomic", "vmem_atomic_return"),
    *("flat_load", "flat_store"),
)
_Node = tuple[int, tuple[int, ...]]  # a row, and how much of each sequence is done


@cache
def label_lines(kernel: str) -> dict[str, int]:
    """Line number of each marked access in the source of a kernel.

    Examples
    --------
    >>> list(label_lines("lane_data"))[:2]
    ['load_index', 'load_gathered']
    """
    lines = source_paths(kernel)[0].read_text().splitlines()
    marks = [(match[1], number) for number, line in enumerate(lines, 1) if (match := _LABEL.search(line))]
    return dict(marks)


@cache
def access_rows(kernel: str, target: str) -> dict[int, str]:
    """Rows of the listing that access memory, with the label of their source line.

    Raises
    ------
    UsageError
        One of them belongs to no marked line.
    """
    file, family = source_paths(kernel)[0].name, family_of(target)
    labels = {line: label for label, line in label_lines(kernel).items()}
    lines = line_table(CodeObject.read(kernel_path(kernel, target)))
    rows = {}
    for number, row in enumerate(_code(kernel, target).rows):
        if classify(row.text, family).name not in _ACCESSES:
            continue
        place = next(iter(lines.chain_at(row.address)), None)
        if place is None or not place.file.endswith(file) or place.line not in labels:
            problem = f"{kernel} for {target}: {row.text!r} at {row.address:#x} belongs to no marked line"
            raise UsageError(problem)
        rows[number] = labels[place.line]
    return rows


@cache
def _code(kernel: str, target: str) -> CodeGraph:
    return code_graph(compiled(kernel, target).listing, family_of(target))


def branch_decisions(kernel: str, target: str, sequences: Sequence[Sequence[str]]) -> tuple[bool, ...]:
    """Decisions of the conditional branches that a wave comes to, in order, if it makes these accesses; True = taken.

    Each of the sequences holds the labels of accesses in their order; no label is in two of them.

    Raises
    ------
    UsageError
        No walk makes them, or more than one.
    """
    search = _Search(_code(kernel, target), access_rows(kernel, target), sequences)
    entry = _code(kernel, target).entry_row(compiled(kernel, target).entry)
    decisions = search.only_walk(entry)
    if decisions is None:
        amount = "more than one walk" if search.is_ambiguous else "no walk"
        problem = f"{kernel} for {target}: {amount} through the code makes the accesses {sequences}"
        raise UsageError(problem)
    return decisions


class _Search:
    def __init__(self, code: CodeGraph, labels: Mapping[int, str], sequences: Sequence[Sequence[str]]) -> None:
        self.code = code
        self.labels = labels
        self.sequences = sequences
        self.sequence_of = {label: number for number, sequence in enumerate(sequences) for label in sequence}
        self.complete = tuple(map(len, sequences))
        self.is_ambiguous = False
        self.ahead = self._sequences_ahead()

    def _sequences_ahead(self) -> list[frozenset[int]]:
        """By row: sequences of which accesses may still come; without them most searches would go on for nothing."""
        rows = self.code.rows
        ahead = [
            frozenset({self.sequence_of.get(self.labels[row], -1)} if row in self.labels else ())
            for row in range(len(rows))
        ]
        has_changed = True
        while has_changed:
            has_changed = False
            for number in range(len(rows) - 1, -1, -1):
                more = ahead[number].union(*(ahead[after] for after in self._after(number)))
                has_changed |= more != ahead[number]
                ahead[number] = more
        return ahead

    def _after(self, number: int) -> tuple[int, ...]:
        row = self.code.rows[number]
        if row.kind in (Kind.END, Kind.JUMP):
            return () if row.kind == Kind.END else (row.target,)
        return tuple(
            after for after in ((row.next, row.target) if row.kind == Kind.BRANCH else (row.next,)) if after >= 0
        )

    def only_walk(self, entry: int) -> tuple[bool, ...] | None:
        """Decisions of the only walk to the end on which all sequences are complete."""
        start = self._next_branch(entry, (0,) * len(self.sequences))
        successors: dict[_Node, tuple[_Node | None, _Node | None]] = {}
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node is None or node in successors or self._is_end(node):
                continue
            row, done = node
            code = self.code.rows[row]
            successors[node] = self._next_branch(code.next, done), self._next_branch(code.target, done)
            waiting += successors[node]
        good = self._reaching_the_end(start, successors)
        decisions: list[bool] = []
        node = start
        passed: set[_Node] = set()
        while node is not None and not self._is_end(node):
            choices = [after in good for after in successors[node]]
            self.is_ambiguous = all(choices) or node in passed
            if self.is_ambiguous or not any(choices):
                return None
            passed.add(node)
            decisions.append(choices[1])
            node = successors[node][choices[1]]
        return None if node is None else tuple(decisions)

    def _is_end(self, node: _Node) -> bool:
        return self.code.rows[node[0]].kind == Kind.END

    def _reaching_the_end(
        self, start: _Node | None, successors: dict[_Node, tuple[_Node | None, _Node | None]]
    ) -> set[_Node | None]:
        before: dict[_Node, list[_Node]] = {}
        for node, followers in successors.items():
            for follower in followers:
                if follower is not None:
                    before.setdefault(follower, []).append(node)
        ends = [
            node for node in {*before, *([start] if start else [])} if self._is_end(node) and node[1] == self.complete
        ]
        good: set[_Node | None] = set()
        while ends:
            node = ends.pop()
            if node not in good:
                good.add(node)
                ends += before.get(node, [])
        return good

    def _next_branch(self, row: int, done: tuple[int, ...]) -> _Node | None:
        """The next conditional branch or end behind a row; None where a sequence goes wrong or cannot be completed."""
        rows, after = self.code.rows, list(done)
        while row >= 0 and rows[row].kind not in (Kind.BRANCH, Kind.END):
            if row in self.labels:
                label = self.labels[row]
                number = self.sequence_of.get(label)
                if number is None or label not in self.sequences[number][after[number] : after[number] + 1]:
                    return None
                after[number] += 1
            row = rows[row].target if rows[row].kind == Kind.JUMP else rows[row].next
        if row < 0 or any(
            count < whole and number not in self.ahead[row]
            for number, (count, whole) in enumerate(zip(after, self.complete, strict=True))
        ):
            return None
        return row, tuple(after)

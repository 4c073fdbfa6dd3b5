"""In which other orders could the workgroups of a dispatch do their work, and with which formula for the index?

The hardware launches workgroups by number, and number i runs on XCD i modulo XCDs; that stays. A mapping gives launched
number i other work, so that workgroups which share lines meet on an XCD.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Final

import numpy as np

from wavewright.analysis.trace.fabric.workgroups import Ids

TODAY: Final = "today"  #: Name of the order in which workgroups are launched.
_AXES: Final = "xyz"
_MOST_CHUNK: Final = 64  #: Workgroups that one XCD gets in a row at most.


@dataclass(frozen=True)
class Mapping:
    """A mapping: the launched workgroup with number i does the work of `order[i]`."""

    name: str
    order: np.ndarray
    formula: str = ""  #: In C, of the launched number `id`; empty = as it is launched.

    def xcds(self, xcd_count: int) -> np.ndarray:
        """The XCD of each workgroup, by the number of its work."""
        xcds = np.empty(len(self.order), np.int64)
        xcds[self.order] = np.arange(len(self.order)) % xcd_count
        return xcds


def mappings(counts: Ids, xcd_count: int) -> Iterator[Mapping]:
    """The mappings that are compared: today's first, then the simplest."""
    total = prod(counts)
    ids = np.arange(total, dtype=np.int64)
    yield Mapping(TODAY, ids)
    if total < 2:
        return
    if xcd_count > 1 and total > xcd_count:
        yield _contiguous(ids, xcd_count)
        chunk = 2
        while chunk <= _MOST_CHUNK and chunk * xcd_count <= total:
            yield _chunks(ids, xcd_count, chunk)
            chunk *= 2
    axes = [axis for axis in range(3) if counts[axis] > 1]
    for order in permutations(axes):
        if list(order) != axes:
            yield _axes(ids, counts, order)
    if len(axes) > 1 and all(counts[axis].bit_count() == 1 for axis in axes):  # powers of two
        morton, formula = _morton(ids, counts)
        yield Mapping("z-order", morton, formula)
        if xcd_count > 1 and total > xcd_count:
            contiguous = _contiguous(ids, xcd_count)
            yield Mapping("z-order, range per XCD", morton[contiguous.order], f"{contiguous.formula} {formula}")


def _contiguous(ids: np.ndarray, xcd_count: int) -> Mapping:
    """Each XCD gets one range of workgroups."""
    total = len(ids)
    per, tall = -(-total // xcd_count), total % xcd_count or xcd_count  # `tall` XCDs get `per`, others one less
    xcd, at = ids % xcd_count, ids // xcd_count
    order = np.where(xcd < tall, xcd * per + at, tall * per + (xcd - tall) * (per - 1) + at)
    formula = f"id = id % {xcd_count} * {per} + id / {xcd_count};"
    if total % xcd_count:
        formula = (
            f"xcd = id % {xcd_count}; k = id / {xcd_count}; "
            f"id = xcd < {tall} ? xcd * {per} + k : {tall * per} + (xcd - {tall}) * {per - 1} + k;"
        )
    return Mapping("contiguous range per XCD", order, formula)


def _chunks(ids: np.ndarray, xcd_count: int, chunk: int) -> Mapping:
    """Ranges of `chunk` workgroups go round the XCDs; what does not fill a round stays as it is."""
    block = xcd_count * chunk
    full = len(ids) // block * block
    xcd, at = ids % xcd_count, ids // xcd_count
    new_ids = at // chunk * block + xcd * chunk + at % chunk
    new = f"id / {block} * {block} + id % {xcd_count} * {chunk} + id / {xcd_count} % {chunk}"
    guard = f"if (id < {full}) " if full < len(ids) else ""
    return Mapping(f"chunks of {chunk} per XCD", np.where(ids < full, new_ids, ids), f"{guard}id = {new};")


def _axes(ids: np.ndarray, counts: Ids, order: tuple[int, ...]) -> Mapping:
    """The work counts the axes in another order, the fastest first."""
    units = {axis: prod(counts[:axis]) for axis in order}
    quotient, work, formulas, divisor = ids, np.zeros_like(ids), [], 1
    for axis in order:
        work += quotient % counts[axis] * units[axis]
        quotient = quotient // counts[axis]
        digit = "id" if divisor == 1 else f"id / {divisor}"
        divisor *= counts[axis]
        formulas.append(f"{_AXES[axis]} = {digit}{f' % {counts[axis]}' if divisor < len(ids) else ''};")
    return Mapping(f"axes {', '.join(_AXES[axis] for axis in order)}", work, " ".join(formulas))


def _morton(ids: np.ndarray, counts: Ids) -> tuple[np.ndarray, str]:
    """Along a curve through the two longest axes that keeps close what is close; the third axis is the slowest."""
    longest = sorted(range(3), key=lambda axis: (-counts[axis], axis))
    bits: dict[int, list[int]] = {axis: [] for axis in range(3)}  # of the launched number, for each axis
    bit = 0
    for turn in range(2 * max(counts).bit_length()):
        axis = sorted(longest[:2])[turn % 2]
        if 1 << len(bits[axis]) < counts[axis]:
            bits[axis].append(bit)
            bit += 1
    bits[longest[2]] = list(range(bit, bit + counts[longest[2]].bit_length() - 1))
    work = np.zeros_like(ids)
    for axis, places in bits.items():
        for at, place in enumerate(places):
            work += (ids >> place & 1) * prod(counts[:axis]) << at
    names = (f"{_AXES[axis]} = bits {', '.join(map(str, places))} of id;" for axis, places in bits.items() if places)
    return work, " ".join(names)

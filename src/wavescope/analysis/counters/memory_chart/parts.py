"""What memory charts are declared with: blocks with values, and wires between them, once for every picture.

A value is named by the table and the name of its metric: `3.1 VL1 Hit`; ` + ` adds two of them up. What a target has
no metric for is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LOW_COALESCING", "LOW_HITS", "NEAR_PEAK", "STALLS", "Block", "Flow", "Value", "Wire"]

NEAR_PEAK = (50.0, 80.0)
"""Percent of a peak."""
LOW_HITS = (80.0, 50.0)
LOW_COALESCING = (80.0, 50.0)
STALLS = (10.0, 30.0)


@dataclass(frozen=True)
class Value:
    """One number in a block.

    Examples
    --------
    >>> Value("hit rate", "3.1 L2 Hit").label
    'hit rate'
    """

    label: str
    metric: str
    is_rate: bool = False
    """Whether it is the traffic of the block, to be shown against its peak."""
    of: str = ""
    """The metric that it is a part of, which is then its peak."""
    hot: tuple[float, float] | None = None
    """Of shares in percent: from where on it is worth a look, and from where on it is much; falling = low is hot."""


@dataclass(frozen=True)
class Block:
    """One box.

    Examples
    --------
    >>> Block("l2", "L2", 2, (Value("hit rate", "3.1 L2 Hit"),)).stage
    2
    """

    name: str
    title: str
    stage: int
    """Distance from the waves: 0 = the CUs, 1 = what each CU or a few of them have, 2 = L2, 3 = fabric, 4 = memory."""
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Flow:
    """What runs over a wire.

    Examples
    --------
    >>> Flow("read", "3.1 VL1 Rd").kind
    'read'
    """

    kind: str
    """read, write, atomic or request."""
    metric: str
    """Requests, per normalization."""
    rate: str = ""
    """Bytes per second, if some metric tells them."""


@dataclass(frozen=True)
class Wire:
    """A connection of two blocks; requests go from the source to the target.

    Examples
    --------
    >>> Wire("exec", "lds", (Flow("request", "3.1 LDS Req"),)).target
    'lds'
    """

    source: str
    target: str
    flows: tuple[Flow, ...]
    rate: str = ""
    """Bytes per second of all flows together."""

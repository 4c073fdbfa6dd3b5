"""What memory charts are declared with: blocks with values, and wires between them, once for every picture.

A value is named by the table and the name of its metric: `3.1 VL1 Hit`; ` + ` adds two of them up. What a target has
no metric for is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

NEAR_PEAK = (50.0, 80.0)  #: Percent of a peak.
LOW_HITS = (80.0, 50.0)
LOW_COALESCING = (80.0, 50.0)
STALLS = (10.0, 30.0)


@dataclass(frozen=True)
class Value:
    """One number in a block."""

    label: str
    metric: str
    is_rate: bool = False  #: Whether it is the traffic of the block, to be shown against its peak.
    of: str = ""  #: The metric that it is a part of, which is then its peak.
    #: Of shares in percent: from where on it is worth a look, and from where on it is much; falling = low is hot.
    hot: tuple[float, float] | None = None


@dataclass(frozen=True)
class Block:
    """One box."""

    name: str
    title: str
    #: Distance from the waves: 0 = the CUs, 1 = what each CU or a few of them have, 2 = L2, 3 = fabric, 4 = memory.
    stage: int
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Flow:
    """The traffic on a wire."""

    kind: str  #: read, write, atomic or request.
    metric: str  #: Requests, per normalization.
    rate: str = ""  #: Bytes per second, if some metric tells them.


@dataclass(frozen=True)
class Wire:
    """A connection of two blocks; requests go from the source to the target."""

    source: str
    target: str
    flows: tuple[Flow, ...]
    rate: str = ""  #: Bytes per second of all flows together.

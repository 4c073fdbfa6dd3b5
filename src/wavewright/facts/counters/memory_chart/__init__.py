"""Memory charts of the families of GPUs (cdna.toml, rdna.toml): blocks with values, and wires, once for every picture.

A value is named by the table and the name of its metric: `3.1 VL1 Hit`; ` + ` adds two of them up. What a target has
no metric for is left out.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from wavewright.facts.loader import Fact, decoded, packaged

#: `Value.hot` -> the percentages from which on a share is worth a look, and is much; falling = low shares are hot.
HEAT: dict[str, tuple[float, float]] = packaged("counters/memory_chart/heat.toml")


class Value(Fact, frozen=True):
    """One number in a block."""

    label: str
    metric: str
    is_rate: bool = False  #: Whether it is the traffic of the block, to be shown against its peak.
    of: str = ""  #: The metric that it is a part of, which is then its peak.
    hot: Literal["near_peak", "low_hits", "low_coalescing", "stalls"] | None = None  #: Limits of shares in percent.


class Block(Fact, frozen=True):
    """One box."""

    name: str
    title: str
    #: Distance from the waves: 0 = the CUs, 1 = what each CU or a few of them have, 2 = L2, 3 = fabric, 4 = memory.
    stage: int
    values: tuple[Value, ...]


class Flow(Fact, frozen=True):
    """The traffic on a wire."""

    kind: str  #: read, write, atomic or request.
    metric: str  #: Requests, per normalization.
    rate: str = ""  #: Bytes per second, if some metric tells them.


class Wire(Fact, frozen=True):
    """A connection of two blocks; requests go from the source to the target."""

    source: str
    target: str
    flows: tuple[Flow, ...]
    rate: str = ""  #: Bytes per second of all flows together.


class ChartLayout(Fact, frozen=True):
    """The chart of a family."""

    blocks: tuple[Block, ...]
    wires: tuple[Wire, ...]


@cache
def chart_layout(family: str) -> ChartLayout:
    """The chart of `cdna` or `rdna`."""
    file = f"counters/memory_chart/{family}.toml"
    return decoded(packaged(file), ChartLayout, where=file)

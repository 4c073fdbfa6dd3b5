"""Changes of the event graph of a run: what would take longer or shorter, and which waits would vanish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

#: Bits of `flags`, as the core has them.
NOT_AWAITED, NOT_ORDERED, ON_TIME = 1, 2, 4
#: Columns of the core -> the time that they scale.
SCALES = {
    "duration_scale": "work, calls and collectives on their GPU or thread, without waiting for others",
    "code_scale": "code of a thread before these calls, since the call before",
    "lag_scale": "from the launching call to the start of the work, where nothing else held it up",
}


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    events: pl.Series  #: Numbers of events that have the same value.
    column: str  #: A key of `SCALES`, or `flags`.
    value: float


@dataclass(frozen=True)
class Change:
    """Differences of events, by their numbers; `+` adds up changes."""

    parts: tuple[_Part, ...] = ()

    @classmethod
    def of(cls, events: pl.Series, *, flags: int = 0, **scales: float) -> Change:
        """A change of some events: factors of their times, by the names of `SCALES`, and `flags`.

        Flags are `NOT_AWAITED`: no call waits for its end; `NOT_ORDERED`: work after it waits for its start only;
        `ON_TIME`: of collectives, their rank arrives no later than the others.
        """
        flagged = [_Part(events, "flags", flags)] if flags else []
        return cls((*(_Part(events, name, value) for name, value in scales.items()), *flagged))

    def __add__(self, other: Change) -> Change:
        return Change((*self.parts, *other.parts))

    @property
    def only_shortens(self) -> bool:
        """True if no event takes longer; flags only take waits away."""
        return all(part.value <= 1 for part in self.parts if part.column in SCALES)

    def flagged(self, flag: int) -> pl.Series:
        """The events with a flag."""
        events = [part.events for part in self.parts if part.column == "flags" and int(part.value) & flag]
        return pl.concat(events).cast(pl.UInt32) if events else pl.Series(dtype=pl.UInt32)

    def columns(self, count: int) -> dict[str, pl.Series]:
        """One value for each of `count` events, of the columns that differ; scales of one event multiply."""
        columns: dict[str, pl.Series] = {}
        for part in self.parts:
            is_scale = part.column in SCALES
            if part.column not in columns:
                start, dtype = (1, pl.Float64) if is_scale else (0, pl.UInt8)
                columns[part.column] = pl.repeat(start, count, dtype=dtype, eager=True)
            column = columns[part.column]
            values = column.gather(part.events)
            column.scatter(part.events, values * part.value if is_scale else values | int(part.value))
        return columns


def scaled_to(events: pl.Series, scales: Sequence[float] | pl.Series, column: str = "duration_scale") -> Change:
    """A change with another scale for each event."""
    frame = pl.DataFrame({"event": events, "scale": scales})
    return Change(
        tuple(
            _Part(group["event"], column, float(value))
            for (value,), group in frame.sort("scale", "event").group_by("scale", maintain_order=True)
        )
    )

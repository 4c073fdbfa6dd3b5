"""Losses of one input, and their table; their kinds are declared in facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wavewright.base.files import listed
from wavewright.base.shown import shown
from wavewright.facts.losses import LOSSES as LOSSES
from wavewright.model.schema import THREAD_TRACE, names_by_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


@dataclass(frozen=True)
class Loss:
    """One loss, ready to become a row of the `losses` table."""

    kind: str
    count: int = 1
    detail: str = ""
    se: int | None = None
    time_cycles: int | None = None
    byte_offset: int | None = None

    def __post_init__(self) -> None:
        """Details name files, and become columns of tables and lines of reports."""
        object.__setattr__(self, "detail", shown(self.detail))

    @property
    def message(self) -> str:
        """The sentence for people."""
        return LOSSES[self.kind].worded(self.count).format(count=f"{self.count:,}", detail=self.detail)

    @property
    def advice(self) -> str:
        """What to do about it."""
        return LOSSES[self.kind].advice


def refused_losses(reasons: Mapping[str, str]) -> list[Loss]:
    """The loss of links that lead out of an input, and of special files, by name with the reason; none = no loss."""
    return [Loss("not_followed", len(reasons), detail=listed(reasons))] if reasons else []


CORE_LOSSES = names_by_number("losses")  #: Numbers that the native core uses (wavewright::Loss) -> names.


def loss_frame(losses: Sequence[Loss]) -> pl.DataFrame:
    """Losses as the `losses` table."""
    import polars as pl

    spec = THREAD_TRACE["losses"]
    rows = [{c.name: getattr(loss, c.name) for c in spec.columns} for loss in losses]
    return pl.DataFrame(rows, schema=spec.dtypes)

"""Is a kernel bound by arithmetic or by a level of memory, and how far is it from that roof?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice
from wavewright.analysis.counters.roofline.ceilings import ceiling_rows
from wavewright.analysis.counters.roofline.points import disprove, kernel_row, operation_rows, point_rows
from wavewright.analysis.counters.roofline.roofline_caveats import roofline_caveats
from wavewright.analysis.counters.roofline.work import work_of
from wavewright.base.bounds import ID, ROWS, bounded
from wavewright.errors import UsageError
from wavewright.facts.metrics.panels import RULES
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of


@dataclass(frozen=True)
class Roofline(Answer, package=__package__):
    """Kernels under their roofs."""

    target: str
    product: str
    by: str  #: kernel or dispatch.
    rules: str  #: corrected, or the reference whose bytes and rates were applied.
    total_count: int  #: Kernels or dispatches that were chosen; `kernels` has the first of them.
    ceilings: pl.DataFrame
    kernels: pl.DataFrame
    points: pl.DataFrame
    operations: pl.DataFrame
    caveats: tuple[str, ...]  #: What limits the trust in the numbers.


@bounded(top=ROWS, device=ID)
def roofline(
    counters: CounterSet,
    *,
    choice: CounterChoice = ALL_DISPATCHES,
    by: str = "kernel",
    top: int | None = None,
    ceilings: str = "best",
    device: int | None = None,
    amd: bool = False,
) -> Roofline:
    """Where kernels, or single dispatches, stand under the roofs of memory and arithmetic.

    Parameters
    ----------
    by
        kernel (mean over its dispatches) or dispatch.
    top
        Only those with most time; None = all.
    ceilings
        best (empirical where measured), empirical or theoretical.
    device
        The GPU whose benchmark gives the empirical ceilings; None = the first.
    amd
        Bytes as ROCm Compute Profiler 3.3 counts them: 64 per line on every GPU.

    Raises
    ------
    UsageError
        When `by` or `ceilings` is none of these words, or nothing matches the choice or the device.
    """
    if by not in ("kernel", "dispatch"):
        raise UsageError(f"no points by {by[:40]!r}", advice="by kernel or by dispatch")
    ceiling_list = ceiling_rows(counters, choice=ceilings, device=device)
    works = work_of(counters, choice=choice, by=by, amd=amd)
    top_works = works[:top]
    if ceilings == "best":
        ceiling_list = disprove(ceiling_list, works)
    used = {row["name"]: row["used"] for row in ceiling_list}
    rows: dict[str, list[dict[str, Any]]] = {
        "ceilings": ceiling_list,
        "kernels": [kernel_row(work, used) for work in top_works],
        "points": [row for work in top_works for row in point_rows(work, used)],
        "operations": [row for work in top_works for row in operation_rows(work, used)],
    }
    frames = {name: frame_of(spec, rows[name]) for name, spec in Roofline.tables.items()}
    return Roofline(
        target=counters.system.target or "",
        product=counters.system.product or "",
        by=by,
        rules=RULES[amd],
        total_count=len(works),
        **frames,
        caveats=tuple(roofline_caveats(frames, counters, device)),
    )

"""What the code rows cost in a part of the trace: one wave, or a stretch of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavescope.page.question import Question, number, whole_number

if TYPE_CHECKING:
    import polars as pl

    from wavescope.analysis.selection import Selection
    from wavescope.model import ThreadTrace
    from wavescope.page.document import Document

__all__ = ["QUESTIONS", "range_costs", "wave_costs"]


def wave_costs(document: Document, *, wave: int) -> pl.DataFrame:
    """Costs of one wave by row, as `costs` has them for all: what other waves of its SIMD hid is not exposed.

    Raises
    ------
    UsageError
        When there is no such wave.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> wave_costs(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))), wave=0)
    Traceback (most recent call last):
    wavescope.errors.UsageError: nothing: no wave fits this choice; shader engines with waves: none; kernels: none
    """
    import polars as pl

    from wavescope.analysis.exposure import row_costs
    from wavescope.analysis.selection import Selection, select

    chosen = select(document.trace, Selection(waves=(wave,)))
    return row_costs(chosen).with_columns(pl.col(pl.Int64).cast(pl.Float64))


def range_costs(document: Document, *, begin: float, end: float) -> pl.DataFrame:
    """Costs by row of the instructions whose first attempt to issue lies in a stretch of aligned time.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> from wavescope.page.document import Document
    >>> range_costs(Document(0, "", "", lambda: ThreadTrace({}, TraceSource(path="nothing"))), begin=0, end=9).height
    0
    """
    import math

    import polars as pl

    from wavescope.analysis.clocks import alignment
    from wavescope.analysis.exposure import ROW_COSTS, row_costs
    from wavescope.analysis.selection import Selection

    trace = document.trace
    offsets = alignment(trace).offsets
    first, last = math.ceil(begin), math.ceil(end)
    parts = []
    for se in trace.waves["se"].unique().sort().to_list():
        move = offsets.get(se, 0)
        chosen = Selection(shader_engines=(se,), begin_cycles=first - move, end_cycles=last - move)
        part = _part(trace, chosen)
        if part is not None:
            parts.append(row_costs(part))
    if not parts:
        return pl.DataFrame(schema=ROW_COSTS.dtypes).with_columns(pl.col(pl.Int64).cast(pl.Float64))
    longest = [name for name in ROW_COSTS.names if name.endswith("_max")]
    sums = pl.concat(parts).group_by("row").agg(pl.exclude(longest).sum(), pl.col(longest).max())
    return sums.sort("row").select(ROW_COSTS.names).with_columns(pl.col(pl.Int64).cast(pl.Float64))


def _part(trace: ThreadTrace, chosen: Selection) -> ThreadTrace | None:
    """What was chosen of a trace; None = no wave was there then."""
    from wavescope.analysis.selection import select
    from wavescope.errors import UsageError

    try:
        return select(trace, chosen)
    except UsageError:
        return None


QUESTIONS = (
    Question("wave_costs", "trace", wave_costs, {"wave": whole_number}, ("wave",), lambda _: ()),
    Question("range_costs", "trace", range_costs, {"begin": number, "end": number}, ("begin", "end"), lambda _: ()),
)

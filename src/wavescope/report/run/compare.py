"""What changed between runs, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from rich.text import Text

from wavescope.analysis.run.summary import GPU_DOMAINS
from wavescope.base.words import percent
from wavescope.report.kit.tables import WIDE, Column, frame_table, printable
from wavescope.report.kit.words import brief_kernel, duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from wavescope.analysis.run.compare import RunComparison

_NO_IDEA = 10.0  #: Noise, as a share, from which on its size does not matter.
_STYLES = {
    "slower": "red",
    "new": "red",
    "more calls": "red",
    "faster": "green",
    "gone": "green",
    "fewer calls": "green",
}


def comparison_report(
    answer: RunComparison,
    *,
    paths: Sequence[str] = (),
    width: int = WIDE,
    limit: int = 20,
    everything: bool = False,
) -> Iterator[RenderableType]:
    """The answer of `wavescope compare` about runs at `paths`; `everything` shows differences within noise too."""
    others = range(1, answer.sides.height)
    for side in others:
        yield Text(printable(answer.verdict(side)), style="bold")
    for pair in answer.renamed:
        label = answer.sides["label"][pair.side]
        yield Text(
            printable(f"{label}: {brief_kernel(pair.name, 100)} was compared with {brief_kernel(pair.base_name, 100)}"),
            "bold yellow",
        )
    if any(answer.may_be_renamed(side) for side in others):
        yield Text("one kernel is new and one is gone; --force compares them with each other", "dim")
    yield Text()
    where = Column("path", lambda row: printable(paths[row["side"]]), takes_rest=True)
    columns = [*_SIDES, where] if paths else _SIDES
    yield frame_table(answer.sides, columns, limit=limit, what="runs", width=width)
    yield Text(_noise(answer), "dim")
    for side in others:
        yield from _side(answer, side, width=width, limit=limit, everything=everything)


def _side(answer: RunComparison, side: int, *, width: int, limit: int, everything: bool) -> Iterator[RenderableType]:
    label = printable(answer.sides["label"][side])
    rows = answer.things.filter(pl.col("side") == side) if everything else answer.changes(side)
    on_gpu = pl.col("domain").is_in(GPU_DOMAINS)
    what = "things" if everything else "changes"
    for part, where in ((rows.filter(on_gpu), "on the GPU"), (rows.filter(~on_gpu), "on the CPU")):
        if part.height:
            yield Text()
            yield frame_table(part, _columns(part), limit=limit, what=f"{what} {where}", title=label, width=width)
    if everything:
        return
    all_rows = answer.things.filter(pl.col("side") == side)
    unknown = all_rows.filter(pl.col("status") == "unknown").height
    hidden = all_rows.height - rows.height - unknown
    if hidden or unknown:
        yield Text()
        more = f", {unknown:,} have too few calls to tell" if unknown else ""
        yield Text(f"{label}: {hidden:,} things differ within noise{more}; --all shows them", "dim")


def _noise(answer: RunComparison) -> str:
    unit = "step" if answer.step else "run"
    if answer.repeat_count:
        source = f"{answer.repeat_count:,} repeated run{'s' if answer.repeat_count > 1 else ''} and repeated calls"
    else:
        source = "repeated calls, at least 1 % (other runs may differ more; --repeat PATH measures it)"
    return f"times are per {unit}; noise from {source}"


def _columns(rows: pl.DataFrame) -> list[Column]:
    has_calls = not rows["base_calls"].equals(rows["calls"], null_equal=True)
    return [
        Column("effect", lambda row: _signed(row["delta_ns"])),
        Column("of GPU time", lambda row: percent(row["delta_share"], sign=True), is_wide=True),
        Column("", _status, is_text=True, is_fixed=True),
        Column("per call", lambda row: percent(row["change"], sign=True)),
        Column("noise", _noise_cell),
        Column("mean before", lambda row: duration(row["base_mean_ns"])),
        Column("after", lambda row: duration(row["mean_ns"])),
        *([Column("calls before", lambda row: _count(row["base_calls"]), is_wide=True)] if has_calls else []),
        Column("calls", lambda row: _count(row["calls"])),
        Column("name", lambda row: brief_kernel(row["name"], 200), takes_rest=True),
    ]


def _status(row: dict[str, Any]) -> Any:
    return Text(row["status"], style=_STYLES.get(row["status"], "dim"))


def _noise_cell(row: dict[str, Any]) -> str:
    if row["noise"] is None:
        return "?"
    return f"±{percent(row['noise'])}" if row["noise"] < _NO_IDEA else "> 1,000 %"


def _signed(nanoseconds: float) -> str:
    return f"+{duration(nanoseconds)}" if nanoseconds > 0 else duration(nanoseconds)


def _count(calls: float) -> str:
    return f"{calls:,.0f}" if calls == int(calls) else f"{calls:,.2f}"


_SIDES = [
    Column("", lambda row: printable(row["label"]), is_text=True),
    Column("GPU time", lambda row: f"{row['gpu_ns'] / 1e6:,.3f} ms"),
    Column("change", lambda row: percent(row["change"], sign=True) if row["side"] else ""),
    Column("wall", lambda row: duration(row["wall_ns"])),
    Column("processes", lambda row: f"{row['process_count']:,}"),
    Column("steps", lambda row: f"{row['step_count']:,}" if row["step_count"] > 1 else "-"),
]

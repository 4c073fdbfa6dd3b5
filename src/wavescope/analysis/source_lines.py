"""What does each line of the source cost, and what was inlined into it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from wavescope.analysis.attribution import source_of_rows
from wavescope.analysis.exposure import row_costs
from wavescope.analysis.stall_rows import stall_rows
from wavescope.model import Answer
from wavescope.model.schema import TableSpec, table_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from wavescope.model import ThreadTrace

__all__ = ["SourceListing", "source_listing"]

_SUMS = (
    "hit_count",
    "latency_cycles_total",
    "stall_cycles_total",
    "idle_cycles_total",
    "exposed_stall_cycles_total",
    "exposed_issue_cycles_total",
    "exposed_idle_cycles_total",
    "exposed_cycles_total",
)
_COSTS = """
    row_count                   Int64   -       | code rows that belong to it
    hit_count                   Int64   -       | executions of these rows
    latency_cycles_total        Int64   cycles  | sum of durations
    stall_cycles_total          Int64   cycles  | sum of stalls
    idle_cycles_total           Int64   cycles  | sum of the gaps before the executions
    exposed_stall_cycles_total  Int64   cycles  | stall that work of other waves did not hide
    exposed_issue_cycles_total  Int64   cycles  | latency without stall that other work did not hide
    exposed_idle_cycles_total   Int64   cycles  | idle that other work did not hide
    exposed_cycles_total        Int64   cycles  | sum of the three
    stall_class                 String  -       | what its rows stalled on most (stall_classes.py); null = no stall
    stall_class_share           Float64 -       | share of that class in its stall, 0 to 1"""
_LINES = table_spec(
    "lines",
    "one source line: every line of files whose text is here, and every line with rows of the other files",
    f"""
    file                        String  -       | path as in the debug lines
    line                        UInt32  -       | number of the line; null = the compiler gave none
    text                        String  -       | its text; null = not available here
    {_COSTS.strip()}
    """,
)
_INLINED = table_spec(
    "inlined",
    "one line of a function that was inlined into a line, directly or through others",
    f"""
    file                        String  -       | file of the line it was inlined into
    line                        UInt32  -       | the line it was inlined into
    path                        String  -       | from there inwards, `file:line` joined by ` -> `
    depth                       UInt32  -       | 1 = inlined into the line itself
    inlined_file                String  -       | file of the inlined line, the last of the path
    inlined_line                UInt32  -       | number of the inlined line
    inlined_text                String  -       | its text; null = not available here
    {_COSTS.strip()}
    """,
)
_FILES = table_spec(
    "files",
    "one file that lines belong to, costliest first",
    f"""
    file                        String   -       | path as in the debug lines
    has_text                    Boolean  -       | whether its text is here
    {_COSTS.strip()}
    """,
)


@dataclass(frozen=True)
class SourceListing(Answer):
    """The source with its costs.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> source_listing(ThreadTrace({}, TraceSource(path="nothing"))).lines.height
    0
    """

    definition: ClassVar[str] = (
        "Every code row belongs to one line: the innermost of its inline chain (the line the instruction was compiled "
        "from), the outermost (the line of the kernel that called for it), or the first from the inside that is not in "
        "a library. The costs of a line are the sums over its rows; lines inlined into it have their shares in "
        "`inlined`, where a row counts at every depth."
    )
    tables: ClassVar[Mapping[str, TableSpec]] = {"files": _FILES, "lines": _LINES, "inlined": _INLINED}

    attribution: str
    files: pl.DataFrame
    lines: pl.DataFrame
    inlined: pl.DataFrame
    unmapped_row_count: int
    """Rows without a debug line."""
    unmapped_cycles_total: int
    """Latency and idle of these rows."""

    @property
    def has_text(self) -> bool:
        """Whether the text of any file with rows is here."""
        return bool(self.files["has_text"].any())


def source_listing(
    trace: ThreadTrace, *, rows: pl.Series | None = None, attribution: str = "outermost", mine: Sequence[str] = ()
) -> SourceListing:
    """The source files with what each line cost.

    Parameters
    ----------
    rows
        Only the cost of these code rows; None = all.
    attribution
        Which line of an inline chain a row belongs to: innermost, outermost or mine (the first from the inside that is
        not in a library, or that is below one of the paths `mine`).

    Raises
    ------
    UsageError
        When there is no such attribution.

    Examples
    --------
    >>> from wavescope.model import ThreadTrace, TraceSource
    >>> source_listing(ThreadTrace({}, TraceSource(path="nothing"))).attribution
    'outermost'
    """
    import polars as pl

    code = trace.code if rows is None else trace.code.filter(pl.col("row").is_in(rows.implode()))
    costs = (
        code.select("row")
        .join(row_costs(trace).select("row", *_SUMS), on="row", how="left", maintain_order="left")
        .fill_null(0)
    )
    steps = _steps(code, attribution, mine)
    own = steps.filter(pl.col("depth") == 0)
    texts = _texts(trace.sources)
    shown = texts.filter(pl.col("file").is_in(own["file"].implode()))
    lines = shown.join(
        _summed(own, trace, costs, ["file", "line"]), on=["file", "line"], how="full", coalesce=True, nulls_equal=True
    )
    files = _summed(own, trace, costs, ["file"])
    names = {"file": "inlined_file", "line": "inlined_line", "text": "inlined_text"}
    inlined = _summed(steps.filter(pl.col("depth") > 0), trace, costs, _names(_INLINED)[:6]).join(
        texts.rename(names), on=["inlined_file", "inlined_line"], how="left", maintain_order="left"
    )
    unmapped = costs.filter(code["inline_chain"].is_null())
    return SourceListing(
        attribution,
        files.with_columns(has_text=pl.col("file").is_in(shown["file"].implode()))
        .sort("exposed_cycles_total", "file", descending=[True, False])
        .select(_names(_FILES)),
        lines.with_columns(pl.col("row_count", *_SUMS).fill_null(0))
        .sort("file", "line", nulls_last=True)
        .select(_names(_LINES)),
        inlined.select(_names(_INLINED)),
        unmapped.height,
        int(unmapped["latency_cycles_total"].sum()) + int(unmapped["idle_cycles_total"].sum()),
    )


def _names(table: TableSpec) -> list[str]:
    return [column.name for column in table.columns]


def _steps(code: pl.DataFrame, attribution: str, mine: Sequence[str]) -> pl.DataFrame:
    """Every row at the line it belongs to (depth 0), and at every line from there inwards."""
    import polars as pl

    known = code.filter(pl.col("inline_chain").is_not_null()).select("row", "inline_chain")
    chains = known.unique("inline_chain", maintain_order=True)
    places = source_of_rows(chains, attribution, mine).select("file", "line").rows()
    paths = []
    for chain, (file, line) in zip(chains["inline_chain"], places, strict=True):
        frames = chain.split(" -> ")
        own = next((at for at, frame in enumerate(frames) if _place(frame) == (file, line)), len(frames) - 1)
        if attribution == "outermost":
            own = len(frames) - 1
        for depth in range(own + 1):
            path = " -> ".join(frames[own - depth : own][::-1])
            paths.append((chain, depth, path, file, line, *_place(frames[own - depth])))
    names = ("inline_chain", "depth", "path", "file", "line", "inlined_file", "inlined_line")
    schema = [(name, pl.UInt32 if name in ("depth", "line", "inlined_line") else pl.String) for name in names]
    steps = pl.DataFrame(paths, schema=schema, orient="row")
    return known.join(steps, on="inline_chain", maintain_order="left_right").drop("inline_chain")


def _summed(steps: pl.DataFrame, trace: ThreadTrace, costs: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Costs of the rows of each key, and the class that its stall is mostly of."""
    import polars as pl

    stall = pl.col("stall_cycles_total")
    sums = (
        steps.join(costs, on="row", maintain_order="left")
        .group_by(keys, maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("row_count"), pl.col(*_SUMS).sum())
    )
    largest = (
        steps.join(stall_rows(trace).select("row", "class", "stall_cycles_total"), on="row")
        .group_by([*keys, "class"])
        .agg(stall.sum())
        .filter(stall > 0)
        .sort("stall_cycles_total", "class", descending=[True, False])
        .group_by(keys, maintain_order=True)
        .agg(stall_class=pl.col("class").first(), stall_class_share=stall.first() / stall.sum())
    )
    return sums.join(largest, on=keys, how="left", nulls_equal=True, maintain_order="left")


def _place(frame: str) -> tuple[str, int | None]:
    """File and line of `file:line`; the line is None when the compiler gave none."""
    file, _, line = frame.rpartition(":")
    number = int(line) if line.isdecimal() else 0
    return (file, number) if 0 < number < 1 << 32 else (file, None)


def _texts(sources: pl.DataFrame) -> pl.DataFrame:
    """Every line of every source file whose text is here."""
    import polars as pl

    lines = sources.filter(pl.col("text").is_not_null()).with_columns(pl.col("text").str.split("\n"))
    numbered = lines.with_columns(line=pl.int_ranges(1, pl.col("text").list.len() + 1, dtype=pl.UInt32))
    return numbered.explode("text", "line").select("file", "line", "text")

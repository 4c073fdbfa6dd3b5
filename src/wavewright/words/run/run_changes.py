"""The comparison of runs in words: verdicts, what the difference is made of, and what changed by kernel and by caller.

Everything is about one side against the base, which is side 0. What is within noise is only counted, unless
`everything` is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.kernel_names import readable_names
from wavewright.analysis.run.compare.compare import REMAINDER, RunComparison, change_text
from wavewright.analysis.run.contents.summary import GPU_DOMAINS
from wavewright.analysis.run.measures.trees import LAYER
from wavewright.base.shown import printable
from wavewright.base.words import counted, percent
from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.blocks import GAP, AnyBlock, Cell, Sentence, headline, sentence
from wavewright.words.kit.brief_names import brief, brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below

_NOISE_MAX = 10.0  #: Noise of at least this share (1,000 %) is only called too large.
_MOST_OF_REMAINDER = 3  #: Things that are not attributed and are shown without being asked for.
_LEAST_OF_REMAINDER = 0.001  #: Share of the base's GPU time from which on they are shown.
_MOST_RENAMED = 5  #: Renamed kernels that are named in full without being asked for.
_LONGEST_START = 28  #: Characters that are shown of what two names have in common at their start.
_LEVELS_SHOWN = 12  #: Nodes of the tree of calls that are shown.
_STYLES = dict.fromkeys(("slower", "new", "more calls"), "red")  #: Status -> tone.
_STYLES |= dict.fromkeys(("faster", "gone", "fewer calls"), "green")
_HIDDEN = {"same": "within noise", "cannot tell": "with calls too few or too uneven to tell"}  #: Status -> words.
#: Of a pair of operators: a side -> the column with what only this side launched.
_ONLY = {"before": "base_only", "now": "side_only"}


def comparison_report(
    answer: RunComparison, *, paths: Sequence[str] = (), limit: int = 20, everything: bool = False
) -> Iterator[AnyBlock]:
    """The answer of `wavewright compare` about runs at `paths`; `everything` shows differences within noise too."""
    others = range(1, answer.sides.height)
    for side in others:
        yield headline(answer.verdict(side))
        verdicts = (answer.time_verdict(side), answer.share_verdict(side), answer.structure_verdict(side))
        yield from map(Sentence, filter(None, verdicts))
    if any(answer.may_be_renamed(side) for side in others):
        yield sentence(("one kernel is new and one is gone; --force compares them with each other", "dim"))
    times = ("computation_ns", "communication_ns", "copy_ns")  # columns that are shown where a side has some
    yield from table_below(
        "run/run_changes/side",
        answer.sides,
        limit=limit,
        change=lambda row: change_text(row["change"]) if row["side"] else "",
        noise=_total_noise,
        **{name: answer.sides[name].sum() > 0 for name in times},
        has_steps=answer.step is not None,
        path=lambda row: paths[row["side"]],
        has_paths=bool(paths),
    )
    yield sentence((_noise(answer), "dim"))
    for side in others:
        if not answer.is_equal(side):
            yield from _side(answer, side, limit=limit, everything=everything)


def _side(answer: RunComparison, side: int, *, limit: int, everything: bool) -> Iterator[AnyBlock]:
    label = printable(answer.sides["label"][side])
    yield from table_below(
        "run/run_changes/parts",
        _parts_and_sum(answer, side),
        title=f"{label}, what the difference is made of",
        part=_part,
        effect=lambda row: f"{row['delta_ns'] / 1e6:+,.3f} ms",
        name_text=lambda row: brief_kernel(row["largest_name"], 200) if row["largest_delta_ns"] else "",
    )
    pairs = [pair for pair in answer.renamed if pair.side == side]
    first_pairs = pairs if everything else pairs[:_MOST_RENAMED]
    for pair in first_pairs:
        yield Sentence(f"renamed: {both_names(pair.base_name, pair.name, 400)}")
    if len(first_pairs) < len(pairs):
        yield sentence((f"{len(pairs) - len(first_pairs):,} more are renamed; --all names them", "dim"))
    yield from _structure(answer, side, label, limit=limit, everything=everything)
    rows = answer.things.filter(pl.col("side") == side) if everything else answer.changes(side)
    on_gpu = pl.col("domain").is_in(GPU_DOMAINS)
    row_name = "things" if everything else "changes"
    for changes, where in ((rows.filter(on_gpu), "on the GPU"), (rows.filter(~on_gpu), "on the CPU")):
        yield from _change_table(changes, label, limit=limit, rows=f"{row_name} {where}")
    if not everything:
        yield from _remainder(answer, side, label)


def _remainder(answer: RunComparison, side: int, label: str) -> Iterator[AnyBlock]:
    """The largest differences that no change explains, and how many things are not shown."""
    remainder = answer.remainder(side)
    largest = remainder.filter(pl.col("delta_share").abs() >= _LEAST_OF_REMAINDER).head(_MOST_OF_REMAINDER)
    is_cut = remainder.height > largest.height
    among = f": the largest of {counted(remainder.height, 'differences')}" if is_cut else ""
    yield from _change_table(largest, f"{label}, not attributed{among}")
    all_rows = answer.things.filter(pl.col("side") == side)
    counts = {status: all_rows.filter(pl.col("status") == status).height for status in REMAINDER}
    if any(counts.values()):
        hidden = (f"{counted(counts[status], 'things')} {text}" for status, text in _HIDDEN.items() if counts[status])
        yield GAP
        yield sentence((f"{label}: {', '.join(hidden)}; --all shows them", "dim"))


def _change_table(changes: pl.DataFrame, title: str, **options: Any) -> Iterator[AnyBlock]:
    """The table of kernels, copies and calls that changed; nothing where there are none."""
    yield from table_below(
        "run/run_changes/columns",
        changes,
        title=title,
        **options,
        of_gpu_time=lambda row: change_text(row["delta_share"]),
        has_shares=changes["delta_share"].count() > 0,
        status=_status,
        per_call=lambda row: change_text(row["change"]),
        noise=_noise_cell,
        calls_before=lambda row: _count(row["base_calls"]),
        has_calls=not changes["base_calls"].equals(changes["calls"], null_equal=True),
        calls=lambda row: _count(row["calls"]),
        name=_name,
    )


def _structure(answer: RunComparison, side: int, label: str, *, limit: int, everything: bool) -> Iterator[AnyBlock]:
    """The changes by operators, and by the levels of the call tree."""
    of_side = pl.col("side") == side
    is_shown = of_side if everything else of_side & (pl.col("delta_ns") != 0)
    operators = answer.operators.filter(is_shown)
    if not operators.height:
        return
    other_shapes = int(operators["other_shape_count"].sum())
    note = f"; {counted(other_shapes, 'pairs')} of other shapes, whose times are not comparable"
    title = f"{label}, by what both call{note if other_shapes else ''}"
    yield from table_below(
        "run/run_changes/operators",
        operators,
        limit=limit,
        title=title,
        status=_status,
        per_call=lambda row: change_text(row["change"]),
        noise=_noise_cell,
        name=_operator,
    )
    tree = answer.tree.filter(of_side)
    # A node with all the time of its parent stands for it: the parent would only repeat its line.
    times = ["base_ns", "time_ns"]
    repeated = tree.select(*times, node="parent").join(tree, on=["node", *times], how="semi")["node"]
    rows = tree.filter(~pl.col("node").is_in(repeated.implode()) & (pl.col("delta_ns") != 0))
    largest = rows.sort(-pl.col("delta_ns").abs(), "node").head(min(limit, _LEVELS_SHOWN)).sort("node")
    if largest["name"].n_unique() > 1:
        yield GAP
        title = f"{label}, by levels of calls: of {rows.height:,} those that differ most"
        indents = _indents(tree, largest)
        yield declared_table(
            "run/run_changes/tree",
            largest,
            title=title,
            name=lambda row: Cell(_operator(row), level=indents[row["node"]]),
        )


def _indents(tree: pl.DataFrame, table_rows: pl.DataFrame) -> dict[int, int]:
    """Node in the table -> how many of the nodes above it are in the table; rows are in the order of the tree."""
    parents = dict(tree.select("node", "parent").iter_rows())
    indents = {-1: -1}  # what is above the roots
    for node in table_rows["node"]:
        above = parents[node]
        while above not in indents:
            above = parents[above]
        indents[node] = indents[above] + 1
    return indents


def _operator(row: dict[str, Any]) -> str:
    """The name of an operator or a level, both names where they differ, and what only one side launched."""
    name = row["name"].removeprefix(LAYER)
    only = [f"only {side}: {row[key]}" for side, key in _ONLY.items() if row.get(key)]
    names = f"{row['base_name'].removeprefix(LAYER)} -> {name}" if row["base_name"] else name
    return f"{names} ({'; '.join(only)})" if only else names


def _parts_and_sum(answer: RunComparison, side: int) -> pl.DataFrame:
    """The parts of a difference and, last, their sum."""
    parts = answer.parts.filter(pl.col("side") == side)
    times = answer.sides["gpu_ns"]
    row = {"status": "GPU time", "delta_ns": times[side] - times[0], "thing_count": int(parts["thing_count"].sum())}
    return pl.concat([parts, pl.DataFrame([dict.fromkeys(parts.columns) | row], schema=parts.schema)])


def _noise(answer: RunComparison) -> str:
    unit = "step" if answer.step else "run"
    if answer.repeat_count:
        source = f"{answer.repeat_count:,} repeated run{'s' if answer.repeat_count > 1 else ''} and repeated calls"
    else:
        source = "repeated calls, at least 1 % (other runs may differ more; --repeat PATH measures it)"
    mean = ", idle and other times are means of its GPUs" if answer.sides["gpu_count"].max() else ""
    return f"times are per {unit}{mean}; noise from {source}"


def _name(row: dict[str, Any]) -> str:
    return both_names(row["base_name"], row["name"]) if row["base_name"] else brief_kernel(row["name"], 200)


def both_names(base: str, name: str, width: int = 200) -> str:
    """Two names of one kernel, by what differs between them.

    >>> both_names("void bmm_64x64<64u, 8u>(int)", "void bmm_128x128<128u, 8u>(int)")
    'bmm_{64x64<64u -> 128x128<128u}, 8u>'
    """
    first, second = map(kernel_title, readable_names([base, name]).values())
    if first == second:  # one is mangled, or has other parameters
        first, second = base, name
    start = _common_length(first, second)
    end = _common_length(first[start:][::-1], second[start:][::-1])
    head, tail = first[:start], first[len(first) - end :]
    head = head if len(head) <= _LONGEST_START else f"{head[: _LONGEST_START - 1]}…"
    middle = f"{{{first[start : len(first) - end]} -> {second[start : len(second) - end]}}}"
    return brief(f"{head}{middle}{tail}", width)


def _common_length(first: str, second: str) -> int:
    """The length of a common start that ends between words, not between two letters or digits."""
    equal = takewhile(lambda letters: letters[0] == letters[1], zip(first, second, strict=False))
    length = sum(1 for _ in equal)
    while length and any(len(text) > length and text[length - 1 : length + 1].isalnum() for text in (first, second)):
        length -= 1
    return length


def _status(row: dict[str, Any]) -> Cell:
    """The status with its tone; of a renamed kernel also its change, if that is beyond noise."""
    status, change, noise = row["status"], row["change"], row["noise"]
    if status != "renamed":
        status = "within noise" if status == "same" and row["delta_ns"] else status
        return Cell(status, _STYLES.get(status, "dim"))
    if change is None or noise is None or abs(change) <= noise:
        return Cell("renamed")
    tendency = "slower" if change > 0 else "faster"
    return Cell(f"renamed, {tendency}", _STYLES[tendency])


def _noise_cell(row: dict[str, Any]) -> str:
    if row["noise"] is None:
        return "" if row["status"] in ("new", "gone") else "unknown"
    return f"±{percent(row['noise'])}" if row["noise"] < _NOISE_MAX else "too large"


def _count(calls: float) -> str:
    return f"{calls:,.0f}" if calls == int(calls) else f"{calls:,.2f}"


def _total_noise(row: dict[str, Any]) -> str:
    if not row["side"]:  # the base
        return ""
    return "unknown" if row["noise"] is None else f"±{percent(row['noise'])}"


def _part(row: dict[str, Any]) -> Cell:
    status = "within noise" if row["status"] == "same" else row["status"]
    is_sum = row["is_attributed"] is None
    return Cell(status, _STYLES.get(status, "bold" if is_sum else "dim"))

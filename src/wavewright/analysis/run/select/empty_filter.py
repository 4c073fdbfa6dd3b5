"""A filter that matches nothing of a run, and what there is instead."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.base.words import some_of
from wavewright.errors import UsageError
from wavewright.model.run import Run

_SHOWN = 6
_NAME_WIDTH = 60


@dataclass(frozen=True)
class Unmatched:
    """One filter that matches nothing: its option, what it asks for, and how often what else occurs."""

    option: str
    what: str
    there: Counter[str]


def unmatched(run: Run, selection: RunSelection) -> Unmatched | None:
    """The first filter of the selection that matches nothing of the run; None = each matches something.

    What a run does not record at all (ranks, regions) is not looked for: verbs say that it is missing.
    """
    pattern = None if selection.kernel is None else name_pattern(selection.kernel)
    domains = {word.upper() for word in selection.domains}
    domains |= {"MARKER"} if "MARKERS" in domains else set()
    checks: list[tuple[str, str, object, Callable[[Run], Counter[str]], Callable[[str], bool]]] = [
        ("--pid", "no process", selection.pids, _values("processes", "pid"), _is_in(selection.pids)),
        ("--rank", "no rank", selection.ranks, _values("processes", "rank"), _is_in(selection.ranks)),
        ("--gpu", "no GPU", selection.gpus, _gpus, _is_in(selection.gpus)),
        ("--stream", "no stream", selection.streams, _values("streams", "stream_id"), _is_in(selection.streams)),
        (
            "--kernel",
            "no kernel matches",
            selection.kernel,
            _kernels,
            lambda name: bool(pattern and pattern.search(name)),
        ),
        ("--domain", "no region of the domain", selection.domains, _domains, lambda name: name.upper() in domains),
    ]
    for option, what, choice, recorded, is_wanted in checks:
        if choice is None or choice == ():
            continue
        there = recorded(run)
        if there and not any(map(is_wanted, there)):
            words = [choice] if isinstance(choice, str) else choice
            text = " or ".join(map(str, words))  # type: ignore[call-overload]
            there = Counter({name: count for name, count in there.items() if count})
            return Unmatched(option, f"{what} {text}", there)
    return None


def unmatched_error(parts: Sequence[Unmatched], where: str = "") -> UsageError:
    """The error of runs none of which has what a filter asks for.

    >>> print(unmatched_error([Unmatched("--rank", "no rank 5", Counter({"0": 1, "1": 1}))]))
    no rank 5; this run has 0, 1; --rank 0
    """
    first = parts[0]
    there: Counter[str] = Counter()
    for part in parts:
        if part.option == first.option:
            there += part.there
    is_counted = first.option in ("--kernel", "--domain")
    ordered = there.most_common() if is_counted else sorted(there.items(), key=lambda item: (len(item[0]), item[0]))
    names = [f"{name[:_NAME_WIDTH]} {count:,}" if is_counted else name for name, count in ordered]
    what = f"{first.what}; this run has {some_of(names, _SHOWN)}"
    if first.option == "--kernel":
        return UsageError(
            what, where=where, advice="`wavewright top` lists the kernels; /regular expressions/ match too"
        )
    word = first.what.rsplit(" ", 1)[-1].upper()
    near = difflib.get_close_matches(word, there, n=1) or [name for name, _ in ordered[:1]]
    return UsageError(what, where=where, advice=f"{first.option} {near[0]}" if near else "")


def _is_in(values: Sequence[int]) -> Callable[[str], bool]:
    texts = set(map(str, values))
    return lambda value: value in texts


def _values(table: str, column: str) -> Callable[[Run], Counter[str]]:
    def count(run: Run) -> Counter[str]:
        return Counter(str(value) for value in run.read(table, [column])[column].drop_nulls())

    return count


def _gpus(run: Run) -> Counter[str]:
    """GPUs with work."""
    agents = run.read("agents", ["agent", "kind", "type_index", "absolute_index"]).filter(pl.col("kind") == "GPU")
    numbers = dict(agents.select("agent", pl.coalesce("type_index", "absolute_index")).drop_nulls().iter_rows())
    used: set[int] = set()
    for table, columns in (("dispatches", ["agent"]), ("copies", ["src_agent", "dst_agent"])):
        for piece in run.chunks(table, columns):
            used.update(value for name in columns for value in piece[name].unique().drop_nulls())
    return Counter(str(numbers[agent]) for agent in used if agent in numbers)


def _kernels(run: Run) -> Counter[str]:
    return _tally(run, "dispatches", "name")


def _domains(run: Run) -> Counter[str]:
    """Regions and samples by domain; categories, which can be asked for too, count 0 unless they are domains."""
    counts = _tally(run, "regions", "domain") + _tally(run, "samples", "domain")
    for table in ("regions", "samples"):
        for category in _tally(run, table, "category"):
            counts.setdefault(category, 0)
    return counts


def _tally(run: Run, table: str, column: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for piece in _pieces(run, table, column):
        for name, count in piece.group_by(column).len().iter_rows():
            counts[str(name)] += count
    return counts


def _pieces(run: Run, table: str, column: str) -> Iterator[pl.DataFrame]:
    for piece in run.chunks(table, [column]):
        yield piece.select(pl.col(column).cast(pl.String)).drop_nulls()

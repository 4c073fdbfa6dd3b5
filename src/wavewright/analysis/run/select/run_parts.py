"""Parts of a run, each a run of its own: by process, rank, GPU, or occurrence of a marker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.choice_rules import name_pattern
from wavewright.analysis.run.select.chosen import ChosenSource
from wavewright.analysis.run.select.gpus import used_gpu_numbers
from wavewright.errors import UsageError
from wavewright.model.run import Run, RunSource

By = Literal["process", "rank", "gpu", "marker"]
PARTS_MAX = 1_000  #: Every part reads the run again; more parts are probably a mistake.


@dataclass(frozen=True)
class Part:
    """A part of a run with a name that is unique among the parts, and that a file can have."""

    name: str
    run: Run


def parts_of(run: Run, by: By, marker: str | None = None) -> list[Part]:
    """The parts of a run; rows of other parts are left out while a part is read.

    By `gpu`, calls on CPUs are in every part, because they belong to no GPU. By `marker`, part n holds what each
    process did during the n-th range of a marker whose text contains `marker`, or matches it as /regular expression/.
    Raises `UsageError` when there is nothing to split by, or when there would be more than 1,000 parts.
    """
    splitters = {"process": _by_process, "rank": _by_rank, "gpu": _by_gpu}
    parts = list(_by_marker(run, marker) if by == "marker" else splitters[by](run))
    if not parts:
        raise UsageError(f"no {by} to split by", advice="`wavewright summary` lists the groups")
    if len(parts) > PARTS_MAX:
        problem = f"{len(parts):,} parts are more than {PARTS_MAX:,}"
        raise UsageError(problem, advice="split by something else, or take a part first with `wavewright window`")
    return parts


def _by_process(run: Run) -> Iterator[Part]:
    counts = Counter[str]()
    for source in run.origins:
        for process, pid in (row for piece in source.chunks("processes", ["process", "pid"]) for row in piece.rows()):
            name = f"pid{pid if pid is not None else ''}"
            counts[name] += 1
            suffix = f"_{counts[name]}" if counts[name] > 1 else ""
            yield Part(name + suffix, Run([ChosenSource(source, RunSelection(processes=(process,)))]))


def _by_rank(run: Run) -> Iterator[Part]:
    ranks = run.read("processes", ["rank"])["rank"]
    if len(ranks) and ranks.null_count() == len(ranks):
        raise UsageError("the ranks of these processes are not recorded", advice="--by process")
    for rank in ranks.drop_nulls().unique().sort():
        chosen = RunSelection(ranks=(rank,))
        with_rank = (
            source
            for source in run.origins
            if any((piece["rank"] == rank).any() for piece in source.chunks("processes", ["rank"]))
        )
        yield Part(f"rank{rank}", Run([ChosenSource(source, chosen) for source in with_rank]))


def _by_gpu(run: Run) -> Iterator[Part]:
    for gpu in used_gpu_numbers(run).unique().sort():
        chosen = RunSelection(gpus=(gpu,))
        yield Part(f"gpu{gpu}", Run([ChosenSource(source, chosen) for source in run.origins]))


def _by_marker(run: Run, marker: str | None) -> Iterator[Part]:
    if marker is None:
        raise UsageError("no marker to split by", advice='pass its name: --marker "step"')
    occurrences: list[list[ChosenSource]] = []
    for source in run.origins:
        for process, windows in _ranges(source, marker).items():
            for number, (start, end) in enumerate(sorted(windows)[: PARTS_MAX + 1]):
                if number == len(occurrences):
                    occurrences.append([])
                chosen = RunSelection(processes=(process,), begin=str(start), end=str(end), is_whole=True)
                occurrences[number].append(ChosenSource(source, chosen))
    width = len(str(len(occurrences) - 1))
    for number, sources in enumerate(occurrences):
        yield Part(f"part{number:0{width}}", Run(sources))


def _ranges(source: RunSource, marker: str) -> dict[int, list[tuple[int, int]]]:
    """Process -> (start, end) of each marker range whose name matches, in ns of its node's clock."""
    pattern = name_pattern(marker)
    ranges: dict[int, list[tuple[int, int]]] = {}
    for piece in source.chunks("regions", ["process", "domain", "name", "start_ns", "end_ns"]):
        marked = piece.filter(pl.col("domain").cast(pl.String) == "MARKER").drop_nulls()
        for process, _, name, start, end in marked.iter_rows():
            if pattern.search(name):
                ranges.setdefault(process, []).append((start, end))
    return ranges

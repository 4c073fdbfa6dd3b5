"""The critical path, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from wavewright.analysis.run.calls.call_sites import SEPARATOR
from wavewright.analysis.run.graph.path import LEAST_EXPLAINED, CriticalPath
from wavewright.analysis.run.graph.scenarios import Scenario
from wavewright.base.shown import printable
from wavewright.base.words import duration, percent
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.brief_names import brief_kernel
from wavewright.words.kit.declared_tables import declared_table, table_below
from wavewright.words.kit.frame_tables import Column, bar_cell
from wavewright.words.run.place_names import process_cell, process_name

_WORDS = {
    "host": "code and calls of the CPU",
    "launch": "launching calls, and from them to the start",
    "kernels": "kernels",
    "communication": "collectives, after the last rank came",
    "copies": "copies",
    "idle": "the GPU waited; the record does not say for what",
    "unknown": "the record does not tell",
}
_GROUPS = 3  #: Groups that text shows; JSON has all.


def path_report(
    answer: CriticalPath, scenarios: Sequence[Scenario] = (), *, width: int = 100, limit: int = 20
) -> Iterator[AnyBlock]:
    """The report of `wavewright path`."""
    if not answer.segments.height:
        yield headline("no calls and no GPU work were recorded")
        return
    groups = answer.groups.to_dicts()
    for group in groups[:_GROUPS]:
        yield from _group(answer, group, width=width, limit=limit, is_only=len(groups) == 1)
    if len(groups) > _GROUPS:
        yield sentence((f"showing {_GROUPS} of {len(groups):,} groups of processes; --json has all", "bold"))
    if scenarios:
        yield _scenario_table(scenarios, groups)
    for caveat in answer.caveats:
        yield Sentence(caveat, "note")
    if answer.clock_residual_ns is not None:
        yield Sentence(
            f"clocks of nodes were aligned by the ends of collectives, to about {duration(answer.clock_residual_ns)}"
        )


def _group(answer: CriticalPath, group: dict[str, Any], *, width: int, limit: int, is_only: bool) -> Iterator[AnyBlock]:
    classes = answer.of_group(group["group"], "classes")
    yield headline(path_verdict(group, classes, is_only=is_only))
    cells = max(10, min(40, width - 50))
    yield GAP
    yield declared_table(
        "run/path/classes",
        classes,
        bar=lambda row: bar_cell(row["path_share"], cells),
        meaning=lambda row: _WORDS[row["class"]],
    )
    yield Sentence(path_evidence(answer, group))
    yield GAP
    contributors = answer.of_group(group["group"], "contributors").filter(pl.col("path_ns") > 0)
    at = partial(_at, "longest_at_ns", group)
    yield declared_table("run/path/contributors", contributors, limit=limit, name=_name, at=at)
    yield GAP
    yield _segment_table(answer.of_group(group["group"], "segments"), group, limit=max(5, limit // 4))
    steps = answer.of_group(group["group"], "steps")
    if steps.height:
        wide = steps.pivot("class", index=["step", "start_ns", "span_ns"], values="path_share", maintain_order=True)
        shares = [Column(name, partial(_share, name)) for name in _WORDS if name in wide.columns]
        yield from table_below("run/path/steps", wide.sort("step"), limit=limit, shares=shares)
    yield GAP


def path_verdict(group: dict[str, Any], classes: pl.DataFrame, *, is_only: bool) -> str:
    """One sentence about what set the time.

    >>> rows = pl.DataFrame({"class": ["host", "kernels"], "path_ns": [8_000_000, 2_000_000], "path_share": [0.8, 0.2]})
    >>> group = {"span_ns": 10_000_000, "process_count": 1, "rank": None, "pid": 7, "explained_share": 0.9}
    >>> path_verdict(group, rows, is_only=True)
    'of 10.0 ms: host 80.0 %, kernels 20.0 %'
    >>> path_verdict(group | {"explained_share": 0.2}, rows, is_only=True)
    'the record does not tell what set the 10.0 ms: 20.0 % of it is explained; of the path, host 80.0 %, kernels 20.0 %'
    """
    parts = ", ".join(f"{row['class']} {percent(row['path_share'])}" for row in classes.to_dicts() if row["path_share"])
    who = "" if is_only and group["process_count"] == 1 else _who(group)
    if group["explained_share"] is None or group["explained_share"] >= LEAST_EXPLAINED:
        return f"{who}of {duration(group['span_ns'])}: {parts}"
    share = f"{percent(group['explained_share'])} of it is explained; of the path, {parts}"
    return f"{who}the record does not tell what set the {duration(group['span_ns'])}: {share}"


def path_evidence(answer: CriticalPath, group: dict[str, Any]) -> str:
    """The share of the time of a group that is explained, what the GPU did meanwhile, and how far clocks agree."""
    span = group["span_ns"] or 1
    parts = [f"explained with evidence: {percent(group['explained_share'])} of the time"]
    if group["group"] in answer.unexplained_groups:
        parts[0] += f", at least {percent(LEAST_EXPLAINED)} is needed: {answer.advice}"
    is_host = pl.col("class").is_in(["host", "launch"])
    beside = int(answer.of_group(group["group"], "classes").filter(is_host)["gpu_busy_ns"].sum())
    share = percent(group["gpu_busy_ns"] / span)
    parts.append(
        f"a GPU of the process on the path had work {share} of the time, {percent(beside / span)} while host or launch "
        "were on the path"
    )
    if group["tolerance_ns"]:
        parts.append(f"clocks of CPU and GPU contradict each other by up to {duration(group['tolerance_ns'])}")
    return "; ".join(parts)


def _who(group: dict[str, Any]) -> str:
    """The processes of a group, before the verdict about it."""
    last = process_cell(group)
    return f"{last}: " if group["process_count"] == 1 else f"{group['process_count']:,} processes, {last} ends last: "


def _name(row: dict[str, Any]) -> str:
    """The name of a segment of the path: of work, of a call, of code between calls, or of what was waited for."""
    match row["what"]:
        case "work":
            return brief_kernel(row["name"], 200)
        case "call":
            return printable(row["name"])
        case "code before":
            return f"code before {printable(row['name'])}"
        case what:
            return f"{what}: {brief_kernel(row['name'], 200)}" if row["name"] else str(what)


def _segment_table(segments: pl.DataFrame, group: dict[str, Any], *, limit: int) -> Table:
    ns = segments["end_ns"] - segments["start_ns"]
    longest = segments.with_columns(ns=ns).filter(ns >= ns.top_k(limit).min())  # of a million only these are sorted
    longest = longest.sort("ns", "start_ns", descending=[True, False])
    several = segments["process"].drop_nulls().n_unique() > 1
    table = declared_table(
        "run/path/segments",
        longest,
        limit=limit,
        several=several,
        at=partial(_at, "start_ns", group),
        process=lambda row: process_name(row["rank"], None),
        kind=lambda row: row["class"] + (" ?" if row["is_inferred"] else ""),
        name=_name,
        inside=lambda row: printable(SEPARATOR.join(row["stack"].split(SEPARATOR)[-3:])),  # the innermost last
    )
    return replace(table, row_count=segments.height)


def _at(column: str, group: dict[str, Any], row: dict[str, Any]) -> str:
    """A time after the start of the group, as `--time` takes it."""
    return f"+{duration(row[column] - group['start_ns'])}"


def _share(name: str, row: dict[str, Any]) -> str:
    return percent(row[name] or 0.0)


def _scenario_table(scenarios: Sequence[Scenario], groups: list[dict[str, Any]]) -> Table:
    several = len(groups) > 1
    by_group = {group["group"]: group for group in groups}
    rows = [
        {
            "text": scenario.text,
            "who": process_cell(by_group[prediction.group]) if several else "",
            "span_ns": prediction.span_ns,
            "low": prediction.span_ns_min,
            "high": prediction.span_ns_max,
            "bound": scenario.gain_ns_max,
        }
        for scenario in scenarios
        for prediction in scenario.predictions[:_GROUPS]
    ]
    title = "recomputed on the event graph"
    is_bounded = any(scenario.gain_ns_max is not None for scenario in scenarios)
    if is_bounded:
        title += "; at most the time of all findings of diagnose that a change can shorten"
    if len(scenarios[0].predictions) < len(groups):
        title += ", without groups of whose time too little is explained"
    return declared_table(
        "run/path/scenarios",
        pl.DataFrame(rows),
        title=title,
        then=lambda row: _range(duration(row["low"]), duration(row["high"])),
        gain=_gain,
        is_bounded=is_bounded,
    )


def _gain(row: dict[str, Any]) -> str:
    if not row["span_ns"]:
        return "-"
    low, high = ((row["span_ns"] - row[name]) / row["span_ns"] for name in ("high", "low"))
    return _range(percent(low), percent(high))


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"

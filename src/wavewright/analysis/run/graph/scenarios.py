"""Scenarios: changes of a run that a user can name, as changes of its event graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import polars as pl

from wavewright.analysis.run.collectives.collectives import bus_factor
from wavewright.analysis.run.graph.change import NOT_AWAITED, NOT_ORDERED, ON_TIME, Change, scaled_to
from wavewright.analysis.run.graph.event_graph import EventGraph, Prediction, fastest
from wavewright.analysis.run.graph.graph_events import CALL_KINDS
from wavewright.analysis.run.graph.path import LEAST_EXPLAINED, CriticalPath, path_of
from wavewright.base.words import percent
from wavewright.errors import UsageError
from wavewright.facts.loader import packaged

_PERCENT = re.compile(r"^(?P<sign>[+-])(?P<value>\d+(\.\d+)?)%$")
_MOST_ADDED_PERCENT = 10_000  #: A change that makes something longer by more than this is a mistake.
SCENARIOS: dict[str, str] = packaged("scenarios.toml", __package__)  #: Form of a scenario -> what it means.


@dataclass(frozen=True)
class Scenario:
    """One or more changes by name, and the length of the run after them."""

    text: str
    predictions: tuple[Prediction, ...]
    gain_ns_max: int | None = None  #: The bound of the diagnosis for the same change; None = it has none.


def what_if(
    graph: EventGraph,
    texts: tuple[str, ...],
    path: CriticalPath | None = None,
    bounds: Mapping[str, int] = MappingProxyType({}),
) -> list[Scenario]:
    """The length of each group after every change alone and, where there are several, after all of them.

    Groups of whose time the record explains too little are left out: nothing says what their events wait for. `path` is
    that of the graph, where it is known already; `bounds` are those of the diagnosis: no gain is larger. Raises
    `UsageError` when a text is no scenario, or names nothing in the run; when no group is explained well enough.
    """
    if not texts:
        return []
    path = path or path_of(graph)
    changes = [change_of(graph, text) for text in texts]
    groups = set(path.groups["group"]) - set(path.unexplained_groups)
    if path.groups.height and not groups:
        share = max(path.groups["explained_share"])
        problem = f"the record explains {percent(share)} of the time; a prediction needs {percent(LEAST_EXPLAINED)}"
        raise UsageError(problem, advice=path.advice)

    def scenario(text: str, change: Change) -> Scenario:
        predictions = [prediction for prediction in graph.what_if(change) if prediction.group in groups]
        bound = bounds.get(text)
        if bound is not None:
            predictions = [prediction.with_gain_at_most(bound) for prediction in predictions]
        return Scenario(text, tuple(predictions), bound)

    scenarios = [scenario(text, change) for text, change in zip(texts, changes, strict=True)]
    if len(changes) == 1:
        return scenarios
    all_changes = sum(changes, Change())
    together = scenario("all of these", all_changes)
    if all_changes.only_shortens:  # several improvements are not slower than one of them alone
        by_group = zip(*(row.predictions for row in (together, *scenarios)), strict=True)
        together = replace(together, predictions=tuple(map(fastest, by_group)))
    return [*scenarios, together]


def change_of(graph: EventGraph, text: str) -> Change:
    """The change that a text of `SCENARIOS` means. Raises `UsageError` when it is none, or names nothing in the run."""
    name, _, value = text.partition("=")
    make = _MAKERS.get(name.strip())
    if make is None:
        raise UsageError(f"unknown scenario {text!r}", advice=f"one of: {', '.join(SCENARIOS)}")
    return make(graph, value.strip())


def _scale(text: str, example: str) -> float:
    """The factor that a change in percent means: 0.8 for `-20%`."""
    match = _PERCENT.match(text)
    percentage = float(match["sign"] + match["value"]) if match else None
    if percentage is None or not -100 <= percentage <= _MOST_ADDED_PERCENT:
        raise UsageError(f"not a change in percent: {text!r}", advice=f"for example {example}")
    return 1 + percentage / 100


def _kernel(graph: EventGraph, value: str) -> Change:
    name, colon, change = value.rpartition(":")
    if not colon or not name:
        raise UsageError(f"kernel={value} names no kernel and change", advice="for example kernel=gemm:-20%")
    scale = _scale(change, "kernel=gemm:-20%")
    kernels = graph.events.filter(pl.col("kind") == "kernel")
    chosen = kernels.filter(pl.col("name").cast(pl.String).str.contains(name, literal=True))
    if not chosen.height:
        raise UsageError(f"no kernel whose name contains {name!r}", advice="wavewright top lists the kernels")
    return Change.of(chosen["event"], duration_scale=scale)


def _launch_gaps(graph: EventGraph, value: str) -> Change:
    _check_no_value(value, "launch-gaps")
    calls = _calls(graph).sort("track", "start_ns", "event")
    is_launch = pl.col("kind") == "launch call"
    launches = calls.filter(is_launch)["event"]
    after_launches = calls.filter(is_launch & (pl.col("kind").shift(1).over("track") == "launch call"))["event"]
    work = graph.events.filter(pl.col("launch").is_not_null())["event"]
    no_calls, no_code = Change.of(launches, duration_scale=0.0), Change.of(after_launches, code_scale=0.0)
    return no_calls + no_code + Change.of(work, lag_scale=0.0)


def _rank(graph: EventGraph, value: str) -> Change:
    ranks = graph.processes["rank"].drop_nulls().unique().sort().to_list()
    if value not in map(str, ranks):
        listed = ", ".join(map(str, ranks[:20])) or "none are recorded"
        raise UsageError(f"no rank {value!r} in this run", advice=f"ranks: {listed}")
    calls = graph.events.filter(pl.col("meeting").is_not_null() & (pl.col("rank") == int(value)))
    if not calls.height:
        raise UsageError(f"rank {value} takes part in no collective that matches one of another rank")
    return Change.of(calls["event"], flags=ON_TIME)


def _bandwidth(graph: EventGraph, value: str) -> Change:
    try:
        rate = float(value)
    except ValueError:
        rate = 0.0
    if not 0 < rate < 1e6:
        raise UsageError(f"not a bandwidth in GB/s: {value!r}", advice="for example bandwidth=300")
    count = pl.len().over("meeting")
    size = pl.max_horizontal("in_bytes", "out_bytes")  # all-gather: output, reduce-scatter: input; others are equal
    service = pl.col("end_ns") - pl.col("start_ns").max().over("meeting")
    rows = graph.collectives.filter(pl.col("meeting").is_not_null() & pl.col("event").is_not_null())
    rows = rows.drop("start_ns", "end_ns")
    rows = rows.join(graph.events.select("event", "start_ns", "end_ns"), on="event")
    sized = rows.with_columns(target_ns=size * bus_factor(count) / rate, service_ns=service)
    sized = sized.filter(pl.col("target_ns") > 0, pl.col("service_ns") > 0)
    if not sized.height:
        raise UsageError("the size of no matched collective is recorded", advice="PyTorch traces record them")
    scales = (sized["target_ns"] / sized["service_ns"]).clip(0.0, 1000.0).round(6)
    return scaled_to(sized["event"], scales)


def _communication(graph: EventGraph, value: str) -> Change:
    if value not in ("", "hidden"):
        raise UsageError(f"communication takes no value but hidden, not {value!r}")
    collectives = graph.events.filter(pl.col("kind") == "communication")["event"]
    if not collectives.len():
        raise UsageError("no collectives are recorded", advice="wavewright top lists the kernels")
    if value:
        return Change.of(collectives, flags=NOT_AWAITED | NOT_ORDERED)
    return Change.of(collectives, duration_scale=0.0)


def _copies(graph: EventGraph, value: str) -> Change:
    _check_no_value(value, "copies")
    copies = graph.events.filter(pl.col("kind") == "copy")["event"]
    return Change.of(copies, duration_scale=0.0)


def _host(graph: EventGraph, value: str) -> Change:
    scale = _scale(value, "host=-50%")
    return Change.of(_calls(graph)["event"], code_scale=scale)


def _calls(graph: EventGraph) -> pl.DataFrame:
    calls = graph.events.filter(pl.col("kind").is_in(CALL_KINDS))
    if not calls.height:
        raise UsageError("no calls are recorded", advice="record with rocprofv3 --runtime-trace")
    return calls


def _check_no_value(value: str, name: str) -> None:
    if value:
        raise UsageError(f"{name} takes no value, not {value!r}")


_MAKERS: dict[str, Callable[[EventGraph, str], Change]] = {
    "kernel": _kernel,
    "launch-gaps": _launch_gaps,
    "rank": _rank,
    "bandwidth": _bandwidth,
    "communication": _communication,
    "copies": _copies,
    "host": _host,
}

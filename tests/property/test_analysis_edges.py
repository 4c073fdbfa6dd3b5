"""Every number that a public analysis takes, at its bounds and beyond: an answer or a sentence of ours.

Analyses are found by what they are about and by the types of their parameters; a new one is swept without being named.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.property.subjects import around, opened
from wavewright import analysis
from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches
from wavewright.analysis.run.select.choice import RunSelection
from wavewright.analysis.run.select.chosen import select as select_of_run
from wavewright.analysis.trace.selection import Selection, select
from wavewright.base.bounds import Bounds
from wavewright.errors import UsageError, WavewrightError

SUBJECTS = {"trace": "trace", "run": "run", "source": "run", "counters": "counters", "captures": "counters"}
_CURVES = "trace.timeline.curves"
NAMES = {f"{_CURVES}.curve_series": {"name": "occupancy"}, f"{_CURVES}.curve_steps": {"name": "occupancy"}}
HELPERS = ("trace.clocks.aligned", "trace.sampled_counters.samples")  # called with numbers of our own only


def _swept() -> Iterator[tuple[str, Callable[..., Any], str, list[str]]]:
    """Name, function, subject, and parameters that are numbers."""
    for module in pkgutil.walk_packages(analysis.__path__, "wavewright.analysis."):
        parts = module.name.split(".")[2:]
        if ".".join(parts) in HELPERS:
            continue
        loaded = importlib.import_module(module.name)
        for name, function in list(vars(loaded).items()):
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.name:
                continue
            first, *others = inspect.signature(function).parameters.values() or [None]
            numbers = [p.name for p in others if str(p.annotation).removesuffix(" | None") in ("int", "float")]
            full = ".".join([*parts, name])
            needed = {p.name for p in others if p.default is p.empty} - set(numbers) - set(NAMES.get(full, ()))
            if first is not None and first.name in SUBJECTS and numbers and not needed:
                yield full, function, SUBJECTS[first.name], numbers


SWEPT = {full: rest for full, *rest in _swept()}


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return opened(str(tmp_path_factory.mktemp("edges")))


@pytest.mark.first_case
@pytest.mark.parametrize("full", SWEPT)
def test_numbers_have_bounds_and_what_lies_outside_is_refused(things: dict[str, Any], full: str) -> None:
    function, subject, numbers = SWEPT[full]
    declared: dict[str, Bounds] = getattr(function, "bounds", {})
    required = {p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty}
    for name in numbers:
        assert name in declared, f"{full}: declare the bounds of {name} with @bounded"
        fixed = NAMES.get(full, {}) | {other: 0 for other in numbers if other != name and other in required}
        beyond = [value for value in around(declared[name]) if not declared[name].holds(value)]
        for value in (*declared[name], *beyond, float("nan"), float("inf")):
            try:
                function(things[subject], **fixed, **{name: value})
            except WavewrightError:
                continue
            assert declared[name].holds(value), (name, value)


@pytest.mark.parametrize("value", [-(1 << 64), -1, 1 << 40, 1 << 64])
def test_numbers_of_things_that_are_not_there_choose_nothing(things: dict[str, Any], value: int) -> None:
    for field in ("shader_engines", "simds", "waves"):
        with pytest.raises(UsageError, match="no wave matches"):
            select(things["trace"], Selection(**{field: (value,)}))
    for field in ("pids", "ranks", "gpus", "streams"):
        try:
            select_of_run(things["run"], RunSelection(**{field: (value,)})).count("dispatches")
        except UsageError as error:
            assert str(error)
    for field in ("dispatches", "gpus"):
        with pytest.raises(UsageError):
            chosen_dispatches(things["counters"], CounterChoice(**{field: (value,)}))


def test_a_time_that_ends_before_it_begins_is_refused(things: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="ends before it starts"):
        select(things["trace"], Selection(start_cycles=60, end_cycles=50))

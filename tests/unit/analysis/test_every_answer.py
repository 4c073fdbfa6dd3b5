"""Every analysis on traces that have almost nothing: an answer or a kind error, never an exception.

Analyses are found by their first parameter, `trace`; a new module is tested without being named here.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import polars as pl
import pytest

import wavewright
from synth import Scenario, synthesize, write_capture
from tests.kit.sampling import thirds
from tests.kit.small_traces import frame, small_trace
from tests.kit.together import together, try_all
from wavewright import analysis
from wavewright.analysis.trace.selection import Selection, select
from wavewright.errors import WavewrightError
from wavewright.model.answer import Answer, to_builtins
from wavewright.model.trace import ThreadTrace, TraceSource

TEXTS = [
    "s_load_dwordx2 s[0:1], s[2:3], 0x0",
    "s_waitcnt lgkmcnt(0)",
    "global_load_dword v1, v0, s[0:1]",
    "s_waitcnt vmcnt(0)",
    "s_barrier",
    "s_cbranch_scc1 65530",
    "s_endpgm",
]
STEPS = [
    (0, "SMEM", 4, 0, 4),
    (1, "IMMED", 8, 90, 94),
    (2, "VMEM", 104, 4, 8),
    (3, "IMMED", 112, 400, 404),
    (4, "IMMED", 516, 12, 16),
    (5, "JUMP", 532, 0, 8),
    (6, "MSG", 540, 0, 4),
]


def _analyses() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.walk_packages(analysis.__path__, "wavewright.analysis."):
        loaded = importlib.import_module(module.name)
        for name, function in list(vars(loaded).items()):
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.name:
                continue
            first, *others = inspect.signature(function).parameters.values() or [None]
            if first is not None and first.name == "trace" and all(p.default is not p.empty for p in others):
                found[f"{module.name.removeprefix('wavewright.analysis.')}.{name}"] = function
    return found


ANALYSES = _analyses()
TRACES: dict[str, Callable[[], ThreadTrace]] = {}


def trace_of(make: Callable[[], ThreadTrace]) -> Callable[[], ThreadTrace]:
    TRACES[make.__name__] = make
    return make


@trace_of
def empty() -> ThreadTrace:
    return ThreadTrace({}, TraceSource(path="nothing"))


@trace_of
def one_instruction() -> ThreadTrace:
    return small_trace(TEXTS, STEPS[:1])


@trace_of
def one_wave() -> ThreadTrace:
    return small_trace(TEXTS, STEPS, target="gfx1100")


@trace_of
def without_texts() -> ThreadTrace:
    trace = small_trace(TEXTS, STEPS)
    trace.tables["code"] = trace.code.with_columns(
        pl.lit(None, pl.String).alias(name) for name in ("text", "mnemonic", "file", "function", "inline_chain")
    )
    return trace


@trace_of
def without_code() -> ThreadTrace:
    trace = no_row_known()
    trace.tables["code"] = trace.code.clear()
    return trace


@trace_of
def no_row_known() -> ThreadTrace:
    return small_trace(TEXTS, [(-1, *step[1:]) for step in STEPS])


@trace_of
def waves_without_instructions() -> ThreadTrace:
    trace = small_trace(TEXTS, STEPS)
    trace.tables["instructions"] = trace.instructions.clear()
    return trace


@trace_of
def occupancy_alone() -> ThreadTrace:
    events = frame(
        "occupancy",
        {
            "time_cycles": [0, 100],
            "se": [0, 0],
            "cu": [0, 0],
            "simd": [0, 0],
            "slot": [0, 0],
            "kernel": [0, 0],
            "is_start": [True, False],
        },
    )
    return ThreadTrace({"occupancy": events}, TraceSource(path="occupancy alone"))


@trace_of
def samples_alone() -> ThreadTrace:
    trace = small_trace(TEXTS, STEPS)
    samples = frame("samples", {"row": range(len(TEXTS)), "issued_count": [1] * 7, "stalled_count": [0] * 7})
    return ThreadTrace({"code": trace.code, "samples": samples}, TraceSource(path="samples", format="PC sampling"))


@trace_of
def times_that_cannot_be() -> ThreadTrace:
    far = (1 << 63) - 2000
    steps = [(row, category, far + time, 1 << 30, -5) for row, category, time, *_ in STEPS]
    trace = small_trace(TEXTS, [*steps, *((row, "VALU", -far, -9, 1 << 30, 1) for row in range(7))])
    trace.tables["waves"] = trace.waves.with_columns(
        start_cycles=pl.Series([far, -far]), end_cycles=pl.Series([far - 9, far])
    )
    return trace


@trace_of
def shortest_selection() -> ThreadTrace:
    return select(small_trace(TEXTS, STEPS), Selection(start_cycles=541, end_cycles=542))


@cache
def synthesized(family: str) -> ThreadTrace:
    with TemporaryDirectory() as folder:
        scenario = Scenario(family=family, workgroups=1, waves_per_workgroup=1, counters=family == "gfx9")
        write_capture(synthesize(scenario), Path(folder))
        trace = wavewright.open(folder)
        trace.table("waits")
        return trace


for _family in ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250"):
    TRACES[_family] = lambda family=_family: synthesized(family)  # type: ignore[misc]


def columns_of(frame: pl.DataFrame) -> dict[str, str]:
    return {name: str(dtype) for name, dtype in frame.schema.items()}


def check(answer: Any) -> None:
    """What every answer promises: plain JSON without strange numbers, and the columns that it declares."""
    if not isinstance(answer, Answer):
        return
    text = msgspec.json.encode(to_builtins(answer))
    json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} in the JSON"))
    assert answer.definition
    for name, spec in answer.tables.items():
        table = getattr(answer, name)
        if isinstance(table, pl.DataFrame):
            assert columns_of(table) == {column.name: column.dtype for column in spec.columns}, name


@pytest.mark.some_cases(2)
@pytest.mark.parametrize(("kind", "third"), thirds(TRACES))
def test_an_answer_or_a_kind_error(kind: str, third: int) -> None:
    def answered(name: str) -> None:
        try:
            answer = ANALYSES[name](TRACES[kind]())
        except WavewrightError as error:
            assert error.what
            return
        check(answer)

    try_all(answered, [(name,) for name in list(ANALYSES)[third::3]])


@together("name", [name for name, f in ANALYSES.items() if "rows" in inspect.signature(f).parameters])
@together("rows", [[], [6], [0, 1, 2, 3, 4, 5, 6]])
def test_rows(name: str, rows: list[int]) -> None:
    try:
        check(ANALYSES[name](small_trace(TEXTS, STEPS), rows=pl.Series("row", rows, pl.Int32)))
    except WavewrightError as error:
        assert error.what


def test_many_are_found() -> None:
    assert len(ANALYSES) > 40

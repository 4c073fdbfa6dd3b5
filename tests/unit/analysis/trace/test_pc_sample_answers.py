"""Stalls and diagnosis by PC samples: causes, intervals, and silence where samples are too few."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from tests.kit.together import together
from tests.kit.ui_directories import frame
from wavewright.analysis.common.noise import share_bounds
from wavewright.analysis.trace.samples.causes import causes_of_samples
from wavewright.analysis.trace.samples.diagnosis import LEAST_OBSERVATIONS, sample_diagnosis, sample_stalls
from wavewright.analysis.trace.selection import Selection, select
from wavewright.codeobj.classes import classify_frame
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace, TraceSource

TEXTS = [
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_barrier",
    "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
    "global_load_dword v1, v[2:3], off",
    "v_add_f32_e32 v0, v1, v2",
    "s_endpgm",
]


def trace_of(
    stalled: dict[tuple[int, str], int] | None = None,
    issued: dict[int, int] | None = None,
    unknown: dict[int, int] | None = None,
    functions: list[str | None] | None = None,
    dispatches: dict[str, Any] | None = None,
) -> ThreadTrace:
    """A trace of gfx942 with these samples by row; those that did not issue by row and reason."""
    stalled, issued, unknown = stalled or {}, issued or {}, unknown or {}
    rows = sorted({row for row, _ in stalled} | issued.keys() | unknown.keys())
    of_row = {row: sum(count for (at, _), count in stalled.items() if at == row) for row in rows}
    code = frame("code", {"row": range(6), "text": TEXTS, "function": functions or ["k"] * 6, "address": range(6)})
    tables = {
        "code": classify_frame(code, "gfx942"),
        "samples": frame(
            "samples",
            {
                "row": rows,
                "issued_count": [issued.get(row, 0) for row in rows],
                "stalled_count": [of_row[row] for row in rows],
                "unknown_count": [unknown.get(row, 0) for row in rows],
            },
        ),
        "sample_reasons": frame(
            "sample_reasons",
            {
                "row": [row for row, _ in stalled],
                "reason": [reason for _, reason in stalled],
                "count": list(stalled.values()),
            },
        ),
    }
    if dispatches:
        tables["sampled_dispatches"] = frame("sampled_dispatches", dispatches)
    return ThreadTrace(tables, TraceSource(path="made", target="gfx942", format="PC sampling"))


@together(
    "row, reason, cause",
    [
        (0, "waitcnt", "wait vmcnt lgkmcnt"),
        (3, "waitcnt", "wait"),
        (1, "barrier", "barrier"),
        (2, "ALU dependency", "matrix dependency"),
        (4, "ALU dependency", "ALU dependency"),
        (3, "pipe stall", "VMEM issue"),
        (2, "pipe stall", "matrix issue"),
        (4, "arbiter loss", "arbiter loss"),
        (4, "of another version", "of another version"),
    ],
)
def test_causes_of_reasons(row: int, reason: str, cause: str) -> None:
    assert causes_of_samples(trace_of({(row, reason): 3}))["cause"].to_list() == [cause]


def test_causes_without_reasons_are_kinds_of_instructions() -> None:
    found = causes_of_samples(trace_of(unknown=dict.fromkeys(range(6), 2)))
    names = [
        "wait vmcnt lgkmcnt",
        "barrier",
        "matrix instructions",
        "VMEM instructions",
        "VALU instructions",
        "s_endpgm",
    ]
    assert found["cause"].to_list() == names
    assert found["count"].to_list() == [2] * 6


def test_stalls_add_up_to_what_did_not_issue() -> None:
    trace = trace_of({(0, "waitcnt"): 30, (1, "barrier"): 20, (4, "arbiter loss"): 10, (4, "waitcnt"): 0}, {4: 40})
    answer = sample_stalls(trace)
    assert answer.causes["cause"].to_list() == ["wait vmcnt lgkmcnt", "barrier", "arbiter loss"]
    assert answer.causes["sample_count"].sum() == answer.scope.stalled_count == 60
    first = answer.causes.row(0, named=True)
    assert (first["share"], first["top_row"]) == (0.3, 0)
    low, high = share_bounds(0.3, 100)
    assert (first["share_min"], first["share_max"]) == (low, high)
    assert sample_stalls(trace, rows=pl.Series([1], dtype=pl.Int32)).causes["share"].to_list() == [0.2]


def test_findings_are_the_causes_with_a_certain_share() -> None:
    answer = sample_diagnosis(trace_of({(0, "waitcnt"): 300, (1, "barrier"): 60, (4, "arbiter loss"): 400}, {4: 240}))
    assert [finding.name for finding in answer.findings] == ["wait vmcnt lgkmcnt"]  # 6 % may be less than 5
    assert answer.findings[0].share == 0.3
    assert answer.findings[0].places[0].text == TEXTS[0]
    assert answer.issuing_share == 0.64  # issued, or lost to a wave that did: no cause of lost time


def test_few_moments_are_few_observations_however_many_waves_they_saw() -> None:
    many = {"dispatch": [1], "kernel_name": ["k"], "sample_count": [900], "moment_count": [LEAST_OBSERVATIONS]}
    assert sample_diagnosis(trace_of(unknown={0: 900}, dispatches=many)).findings
    few = many | {"moment_count": [LEAST_OBSERVATIONS - 1]}
    answer = sample_diagnosis(trace_of(unknown={0: 900}, dispatches=few))
    assert not answer.is_enough
    assert answer.findings == ()


def test_the_kernel_with_the_most_samples_of_the_user_is_diagnosed() -> None:
    functions: list[str | None] = ["small", "large", "large", "__amd_rocclr_copyBuffer", None, None]
    dispatches = {
        "dispatch": [1, 2, 3],
        "kernel_name": ["small", "large", "large"],
        "sample_count": [10, 50, 50],
        "moment_count": [9, 40, 45],
        "cu_wave_count_mean": [1.0, 2.0, 4.0],
    }
    unknown = {0: 10, 1: 60, 2: 40, 3: 500, 4: 1}
    answer = sample_diagnosis(trace_of(unknown=unknown, functions=functions, dispatches=dispatches))
    scope = answer.scope
    assert (scope.kernel_name, scope.sample_count, scope.all_sample_count) == ("large", 100, 611)
    assert (scope.dispatch_count, scope.moment_count, scope.cu_wave_count_mean) == (2, 85, 3.0)
    assert [finding.name for finding in answer.findings] == ["barrier", "matrix instructions"]


def test_kernels_can_be_selected_and_waves_cannot() -> None:
    trace = trace_of(unknown={0: 1, 1: 2, 4: 4}, functions=["one", "other", None, None, "another", None])
    assert select(trace, Selection(kernel="other")).samples["row"].to_list() == [1, 4]
    with pytest.raises(UsageError, match="no sample of a kernel with 'third'"):
        select(trace, Selection(kernel="third"))
    with pytest.raises(UsageError, match="by kernel, dispatch, file and line only"):
        select(trace, Selection(waves=(1,)))


@pytest.mark.parametrize(("share", "count"), [(0.02, 60), (0.3, 40), (0.97, 200)])
def test_intervals_hold_the_true_share_in_95_of_100_draws(share: float, count: int) -> None:
    chance = random.Random(7)
    held = 0
    for _ in range(400):
        low, high = share_bounds(sum(chance.random() < share for _ in range(count)) / count, count)
        held += low <= share <= high
    assert 0.92 <= held / 400 <= 0.99

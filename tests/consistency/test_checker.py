"""The checker finds contradictions that are planted in made answers: those that reviewers had found by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.consistency.checker import (
    contradictions,
    contradictions_of_run_and_counters,
    contradictions_of_trace_and_counters,
)
from tests.consistency.reader import at
from tests.consistency.readings import READINGS
from tests.consistency.words import without_whole
from wavewright.facts.metrics.quantities import QUANTITIES

Answers = dict[str, dict[str, Any]]
_GPU = {"node": "n", "gpu": 0, "pid": 1, "rank": 0}
_WORK = {"computation_ns": 50, "exposed_communication_ns": 20, "exposed_copy_ns": 5, "idle_ns": 25}
_FINDING = {
    "rule": "X2",
    "verdict": "",
    "kind": "communication",
    "within": "",
    "time_ns": 12,
    "bound_ns": 0,
    "bound_alone_ns": 12,
}


def _frame(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"row_count": len(rows), "rows": [*rows]}


def run_answers() -> Answers:
    """Answers about one GPU with 100 ns, without a contradiction."""
    gpu = _GPU | {"span_ns": 100, "busy_ns": 75, "wall_ns": 100}
    return {
        "diagnose": {
            "findings": [
                _FINDING | {"bound_share": 0.0, "verdict": "Rank 1 is late"},
                _FINDING | {"rule": "G3", "kind": "idle", "time_ns": 15, "bound_ns": 15, "bound_share": 0.15},
                _FINDING | {"rule": "L3", "kind": "idle", "within": "G3", "time_ns": 10, "bound_share": 0.0},
            ],
            "caveats": [],
            "gpus": _frame(_GPU | _WORK | {"window_ns": 100}),
            "kernels": _frame(),
            "window_ns": 100,
            "idle_share": 0.25,
            "communication_share": 0.2,
            "copy_share": 0.05,
        },
        "busy": {"gpus": _frame(gpu | {"busy_share": 0.75})},
        "gaps": {"gpus": _frame(gpu | {"stream_id": None, "gap_ns": 25})},
        "overlap": {"gpus": _frame(gpu | _WORK | {"communication_ns": 30, "gpu_busy_ns": 75})},
        "ranks": {"processes": _frame(_GPU | {"gpu_count": 1, "compute_ns": 50, "collective_ns": 30, "waited_ns": 12})},
        "collectives": {"processes": _frame(_GPU | {"waited_ns": 12})},
        "path": {"groups": _frame({"group": 0}), "classes": _frame({"group": 0, "class": "idle", "path_ns": 20})},
        "what-if": {
            "what_if": [
                {
                    "text": "rank=1",
                    "gain_ns_max": 12,
                    "predictions": [{"span_ns": 100, "span_ns_min": 88, "span_ns_max": 90}],
                }
            ]
        },
        "kernels": {"kernels": _frame({"name": "k", "calls": 2, "total_ns": 40, "share": 0.4, "max_ns": 25})},
    }


def trace_answers() -> Answers:
    """Answers about one wave with a barrier and an LDS access, without a contradiction."""
    units = ({"first_row": row, "hit_count": 4, "stall_cycles_total": 40, "exposed_cycles_total": 30} for row in (0, 1))
    access = {"row": 1, "execution_count": 4, "cost_known_count": 4, "space": "lds"}
    costs = {"ideal_cycles_total": 32, "extra_cycles_total": 8, "explained_stall_share": 0.2}
    cause = {"pipe": "LDS", "saved_cycles_total": 8}
    return {
        "hotspots": {"units": _frame(*(unit | {"cycles_share": 0.5} for unit in units))},
        "barriers": {"rows": _frame({"row": 0, "execution_count": 4, "stall_cycles_total": 40})},
        "lanes": {"rows": _frame(access | costs)},
        "diagnose": {
            "replayed_share": 1.0,
            "early_wave_count": 0,
            "findings": [{"name": "wait LDS", "evidence": [], "lane_causes": [cause]}],
            "pipes": {"valu_share": 0.5},
            "roofs": [{"name": "HBM bandwidth", "share": 0.449}],
            "link": {"kernel_name": "k"},
        },
        "states": {"pipes": {"pipes": _frame({"pipe": "VALU", "busy_share": 0.5})}},
    }


def counter_answers() -> Answers:
    """Answers about one kernel, without a contradiction."""
    kernel = {"kernel_name": "k", "duration_share": 0.4, "dispatch_count": 3}
    slots = {"quantity": "occupancy", "value": 45.4, "metric_id": "", "amount": None, "peak": None}
    memory = {"quantity": "memory_bandwidth", "value": 44.9, "metric_id": "", "amount": 1.0, "peak": 5300.0}
    panel = {"name": "Wavefront Occupancy", "table_id": "2.1", "metric_id": "2.1.9", "series": "", "channel": None}
    return {
        "diagnose": {"kernels": [kernel | {"limiters": [{"evidence": [slots, memory]}]}]},
        "l2": {
            "kernels": _frame(
                {"kernel_name": "k", "peak_share": 0.449, "read_bytes_mean": 60.0, "write_bytes_mean": 40.0}
            )
        },
        "roofline": {
            "kernels": _frame(kernel),
            "points": _frame({"kernel_name": "k", "level": "HBM", "bytes": 100.0, "dispatch": None}),
        },
        "panels": {"kernels": _frame(kernel), "rows": _frame(panel | {"peak_share": 45.4, "average": 18.0})},
    }


MADE = {"run": run_answers, "trace": trace_answers, "counters": counter_answers}
#: What reviewers had found by hand: kind, the number that is changed, and what it then is.
PLANTED = {
    "a finding blames more conflicts than lanes counts": (
        *("trace", "diagnose", "findings.0.lane_causes.0.saved_cycles_total", 41),
        *("part above whole", "finding_conflict_cycles"),
    ),
    "a barrier is counted twice": (
        *("trace", "hotspots", "units.rows.0.hit_count", 8),
        *("two values", "row_executions"),
    ),
    "a pipe is busy twice": (
        *("trace", "diagnose", "pipes.valu_share", 0.31),
        *("two values", "pipe_busy_share"),
    ),
    "hot rows add up to more than all": (
        *("trace", "hotspots", "units.rows.0.cycles_share", 0.55),
        *("classes above 100 %", "hotspots.units.cycles_share"),
    ),
    "a finding promises more than the one that it is in": (
        *("run", "diagnose", "findings.2.bound_alone_ns", 41),
        *("part above whole", "finding within a finding"),
    ),
    "findings promise more idle time than there is": (
        *("run", "diagnose", "findings.1.bound_share", 0.9),
        *("part above whole", "findings of a kind"),
    ),
    "two verbs have two waits of a rank": (
        *("run", "collectives", "processes.rows.0.waited_ns", 14),
        *("two values", "rank_wait"),
    ),
    "a rank waits longer than it communicates": (
        *("run", "ranks", "processes.rows.0.waited_ns", 77),
        *("part above whole", "rank_wait"),
    ),
    "copies are called computation": (
        *("run", "overlap", "gpus.rows.0.computation_ns", 55),
        *("two values", "computation"),
    ),
    "busy differs": (*("run", "gaps", "gpus.rows.0.busy_ns", 80), *("two values", "gpu_busy")),
    "the path idles longer than the GPU": (
        *("run", "path", "classes.rows.0.path_ns", 99),
        *("part above whole", "path_idle"),
    ),
    "start-up is left out without a word": (
        *("run", "diagnose", "gpus.rows.0.window_ns", 3),
        *("window without a word", "gpu_window"),
    ),
    "two engines bound a late rank": (
        *("run", "what-if", "what_if.0.gain_ns_max", 3),
        *("two values", "late_rank_gain"),
    ),
    "a prediction exceeds its bound": (
        *("run", "what-if", "what_if.0.predictions.0.span_ns_min", 61),
        *("part above whole", "late_rank_prediction"),
    ),
    "two rules for the bytes of memory": (
        *("counters", "l2", "kernels.rows.0.read_bytes_mean", 160.0),
        *("two values", "memory_bytes"),
    ),
    "two shares of the memory's peak": (
        *("counters", "l2", "kernels.rows.0.peak_share", 0.1),
        *("two values", "memory_peak_share"),
    ),
    "two definitions of slots in use": (
        *("counters", "panels", "rows.rows.0.peak_share", 46.5),
        *("two values", "wave_slots_share"),
    ),
    "a share of more than all": (
        *("counters", "roofline", "kernels.rows.0.duration_share", 1.47),
        *("share above its whole", "roofline.kernels.duration_share"),
    ),
}


def planted(answers: Answers, question: str, path: str, number: float) -> Answers:
    """A copy of answers with one number changed; digits of a path are places in lists."""
    changed: Any = copy.deepcopy(answers)
    place = changed[question]
    *parts, last = path.split(".")
    for part in parts:
        place = place[int(part)] if part.isdigit() else place[part]
    assert last in place, path
    place[last] = number
    return changed  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", MADE)
def test_answers_without_contradictions_have_none(kind: str) -> None:
    assert contradictions(kind, MADE[kind]()) == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_contradictions_are_found(name: str) -> None:
    kind, question, path, number, rule, quantity = PLANTED[name]
    found = contradictions(kind, planted(MADE[kind](), question, path, number))
    assert (rule, quantity) in [(each.rule, each.quantity) for each in found], found


def test_passes_that_are_added_up_contradict_the_run() -> None:
    of_run, of_counters = run_answers(), counter_answers()
    assert contradictions_of_run_and_counters(of_run, of_counters) == []
    of_run = planted(of_run, "kernels", "kernels.rows.0.share", 0.0357)
    (first, *_) = contradictions_of_run_and_counters(of_run, of_counters)
    assert first.quantity == "kernel_share"


def test_what_is_inferred_yields_to_what_was_measured() -> None:
    of_trace, of_counters = trace_answers(), counter_answers()
    assert contradictions_of_trace_and_counters(of_trace["diagnose"], of_counters) == []
    changed = planted(of_trace, "diagnose", "roofs.0.share", 0.63)["diagnose"]
    assert len(contradictions_of_trace_and_counters(changed, of_counters)) == 1


def test_a_left_out_start_up_that_is_said_is_none() -> None:
    answers = planted(run_answers(), "diagnose", "gpus.rows.0.window_ns", 3)
    answers["diagnose"]["caveats"] = [{"rule": "D1", "text": "start-up is left out"}]
    assert not [each for each in contradictions("run", answers) if each.rule == "window without a word"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("s_waitcnt: 25.3K cycles that nothing hides (33.5 %)", 1),
        ("s_waitcnt: 25.3K cycles that nothing hides, 33.5 % of all of them", 0),
        ("GPU busy 92.0 % (computation 89.9), idle 8.0 %", 1),
        ("GPU busy 92.0 % of 453 ms (computation 89.9), idle 8.0 %", 0),
        ("nothing is said; LDS busy 50.0 %", 1),
        ("hit rate 50.0 %; 91.8 %; 829 of 903 rows", 0),
    ],
)
def test_percentages_of_nothing(text: str, parts: int) -> None:
    assert len(without_whole(text)) == parts


def test_every_quantity_is_read_and_every_reading_is_of_a_quantity() -> None:
    for kind, readings in READINGS.items():
        assert {key for key, quantity in QUANTITIES.items() if quantity.of == kind} == set(readings)
        for key in readings:
            whole = QUANTITIES[key].part_of
            assert not whole or QUANTITIES[whole].of == kind


def test_paths_lead_into_answers() -> None:
    assert at(run_answers()["diagnose"], "gpus.row_count") == 1
    assert at(run_answers(), "diagnose.nothing.there") is None

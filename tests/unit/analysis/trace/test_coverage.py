"""What a trace covers, and the caveats about it: on traces written by hand and on real directories."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.together import together
from tests.kit.ui_directories import frame
from tests.unit.analysis.small_kernels import straight, trace_of
from wavewright.analysis.trace.code.wave_paths import early_waves, wave_paths
from wavewright.analysis.trace.selection import Selection, select
from wavewright.analysis.trace.trust.caveats import caveats_of_cycles
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.mapping import mapping
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.model.trace import ThreadTrace, TraceSource

TEXTS = ["v_mov_b32_e32 v0, 0"] * 399 + ["s_endpgm"]


def full(waves: int = 16, **more: int) -> list[dict[str, object]]:
    return [straight(list(range(400)), begin=10 * at, **more) for at in range(waves)]


def names(trace: ThreadTrace) -> dict[str, str]:
    return {caveat.name: caveat.severity for caveat in trust_of(trace).caveats}


def test_everything_ran() -> None:
    trace = trace_of(TEXTS, full())
    seen = coverage(trace)
    assert (seen.executed_row_count, seen.entered_row_count, seen.row_count) == (400, 400, 400)
    assert seen.executed_share == 1.0
    assert seen.paths.height == 1
    assert seen.outliers.height == 0
    assert names(trace) == {"no_lines": "note"}
    assert (trust_of(trace).cycles, trust_of(trace).lines, trust_of(trace).has_code) == ("good", "none", True)


def test_rows_of_functions_that_were_not_entered_do_not_count() -> None:
    trace = trace_of(TEXTS, [straight([0, 1, 2])])
    function = pl.Series(["kernel"] * 10 + ["other"] * 390)
    trace.tables["code"] = trace.code.with_columns(function=function)
    seen = coverage(trace)
    assert (seen.executed_row_count, seen.entered_row_count, seen.row_count) == (3, 10, 400)
    assert seen.functions["function"].to_list() == ["kernel"]


def test_early_exits_are_their_own_path() -> None:
    early = [straight([0, 1, 399]) for _ in range(48)]
    trace = trace_of(TEXTS, early + full(8))
    seen = coverage(trace)
    assert seen.early_exit_wave_count == 48
    assert seen.paths["wave_count"].to_list() == [8, 48]  # most cycles first
    assert seen.paths["early_exit"].to_list() == [False, True]
    assert names(trace)["early_exits"] == "care"
    (caveat,) = (caveat for caveat in caveats_of_cycles(trace) if caveat.name == "early_exits")
    assert "48 of 56 waves" in caveat.sentence
    assert "--wave 48" in caveat.advice
    assert early_waves(trace).to_list() == list(range(48))


def test_waves_without_traced_instructions_did_not_leave_early() -> None:
    silent = [straight([], begin=10 * at, se=2 + at % 2) | {"end": 4000} for at in range(16)]
    trace = trace_of(TEXTS, [*silent, *full(16, se=0)])
    seen = coverage(trace)
    assert (seen.early_exit_wave_count, seen.untraced_wave_count, seen.traced_wave_count) == (0, 16, 16)
    assert seen.paths["wave_count"].to_list() == [16, 16]
    assert seen.paths["first_wave"].to_list() == [16, 0]  # those without instructions last
    (caveat,) = (caveat for caveat in caveats_of_cycles(trace) if caveat.name == "untraced_waves")
    assert caveat.sentence == "16 of 32 waves have no traced instructions (SE 2, 3)"
    assert "uneven_engines" not in names(trace)


@together(
    "other, early",
    [
        ({"rows": [0, 1, 399], "cycles": 10}, True),
        ({"rows": [0, 1, 2], "cycles": 10}, False),  # did not reach s_endpgm
        ({"rows": [0, *[1] * 200, 399], "cycles": 10}, False),  # a small loop: few rows, much work
        ({"rows": [0, 1, 399], "cycles": 1000}, False),  # few instructions, but as long as the others
        ({"rows": [*range(101), 399], "cycles": 10}, False),  # more than a quarter of the rows
    ],
)
def test_an_early_exit_is_short_in_every_respect(other: dict[str, object], early: bool) -> None:
    rows, cycles = other["rows"], other["cycles"]
    trace = trace_of(TEXTS, [*full(8), straight(rows, cycles=cycles)])  # type: ignore[arg-type]
    assert early_waves(trace).to_list() == ([8] if early else [])


def test_an_early_exit_has_an_end() -> None:
    trace = trace_of(TEXTS, [*full(8), straight([0, 1, 399])])
    trace.tables["waves"] = trace.waves.with_columns(complete=pl.Series([True] * 8 + [False]))
    assert early_waves(trace).to_list() == []


def test_a_small_part_of_the_code_may_be_all_the_work() -> None:
    """A kernel of many variants: one of them runs, in a loop."""
    trace = trace_of(["s_nop 0"] * 4948, [straight(list(range(17)) * 20) for _ in range(32)])
    assert names(trace)["few_rows"] == "note"


def test_source_lines_have_a_verdict_of_their_own() -> None:
    coarse = trace_of(TEXTS, full(), lines=[3] * 390 + [9] * 10)
    assert (trust_of(coarse).cycles, trust_of(coarse).lines) == ("good", "coarse")
    assert [caveat.name for caveat in trust_of(coarse).caveats_of_lines] == ["coarse_lines"]
    assert trust_of(coarse).caveats_of_cycles == ()
    good = trace_of(TEXTS, full(), lines=list(range(1, 401)))
    assert (trust_of(good).cycles, trust_of(good).lines, trust_of(good).caveats) == ("good", "good", ())
    few = trace_of(TEXTS, full(), lines=[*range(1, 101), *[None] * 300])
    assert trust_of(few).lines == "few"
    assert trust_of(few).caveats_of_lines[0].sentence == "only 25.0 % of the instructions have a source line"


def test_a_kernel_that_did_not_work_must_not_be_trusted() -> None:
    trace = trace_of(["s_nop 0"] * 4948, [straight(list(range(17))) for _ in range(32)])
    assert names(trace)["few_rows"] == "fatal"
    assert trust_of(trace).cycles == "do not use"
    seen = coverage(trace)
    assert (seen.early_exit_wave_count, seen.is_same_short_path) == (0, True)
    assert caveats_of_cycles(trace)[0].sentence.endswith("all 32 took the same short path")
    assert not coverage(trace_of(TEXTS, full(4))).is_same_short_path


def test_paths_are_sets_of_rows() -> None:
    trace = trace_of(TEXTS, [straight([0, 1, 2]), straight([0, 1, 2, 1, 2]), straight([0, 2])])
    assert wave_paths(trace).sort("wave")["path"].to_list() == [0, 0, 1]


def test_outliers_are_measured_per_instruction() -> None:
    slow = straight(list(range(400)), cycles=40)
    assert coverage(trace_of(TEXTS, [*full(), slow])).outliers["wave"].to_list() == [16]
    twice = straight(list(range(400)) * 2)  # more work, not slower
    trace = trace_of(TEXTS, [*full(), twice])
    assert coverage(trace).outliers.height == 0
    assert names(trace)["uneven_work"] == "note"


def test_unresolved_and_incomplete() -> None:
    trace = trace_of(TEXTS, [straight([0, -1, -1, 3]) for _ in range(600)])
    assert coverage(trace).unresolved_count == 1200
    assert names(trace)["unresolved"] == "fatal"
    assert not trust_of(trace).has_code
    trace.tables["waves"] = trace.waves.with_columns(complete=pl.Series([False] + [True] * 599))
    trace.answers.clear()
    assert names(trace)["incomplete_waves"] == "care"


def test_few_and_short() -> None:
    found = names(trace_of(TEXTS, full(2)))
    assert (found["few_waves"], found["too_short"]) == ("care", "care")


def test_that_a_part_is_small_is_no_caveat() -> None:
    part = select(trace_of(TEXTS, full()), Selection(waves=(3,)))
    assert names(part) == {"no_lines": "note"}


def test_nothing_at_all_is_fatal() -> None:
    found = names(ThreadTrace({}, TraceSource(path="nothing")))
    assert found == {"no_waves": "fatal"}


def occupancy(rows: list[tuple[int, int, int, bool]]) -> pl.DataFrame:
    columns = ("cu", "slot", "time_cycles", "start")
    values = {name: [row[at] for row in rows] for at, name in enumerate(columns)}
    return frame("occupancy", values, se=0, simd=0, kernel=0)


def test_other_cus() -> None:
    """Traced CU 1: stays of 4000 cycles; others: 1000."""
    events = [(1, slot, 10, True) for slot in range(4)] + [(1, slot, 4010, False) for slot in range(4)]
    events += [(2, slot, 100, True) for slot in range(8)] + [(2, slot, 1100, False) for slot in range(8)]
    trace = trace_of(TEXTS, full(), occupancy=occupancy(events))
    seen = coverage(trace)
    assert (seen.all_wave_count, seen.target_duration_cycles_mean) == (12, 4000.0)
    assert seen.other_duration_cycles_mean == 1000.0
    assert names(trace)["unlike_other_cus"] == "care"


def test_uneven_engines() -> None:
    trace = trace_of(TEXTS, full(8, se=0) + full(20, se=1))
    assert names(trace)["uneven_engines"] == "care"
    assert coverage(trace).engines["wave_count"].to_list() == [8, 20]


def test_losses_are_caveats() -> None:
    trace = trace_of(TEXTS, full())
    lost = {"kind": ["packet_loss"], "count": [3], "message": ["packets were dropped"], "advice": ["capture less"]}
    trace.tables["losses"] = frame("losses", lost)
    assert names(trace)["loss_packet_loss"] == "care"


def test_stored_totals_that_differ() -> None:
    trace = trace_of(TEXTS, full())
    totals = {"row": [0, 1], "hit_count": [16, 17], "latency_cycles_total": [160, 160], "stall_cycles_total": [32, 32]}
    trace.tables["stored_totals"] = frame("stored_totals", totals)
    (caveat,) = (caveat for caveat in caveats_of_cycles(trace) if caveat.name == "stored_totals_differ")
    assert caveat.numbers == {"row_count": 399}  # row 0 agrees; the others are missing or wrong


def test_mapping_spreads_cost_over_lines() -> None:
    lines = [4] * 100 + [5] * 100 + [None] * 200
    trace = trace_of(TEXTS, [straight(list(range(400)))], lines=lines)
    found = mapping(trace)
    assert (found.mapped_row_count, found.mapped_share, found.line_count) == (200, 0.5, 2)
    assert found.effective_line_count == pytest.approx(2.0)
    assert found.top_line_share == 0.5
    assert set(found.files["file"]) == {"/src/kernel.py", None}


def test_mapping_names_the_line_that_swallows() -> None:
    trace = trace_of(TEXTS, [straight(list(range(400)))] * 16, lines=[3] * 390 + [9] * 10)
    trace.tables["sources"] = frame("sources", {"file": ["/src/kernel.py"], "text": ["\n\n@flyc.kernel\n"]})
    found = mapping(trace)
    assert found.swallowing["line"].to_list() == [3]
    assert "'@flyc.kernel' is not an operation" in found.remedy
    assert names(trace) == {"coarse_lines": "care"}


def test_only_some_rows() -> None:
    trace = trace_of(TEXTS, [straight(list(range(200)))], lines=[4] * 100 + [5] * 300)
    rows = pl.Series("row", range(100, 400), dtype=pl.Int32)
    assert coverage(trace, rows=rows).executed_row_count == 100
    assert mapping(trace, rows=rows).lines["line"].to_list() == [5]

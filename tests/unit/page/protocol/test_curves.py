"""Curves in tiles: exact at level 0, conserved over levels, bounded parameters."""

from __future__ import annotations

import io
import json
from functools import cache

import polars as pl
import pytest

from tests.kit.small_traces import frame, small_trace
from tests.unit.analysis.counters.made_counters import counted
from wavewright.analysis.trace.derived_counters.sampled_counters import gpu_curve
from wavewright.analysis.trace.waves.resident import kernel_residency
from wavewright.analysis.trace.waves.states import states
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.payloads import ask
from wavewright.page.questions import questions_about

NAMES = ["SQ_BUSY_CU_CYCLES", "SQ_ACTIVE_INST_VALU"]


def document(trace: ThreadTrace) -> Document:
    return Document(0, "made", "made", lambda: trace)


def table(of: Document, question: str, **given: object) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(ask(of, question, {k: str(v) for k, v in given.items()}).content))


def answer(of: Document, question: str, **given: object) -> dict[str, object]:
    return json.loads(ask(of, question, {k: str(v) for k, v in given.items()}).content)


@cache
def busy() -> Document:
    """Waves that come and go on two shader engines for 3,000 cycles."""
    starts = [(se, slot, 10 + 70 * slot + 13 * se) for se in (0, 1) for slot in range(8)]
    ends = [(se, slot, time + 900 + 171 * slot) for se, slot, time in starts]
    events = sorted([(t, se, s, True) for se, s, t in starts] + [(t, se, s, False) for se, s, t in ends])
    columns = {
        "time_cycles": [e[0] for e in events], "se": [e[1] for e in events], "slot": [e[2] for e in events],
        "start": [e[3] for e in events], "cu": [e[2] % 2 for e in events], "simd": [0] * len(events),
        "kernel": [e[2] % 3 for e in events],
    }  # fmt: skip
    trace = small_trace(["s_nop 0", "s_endpgm"], [(0, "IMMED", 4, 0, 4), (1, "MSG", 8, 0, 4)])
    trace.tables["occupancy"] = frame("occupancy", columns)
    trace.tables["waves"] = trace.waves.with_columns(
        end_cycles=pl.lit(3_000, pl.Int64), first_state=pl.lit(0, pl.UInt64), state_count=pl.lit(3, pl.UInt32)
    )
    trace.tables["states"] = frame(
        "states", {"wave": [0] * 3, "state": [1, 2, 4], "duration_cycles": [700, 800, 1_500]}
    )
    return document(trace)


def walked(events: pl.DataFrame, cycle: int) -> int:
    until = events.filter(pl.col("time_cycles") <= cycle)
    return int(until["start"].sum()) - int((~until["start"]).sum())


def test_level_0_is_the_step_function() -> None:
    names = answer(busy(), "curve_names")
    assert (names["begin"], names["end"], names["level_count"]) == (0.0, 3_000.0, 4)
    for tile in range(6):
        got = table(busy(), "curves", name="occupancy", level=0, tile=tile)
        assert got["low"].equals(got["value"]) and got["high"].equals(got["value"])
        for se in (0, 1):
            events = busy().trace.occupancy.filter(pl.col("se") == se)
            of_engine = got.filter(pl.col("series") == se)
            for cycle, value in of_engine.select("bin", "value").gather_every(37).iter_rows():
                assert value == walked(events, cycle)


def lengths(got: pl.DataFrame, level: int) -> pl.DataFrame:
    begin = pl.col("bin").cast(pl.Int64) * (1 << level)
    return got.with_columns(length=pl.min_horizontal(begin + (1 << level), pl.lit(3_000)) - begin)


@pytest.mark.parametrize("name", ["occupancy", "dispatches", "wave_states"])
def test_sums_and_extremes_are_the_same_on_every_level(name: str) -> None:
    def totals(level: int) -> pl.DataFrame:
        tiles = [table(busy(), "curves", name=name, level=level, tile=t) for t in range(-(-3_000 // (512 << level)))]
        whole = lengths(pl.concat(tiles), level)
        sums = {"sum": (pl.col("value") * pl.col("length")).sum(), "low": pl.col("low").min()}
        return whole.group_by("series").agg(**sums, high=pl.col("high").max()).sort("series")

    finest = totals(0)
    assert finest["sum"].max() > 0
    for level in (1, 2, 3):
        assert totals(level).select(pl.exclude("sum")).equals(finest.select(pl.exclude("sum")))
        assert totals(level)["sum"].to_list() == pytest.approx(finest["sum"].to_list())


def test_the_coarsest_level_agrees_with_the_analyses() -> None:
    """Their bins cover the same time in equal parts; the sums over all of it must be equal."""
    trace = busy().trace
    got = lengths(table(busy(), "curves", name="dispatches", level=3, tile=0), 3)
    sums = got.group_by("series").agg(sum=(pl.col("value") * pl.col("length")).sum()).sort("series")
    whole = kernel_residency(trace, bins=1).kernel_curves.sort("kernel")
    assert sums["sum"].to_list() == pytest.approx((whole["wave_count_mean"] * 3_000).to_list())
    got = lengths(table(busy(), "curves", name="wave_states", level=3, tile=0), 3)
    sums = got.group_by("series").agg(sum=(pl.col("value") * pl.col("length")).sum()).sort("series")
    assert sums["sum"].to_list() == pytest.approx(states(trace).total["cycles_total"].to_list())


def test_curves_of_one_engine() -> None:
    of_engine = next(c for c in answer(busy(), "curve_names")["curves"] if c["name"] == "occupancy" and c["se"] == 1)  # type: ignore[attr-defined]
    assert [series["label"] for series in of_engine["series"]] == ["CU 0", "CU 1"]
    parts = table(busy(), "curves", name="occupancy", se=1, level=3, tile=0).group_by("bin").agg(pl.col("value").sum())
    whole = table(busy(), "curves", name="occupancy", level=3, tile=0).filter(pl.col("series") == 1)
    assert parts.sort("bin")["value"].to_list() == pytest.approx(whole["value"].to_list())


@cache
def with_counters() -> Document:
    samples = [(se, cu, 0, 100 + 40 * n, (40, n + se + cu, 0, 0)) for se in (0, 1) for cu in (0, 1) for n in range(30)]
    return document(counted(samples, NAMES, [(0, 100, 10), (0, 1300, 70), (1, 100, 10), (1, 1300, 70)]))


def test_counters_of_all_engines_and_of_one() -> None:
    trace = with_counters().trace
    for se in (None, 0, 1):
        which = {} if se is None else {"se": se}
        got = table(with_counters(), "curves", name="sampled_counters", level=0, tile=1, **which)
        begin = int(answer(with_counters(), "curve_names")["begin"])  # type: ignore[call-overload]
        steps = dict(gpu_curve(trace, 1, se=se).rows())
        for number, value in got.filter(pl.col("series") == 1).select("bin", "value").iter_rows():
            expected = [steps[time] for time in sorted(steps) if time <= begin + number][-1]
            assert value == expected


def test_the_shader_clock_between_pairs() -> None:
    got = table(with_counters(), "curves", name="clock", level=1, tile=0)
    assert set(got.filter(pl.col("series") == 0)["value"].drop_nulls()) == {2_000.0}


def test_derived_counters_built_in_and_own() -> None:
    builtin = answer(with_counters(), "derived")
    assert [series["label"] for series in builtin["series"]] == ["VALU_util", "SHADER_MHZ"]  # type: ignore[attr-defined]
    text = "per_se := sum[ACTIVE_INST_VALU, axis=CU]\nbad := 1 +\nwrong := NO_SUCH\nbare := delta[SCLOCK]"
    own = answer(with_counters(), "derived", text=text)
    assert [series["label"] for series in own["series"]] == ["per_se SE 0", "per_se SE 1"]  # type: ignore[attr-defined]
    assert [(p["line"], p["name"]) for p in own["problems"]] == [(2, "bad"), (3, "wrong")]  # type: ignore[attr-defined]
    assert own["without_curve"] == ["bare"]
    got = table(with_counters(), "curves", name="derived", text=text, level=0, tile=0)
    first = got.filter(pl.col("series") == 1)["value"].drop_nulls()
    assert first[0] == 1 + 2  # n = 0 on CUs 0 and 1 of SE 1


def test_derived_counters_of_one_engine() -> None:
    text = "all := sum[ACTIVE_INST_VALU, axis=[SE, CU]]"
    parts = [table(with_counters(), "curves", name="derived", text=text, level=2, tile=0, se=se) for se in (0, 1)]
    whole = table(with_counters(), "curves", name="derived", text=text, level=2, tile=0)
    assert (parts[0]["value"] + parts[1]["value"]).to_list() == pytest.approx(whole["value"].to_list())


@pytest.mark.parametrize(
    "given",
    [
        {"level": -1}, {"level": 4}, {"level": 1 << 62}, {"tile": -1}, {"tile": 6}, {"tile": 1 << 62},
        {"level": "0x3"}, {"name": "nonsense"}, {"name": "x" * 5_000}, {"text": "a := 1"}, {"more": 1}, {"se": "nan"},
    ],
)  # fmt: skip
def test_parameters_that_make_no_sense(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        table(busy(), "curves", **({"name": "occupancy", "level": 0, "tile": 0} | given))


def test_an_engine_that_is_not_there_has_no_curves() -> None:
    assert table(busy(), "curves", name="occupancy", level=0, tile=0, se=1 << 15).is_empty()
    assert table(with_counters(), "curves", name="sampled_counters", level=0, tile=0, se=77).is_empty()
    kept = len(busy().cache), len(busy().trace.answers)
    for se in range(100, 120):
        table(busy(), "curves", name="occupancy", level=0, tile=0, se=se)
    assert (len(busy().cache), len(busy().trace.answers)) == kept


def test_definitions_are_bounded() -> None:
    with pytest.raises(UsageError, match="longer than"):
        answer(with_counters(), "derived", text="a := 1\n" * 10_000)
    assert answer(with_counters(), "derived", text="a := " + "(" * 2_000)["problems"]


@pytest.mark.parametrize("of", [busy, with_counters])
def test_every_exported_tile_can_be_answered(of: object) -> None:
    held = list(questions_about("trace")["curves"].held(of()))  # type: ignore[operator]
    assert 8 < len(held) < 400
    for given in held[::5]:
        assert table(of(), "curves", **given).height  # type: ignore[operator]

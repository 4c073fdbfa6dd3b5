"""Steps: found by markers or repetition, their parts, and why one is longer."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.kit.made_runs import run as made_run
from tests.kit.small_runs import small_run
from wavewright.analysis.run.select.serving_steps import serving_step
from wavewright.analysis.run.steps import Steps, combine_steps, partial_steps, steps
from wavewright.errors import UsageError
from wavewright.model.run import MemorySource, Run
from wavewright.words.run.steps import steps_report

Kernel = tuple[str, int, int]


def made(kernels: list[Kernel], ranges: list[Kernel] = (), calls: list[tuple[str, int, int, int]] = ()) -> Run:  # type: ignore[assignment]
    """One process: kernels, marker ranges, and calls with the number of the kernel they launch; name, begin, length."""
    regions: list[dict[str, Any]] = [
        {"domain": "MARKER", "name": name, "start_ns": begin, "end_ns": begin + length, "correlation": None}
        for name, begin, length in ranges
    ]
    regions += [
        {"domain": "HIP", "name": name, "start_ns": begin, "end_ns": begin + length, "correlation": number}
        for name, begin, length, number in calls
    ]
    dispatches = [
        {"process": 0, "agent": 0, "name": name, "start_ns": begin, "end_ns": begin + length, "correlation": number}
        for number, (name, begin, length) in enumerate(kernels)
    ]
    types = {"start_ns": pl.Int64, "end_ns": pl.Int64, "correlation": pl.Int64, "name": pl.String}
    tables = {
        "processes": pl.DataFrame({"process": [0], "source": [0], "pid": [7], "rank": [3], "guid": ["g"]}),
        "dispatches": pl.DataFrame(dispatches, schema={"process": pl.UInt32, "agent": pl.UInt32} | types),
        "regions": pl.DataFrame(regions, schema={"domain": pl.String} | types).with_columns(
            process=pl.lit(0, pl.UInt32), thread=pl.lit(0, pl.UInt32)
        ),
    }
    return Run([MemorySource("made.db", "made", tables=tables)])


def repeated(lengths: list[int], *, extra: str = "") -> list[Kernel]:
    """Steps of three kernels (begin, two of a layer) without gaps, in which the layers take these times."""
    kernels, now = [], 0
    for number, length in enumerate(lengths):
        for name, each in (("begin", 10), ("layer", length), ("layer", length), ("head", 10)):
            name = extra if extra and number == 1 and name == "layer" else name
            kernels.append((name, now, each))
            now += each
    return kernels


def test_a_marker_that_covers_the_work_is_found() -> None:
    kernels = [("k", 10, 80), ("k", 110, 80), ("k", 210, 80)]
    ranges = [("step#1", 0, 100), ("step#2", 100, 100), ("step#3", 200, 100), ("part", 0, 5), ("part", 100, 5)]
    ranges += [("part", 200, 5), ("part", 250, 5)]
    answer = steps(made(kernels, ranges))
    assert answer.source == "marker step, found"
    assert answer.steps.select("step", "name", "start_ns", "length_ns", "kernel_count").rows() == [
        (0, "step#1", 0, 100, 1),
        (1, "step#2", 100, 100, 1),
        (2, "step#3", 200, 100, 1),
    ]
    assert steps(made(kernels, ranges), "part").steps.height == 4
    assert steps(made(kernels, ranges), "/^step#[12]/").steps.height == 2
    assert steps(made(kernels, ranges), "nothing").source == "none"
    with pytest.raises(UsageError):
        steps(made(kernels, ranges), "/(/")


def test_profiler_step_needs_no_coverage() -> None:
    kernels = [("a", 0, 10), ("b", 5_000, 10)]
    ranges = [("ProfilerStep#7", 0, 10), ("ProfilerStep#8", 100, 10)]
    assert steps(made(kernels, ranges)).source == "marker ProfilerStep"


def test_the_repetition_is_the_whole_step_not_its_layer() -> None:
    answer = steps(made(repeated([40] * 5)))
    assert answer.source == "repetition of kernels, from begin on"
    assert answer.steps["length_ns"].to_list() == [100] * 5
    assert answer.steps["kernel_count"].to_list() == [4] * 5
    cut = steps(made(repeated([40] * 5)[:-2]))
    assert cut.steps.height == 4  # the last one is not whole


def test_kernels_that_do_not_repeat_are_no_steps() -> None:
    assert steps(made([(f"k{n}", n * 10, 5) for n in range(20)])).source == "none"
    assert steps(made([("same", n * 10, 5) for n in range(20)])).source == "none"
    irregular = [("a", n, 1) for n in (0, 1, 2, 3, 4)] + [(f"k{n}", 10 + n, 1) for n in range(40)]
    assert steps(made(irregular)).source == "none"


def test_kernels_without_names_are_no_anchor() -> None:
    kernels = repeated([40] * 5)
    unnamed = [(None if name == "begin" else name, begin, length) for name, begin, length in kernels]
    assert steps(made(unnamed)).source == "repetition of kernels, from head on"  # type: ignore[arg-type]


def test_an_outlier_and_the_kernel_that_made_it() -> None:
    answer = steps(made(repeated([40, 40, 40, 140, 40])))
    row = answer.steps.row(3, named=True)
    assert (row["kind"], row["excess_ns"], row["cause"], row["cause_ns"]) == ("outlier", 200, "computation", 200)
    assert (row["detail"], row["detail_ns"]) == ("layer", 200)
    summary = answer.processes.row(0, named=True)
    assert (summary["outlier_count"], summary["median_ns"], summary["excess_ns"]) == (1, 100, 200)
    assert summary["excess_share"] == pytest.approx(200 / 700)
    text = "\n".join(str(part) for part in steps_report(answer))
    assert "1 outlier" in text
    assert "computation +200 ns (layer +200 ns)" in text


def test_warm_up_is_told_apart() -> None:
    answer = steps(made(repeated([400, 40, 40, 40])))
    assert answer.steps["kind"].to_list() == ["warm-up", "step", "step", "step"]
    assert answer.processes.select("warm_up_count", "max_ns").row(0) == (1, 100)


def test_a_long_step_with_other_kernels_is_no_outlier() -> None:
    answer = steps(made(repeated([40, 500, 40, 40, 40], extra="prefill")))
    assert answer.steps["kind"].to_list() == ["step", "other", "step", "step", "step"]
    assert answer.processes["outlier_count"].item() == 0


def test_idle_time_of_a_step_has_its_cause() -> None:
    """Each step idles 50: launched late by the host in step 2, launched early otherwise."""
    kernels, ranges, calls = [], [], []
    for step in range(4):
        begin = step * 100 + (200 if step == 3 else 0)
        ranges.append(("step", begin, 300 if step == 2 else 100))
        kernels.append(("k", begin + (250 if step == 2 else 50), 50))
        calls.append(("hipLaunchKernel", begin + (240 if step == 2 else 1), 2, step))
    answer = steps(made(kernels, ranges, calls))
    assert answer.steps["queued_ns"].to_list() == [49, 49, 10, 49]
    assert answer.steps["host_ns"].to_list() == [1, 1, 240, 1]
    assert answer.steps["call_count"].to_list() == [1] * 4
    worst = answer.steps.row(2, named=True)
    assert (worst["kind"], worst["cause"], worst["cause_ns"]) == ("outlier", "host", 239)
    parts = ("compute_ns", "communication_ns", "copy_ns", "queued_ns", "host_ns")
    assert answer.steps.select(pl.sum_horizontal(parts)).to_series().to_list() == answer.steps["length_ns"].to_list()


def test_without_launches_the_cause_is_idle() -> None:
    ranges = [("step", 0, 100), ("step", 100, 300), ("step", 400, 100)]
    answer = steps(made([("k", 0, 100), ("k", 350, 50), ("k", 400, 100)], ranges))
    assert answer.steps["host_ns"].null_count() == 3
    assert answer.steps.row(1, named=True)["cause"] == "idle"


@pytest.mark.parametrize(
    "run",
    [
        Run([]),
        Run([MemorySource("empty", "made")]),
        small_run(),
        made([]),
        made([("k", 5, -3), ("k", -(1 << 62), 1 << 61)]),
        made(repeated([40] * 5)),
    ],
)
def test_declared_columns(run: Run) -> None:
    answer = steps(run)
    for name, spec in Steps.tables.items():
        assert dict(getattr(answer, name).schema) == spec.dtypes, name
    assert list(steps_report(answer))


def test_parts_of_two_runs() -> None:
    partial = partial_steps(made(repeated([40] * 5)))
    answer = combine_steps([partial, partial])
    assert answer.steps["part"].to_list() == [0] * 5 + [1] * 5
    assert answer.processes["step_count"].to_list() == [5, 5]


def test_kernels_belong_to_the_step_that_launches_them() -> None:
    """The host is done with three steps in 60 ns, before the second kernel runs: each step has its two kernels."""
    kernels = [("k", 100 * number + 5, 90) for number in range(6)]
    ranges = [(f"step#{number}", 20 * number, 20) for number in range(3)]
    calls = [("hipLaunchKernel", 10 * number, 5, number) for number in range(6)]
    answer = steps(made(kernels, ranges, calls), "/step/")
    assert answer.steps.select("length_ns", "gpu_length_ns", "kernel_count").rows() == [(20, 190, 2)] * 3
    assert answer.steps["gpu_start_ns"].to_list() == [5, 205, 405]
    assert answer.processes["gpu_median_ns"].to_list() == [190]
    assert "190 ns on the GPU" in str(next(iter(steps_report(answer))))


def test_a_step_whose_launches_are_not_recorded_has_what_starts_in_it() -> None:
    kernels = [("k", 100 * number + 5, 90) for number in range(6)]
    ranges = [(f"step#{number}", 200 * number, 200) for number in range(3)]
    answer = steps(made(kernels, ranges))
    assert answer.steps.select("length_ns", "gpu_length_ns", "kernel_count").rows() == [(200, 190, 2)] * 3


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        (
            "execute_12_context_1(sq10sk20sqsq100sqsk200)_generation_2(sq2sk9sqsq2sqsk9)",
            ("mixed", 3, 12, 29),
        ),
        ("execute_context_2(512_0)_generation_0(0)", ("prefill", 2, 512, None)),
        ("execute_context_0(0)_generation_0(0)", ("idle", 0, 0, None)),
        ("step[EXTEND bs=4 toks=700 gap=0]", ("prefill", 4, 700, None)),
        ("step[DECODE bs=32]", ("decode", 32, 32, None)),
        ("step[MIXED bs=3 toks=12 c_sq=10 c_sk=20 g_sq=2 g_sk=9 c=1 g=2]", ("mixed", 3, 12, 29)),
        ("decode[bs=117/128 tok=117 d=117]", ("decode", 117, 117, None)),
        ("prefill[bs=2 tok=90 ctx=[40, 50]]", ("prefill", 2, 90, None)),
    ],
)
def test_markers_of_serving(marker: str, expected: tuple[str, int, int, int | None]) -> None:
    step = serving_step(marker)
    assert step is not None
    assert (step.phase, step.requests, step.tokens, step.context) == expected
    assert serving_step(f"x{marker}") is None


def test_steps_of_serving_are_the_outer_markers_and_have_rates() -> None:
    kernels = [(f"k{n % 3}", 1000 * n + 500, 800) for n in range(12)]
    ranges = [
        (f"execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_8(sq8sk{n}sqsq8sqsk{n})", 1000 * n, 900) for n in range(12)
    ]
    ranges += [("step[DECODE bs=8]", 1000 * n + 1, 800) for n in range(12)]
    answer = steps(made(kernels, ranges, [("hipGraphLaunch", 1000 * n + 10, 5, n) for n in range(12)]))
    assert answer.steps["phase"].to_list() == ["decode"] * 12
    assert answer.steps["context"].to_list() == list(range(12))
    assert answer.steps["tokens_per_second"].to_list() == [pytest.approx(8e9 / 1000)] * 11 + [pytest.approx(8e9 / 800)]
    texts = "\n".join(str(block) for block in steps_report(answer))
    assert "8,000,000 tokens/s (90 % within 8,000,000 to 8,000,000)" in texts
    few = steps(made(kernels[:3], ranges[:3], [("hipGraphLaunch", 1000 * n + 10, 5, n) for n in range(3)]))
    assert "too few for a steady rate" in "\n".join(str(block) for block in steps_report(few))


def compiled(modules: list[str]) -> Run:
    """Calls of `f`, as JAX records them twice, each of 2 kernels that run later; `modules` of the kernels."""
    calls = [(1000 * call + nested, 100 - nested) for call in range(3) for nested in (0, 1)]
    regions = [
        {"start_ns": start, "end_ns": start + length, "name": "PjitFunction(f)", "domain": "OPERATOR"}
        for start, length in calls
    ]
    regions += [
        {"start_ns": 1000 * (n // 2) + 10 + n, "end_ns": 1000 * (n // 2) + 20 + n, "name": "hipLaunchKernel",
         "domain": "HIP", "correlation": n}
        for n in range(6)
    ]  # fmt: skip
    kernels = [
        {"start_ns": 600 + 500 * n, "end_ns": 1000 + 500 * n, "name": f"k{n % 2}", "correlation": n,
         "properties": f'{{"hlo_module": "{module}"}}'}
        for n, module in enumerate(modules)
    ]  # fmt: skip
    return made_run(regions=regions, dispatches=kernels)


def test_steps_of_jax_are_the_calls_of_the_function_that_has_the_time() -> None:
    answer = steps(compiled(["jit_f"] * 6))
    assert answer.source == "calls of f (jax.jit)"
    assert answer.steps.select("start_ns", "end_ns", "kernel_count").rows() == [
        (0, 1000, 2),
        (1000, 2000, 2),
        (2000, 3500, 2),
    ]
    # A third of the time is another function's: no single one is the step.
    assert steps(compiled(["jit_f", "jit_f", "jit_g"] * 2)).source != "calls of f (jax.jit)"


def test_compiled_functions_of_jax_that_only_copy_are_no_steps() -> None:
    """Without any kernel there was a traceback."""
    calls = [{"name": "PjitFunction(f)", "domain": "OPERATOR", "start_ns": at, "end_ns": at + 10} for at in (0, 20)]
    copies = [{"start_ns": 3, "end_ns": 9, "dst_agent": 1, "size_bytes": 3}]
    assert steps(made_run(regions=calls, copies=copies)).steps.height == 0

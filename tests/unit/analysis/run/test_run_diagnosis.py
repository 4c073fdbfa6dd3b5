"""Rules of a diagnosis of a run: each speaks where its cause is planted, and is silent about its usual false alarm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.made_runs import Row, run, source
from tests.kit.sampling import examples
from tests.kit.together import together
from wavewright.analysis.run.diagnose import RunDiagnosis, combine_diagnosis, diagnose_run, partial_diagnosis
from wavewright.analysis.run.diagnose.causes import starved
from wavewright.analysis.run.diagnose.finding import RunFinding
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis
from wavewright.base.words import percent
from wavewright.facts.run_rules import OWNERS, RULES
from wavewright.model.run import Run
from wavewright.readers.run.collective_records import records_source

US = 1_000
MS = 1_000_000
STEPS = 12


class Made:
    """A run of one thread and one GPU, written down call by call."""

    def __init__(self) -> None:
        self.now = 0  #: Of the host.
        self.busy = 0  #: End of the last work.
        self.tables: dict[str, list[Row]] = {"dispatches": [], "copies": [], "regions": []}
        self.number = 0

    def host(self, length: int, name: str = "", domain: str = "PYTHON") -> Made:
        if name:
            self._region(name, domain, self.now, self.now + length)
        self.now += length
        return self

    def call(self, name: str, length: int) -> Made:
        return self.host(length, name, "HIP")

    def launch(self, length: int, name: str = "gemm", call: int = 5 * US, lag: int = 5 * US, **more: Any) -> Made:
        start = max(self.busy, self.now + lag)
        self._linked("hipLaunchKernel", call, "dispatches", start, start + length, name=name, **more)
        return self

    def graph(self, count: int, length: int) -> Made:
        self.number += 1
        start = max(self.busy, self.now + 8 * US)
        self._region("hipGraphLaunch", "HIP", self.now, self.now + 12 * US, self.number)
        for _ in range(count):
            row = {"start_ns": start, "end_ns": start + length, "name": "tiny", "graph_exec": 7}
            self.tables["dispatches"].append(row | {"correlation": self.number})
            start += length
        self.busy, self.now = start, self.now + 12 * US
        return self

    def copy(self, direction: str, size: int, length: int, *, blocks: bool = False) -> Made:
        start = max(self.busy, self.now + 5 * US)
        end = start + length
        call = end + 5 * US - self.now if blocks else 5 * US
        agents = {"src_agent": 0, "dst_agent": 1} if direction == "HOST_TO_DEVICE" else {"src_agent": 1, "dst_agent": 0}
        more = agents | {"size_bytes": size, "name": f"MEMORY_COPY_{direction}"}
        self._linked("hipMemcpyWithStream" if blocks else "hipMemcpyAsync", call, "copies", start, end, **more)
        return self

    def wait(self, name: str = "hipDeviceSynchronize") -> Made:
        until = max(self.now, self.busy) + 5 * US
        return self.call(name, until - self.now)

    def steps(self, body: Any) -> Run:
        """The run of `STEPS` steps of the body."""
        for step in range(STEPS):
            begin = self.now
            body(self, step)
            self._region(f"ProfilerStep#{step}", "MARKER", begin, self.now)
        return self.run()

    def run(self) -> Run:
        return run(**self.tables)

    def _region(self, name: str, domain: str, start: int, end: int, correlation: int | None = None) -> None:
        row = {"start_ns": start, "end_ns": end, "name": name, "domain": domain, "correlation": correlation}
        self.tables["regions"].append(row)

    def _linked(self, function: str, call: int, table: str, start: int, end: int, **more: Any) -> None:
        self.number += 1
        self._region(function, "HIP", self.now, self.now + call, self.number)
        self.tables[table].append({"start_ns": start, "end_ns": end, "correlation": self.number} | more)
        self.busy, self.now = end, self.now + call


def healthy(made: Made, step: int) -> None:
    """Ten kernels that the host launches far ahead; it waits for the step before."""
    for _ in range(10):
        made.launch(400 * US)
    if step:
        made.now = max(made.now, made.busy - 3 * MS)


def rules_of(answer: RunDiagnosis) -> list[str]:
    return [rule for finding in answer.findings for rule in finding.rules]


def the(answer: RunDiagnosis, rule: str) -> RunFinding:
    return next(finding for finding in answer.findings if rule in finding.rules)


def test_a_healthy_run_is_silent() -> None:
    answer = diagnose_run(Made().steps(healthy))
    assert answer.findings == ()
    assert (answer.step_count, answer.step_name) == (STEPS, "ProfilerStep")
    assert answer.headline.endswith("Work of the GPU decides: 100.0 % of the time is kernels.")
    assert "G2" in answer.checked
    assert answer.next_command == "wavewright kernels 'gemm' run.db"


def test_kernels_do_not_decide_where_the_gpu_waits_for_the_host() -> None:
    answer = diagnose_run(Made().steps(lambda made, _: made.host(400 * US).launch(600 * US).wait()))
    # 12 kernels of 600 us with 11 gaps: 5 us until the wait returns, 400 us of host code, 5 us of launch
    assert answer.headline.endswith(
        "Kernels take 61.5 % of the time, and 38.0 % of it the GPU waits for the host: "
        "`wavewright path` tells which of them sets the pace."
    )


def test_host_code_between_launches() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(5):
            made.host(600 * US).launch(400 * US)

    answer = diagnose_run(Made().steps(body))
    first = answer.findings[0]
    assert first.rule == "G2"
    assert first.evidence[0].window
    assert first.bound_ns <= first.bound_alone_ns


def test_launches_just_in_time_and_their_twin_in_a_graph() -> None:
    def one_by_one(made: Made, step: int) -> None:
        for _ in range(60):
            made.launch(3 * US, "tiny", call=9 * US, lag=5 * US)
        made.launch(1 * MS)
        made.wait()

    def as_graph(made: Made, step: int) -> None:
        made.graph(60, 3 * US)
        made.launch(1 * MS)
        made.now = max(made.now, made.busy - 500 * US)

    answer = diagnose_run(Made().steps(one_by_one))
    assert answer.findings[0].rule == "G3"
    assert answer.findings[0].reason.endswith("half of the kernels start before the end of their launch")  # -4 us
    assert the(answer, "L3").within == "G3"
    twin = diagnose_run(Made().steps(as_graph))
    assert not {"G3", "L1", "L3"} & set(rules_of(twin))
    assert any("come from graphs" in note.text for note in twin.not_findings)


def test_readbacks_and_copies_that_nobody_waits_for() -> None:
    def body(blocks: bool) -> Any:
        def step(made: Made, number: int) -> None:
            for _ in range(4):
                made.launch(600 * US).copy("DEVICE_TO_HOST", 4, 3 * US, blocks=blocks)
                if blocks:
                    made.host(80 * US, "decide")
            made.now = max(made.now, made.busy - 2 * MS)

        return step

    answer = diagnose_run(Made().steps(body(blocks=True)))
    first = answer.findings[0]
    assert first.rule == "G4"
    gap = 4 * STEPS * (5 + 80 + 5) * US
    assert gap * 0.9 <= first.bound_ns <= gap * 1.2
    case = first.evidence[0]
    assert (case.call, case.call_ns) == ("hipMemcpyWithStream", case.time_ns - 85 * US)  # the rest is host code, launch
    assert rules_of(diagnose_run(Made().steps(body(blocks=False)))) == []


def test_small_uploads_and_one_upload() -> None:
    def many(made: Made, step: int) -> None:
        for _ in range(20):
            made.copy("HOST_TO_DEVICE", 16, 3 * US, blocks=True)
        made.launch(2 * MS)

    def one(made: Made, step: int) -> None:
        made.copy("HOST_TO_DEVICE", 320, 3 * US)
        made.launch(2 * MS)
        made.now = max(made.now, made.busy - 1 * MS)

    answer = diagnose_run(Made().steps(many))
    assert answer.findings[0].rule == "C3"
    assert "240 uploads (240 below 64 KiB)" in answer.findings[0].reason
    assert rules_of(diagnose_run(Made().steps(one))) == []


def test_time_in_blocking_calls_is_no_finding_while_the_gpu_works() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(10):
            made.launch(1 * MS)
        made.wait("hipStreamSynchronize")

    answer = diagnose_run(Made().steps(body))
    assert rules_of(answer) == []
    assert any(note.rule == "G5" and "inside blocking calls" in note.text for note in answer.not_findings)


def test_synchronisation_that_runs_the_gpu_dry() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(5):
            made.launch(300 * US).wait().host(8 * US)

    answer = diagnose_run(Made().steps(body))
    assert answer.findings[0].rule == "G5"
    assert "hipDeviceSynchronize" in answer.findings[0].reason


def test_communication_while_the_host_waits_is_not_called_idle() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(5):
            made.launch(300 * US).launch(90 * US, "ncclDevKernel_AllReduce_Sum_f32").wait().host(2 * US)

    answer = diagnose_run(Made().steps(body))
    (finding,) = (each for each in answer.findings if each.rule == "G5")
    talking = (5 * STEPS - 1) * 90 * US / answer.window_ns  # after the last one nothing is launched
    assert finding.bound_share == pytest.approx(answer.idle_share + talking, abs=0.001)
    assert f"({percent(answer.idle_share)} of the time) in" in finding.reason
    assert f"({percent(talking)} of the time) it only communicates" in finding.reason


def test_copies_of_the_runtime_are_told_and_fused_with_nothing() -> None:
    def answer_of(copy: str) -> RunDiagnosis:
        def body(made: Made, step: int) -> None:
            for name in ("Cijk_Ailk_Bljk", copy, "vectorized_elementwise_kernel", copy):
                made.launch(100 * US, name)

        return diagnose_run(Made().steps(body))

    moved = answer_of("__amd_rocclr_copyBuffer")
    assert "L2" not in rules_of(moved)
    (note,) = (note.text for note in moved.notes if note.rule == "N5")
    assert note.startswith("50.0 % of the computation is copies and fills")
    computed = answer_of("direct_copy_kernel_cuda")
    assert "L2" in rules_of(computed) and not [note for note in computed.notes if note.rule == "N5"]


def test_allocation_in_the_loop_and_before_it() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(4):
            made.launch(500 * US).wait("hipFree").call("hipMalloc", 150 * US)

    answer = diagnose_run(Made().steps(body))
    assert answer.findings[0].rule == "G6"
    early = Made().call("hipMalloc", 40 * MS)
    twin = diagnose_run(early.steps(healthy))
    assert rules_of(twin) == []
    assert any(caveat.rule == "D1" and "in allocations" in caveat.text for caveat in twin.caveats)


def test_code_that_is_loaded_in_the_loop_and_at_first_use() -> None:
    def body(made: Made, step: int) -> None:
        made.launch(1 * MS).wait().call("hipModuleLoadData", 400 * US)

    assert diagnose_run(Made().steps(body)).findings[0].rule == "G7"

    def first_use(made: Made, step: int) -> None:
        if step == 0:
            made.launch(2 * MS, "new", call=3 * MS, lag=3 * MS)
        healthy(made, step)

    twin = diagnose_run(Made().steps(first_use))
    assert "G7" not in rules_of(twin)


def test_large_blocking_copies() -> None:
    def body(made: Made, step: int) -> None:
        made.launch(500 * US).copy("DEVICE_TO_HOST", 1 << 22, 100 * US, blocks=True).host(30 * US).call(
            "hipMemcpy", 200 * US
        )

    rules = rules_of(diagnose_run(Made().steps(body)))
    assert rules[0] == "G8"
    assert "C1" in rules


def test_slow_copies_name_their_rate() -> None:
    def body(made: Made, step: int) -> None:
        made.launch(500 * US).copy("HOST_TO_DEVICE", 2_000_000, 1 * MS).launch(100 * US)

    answer = diagnose_run(Made().steps(body))
    slow = the(answer, "C2")
    assert (slow.within, slow.confidence) == ("C1", "low")
    assert "2.0 GB/s" in slow.reason
    assert slow.threshold.value == pytest.approx(2.0)


def test_the_data_loader_and_a_loader_ahead() -> None:
    def body(length: int) -> Any:
        def step(made: Made, number: int) -> None:
            made.host(length, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "MARKER")
            for _ in range(5):
                made.launch(400 * US)
            if length > 100 * US:
                made.wait()

        return step

    answer = diagnose_run(Made().steps(body(1 * MS)))
    assert answer.findings[0].rule == "T3"
    assert answer.findings[0].bound_ns >= (STEPS - 1) * MS
    assert rules_of(diagnose_run(Made().steps(body(20 * US)))) == []


def test_page_faults_beside_gaps() -> None:
    def body(made: Made, step: int) -> None:
        made.launch(1 * MS).wait()
        made.tables["regions"].append(
            {
                "start_ns": made.now,
                "end_ns": made.now + 200 * US,
                "name": "KFD_PAGE_FAULT",
                "domain": "KFD",
                "thread": 3,
            }
        )
        made.host(210 * US)

    assert diagnose_run(Made().steps(body)).findings[0].rule == "T4"


def test_tiny_kernels_to_fuse() -> None:
    def body(made: Made, step: int) -> None:
        for _ in range(10):
            made.launch(8 * US, "elementwise_add<(1 + 2)>", call=1 * US, lag=1 * US, grid_x=256, workgroup_x=64)
            made.launch(9 * US, "elementwise_mul", call=1 * US, lag=1 * US, grid_x=256, workgroup_x=64)
            made.launch(40 * US, "gemm", call=1 * US, lag=1 * US, grid_x=1 << 20, workgroup_x=256)

    answer = diagnose_run(Made().steps(body))
    assert rules_of(answer) == ["L2"]  # what fusion promises, the rule about tiny kernels does not promise again
    finding = the(answer, "L2")
    assert finding.bound_ns == 10 * STEPS * 8 * US  # all but the longest of each row
    assert finding.evidence[0].sequence == ("elementwise_add<(1 + 2)>", "elementwise_mul")


def test_other_grids_and_norms_are_fused_and_matrix_products_are_not() -> None:
    def body(made: Made, step: int, name: str) -> None:
        for _ in range(10):
            made.launch(20 * US, "elementwise_mul", call=1 * US, lag=1 * US, grid_x=256)
            made.launch(30 * US, name, call=1 * US, lag=1 * US, grid_x=1024)
            made.launch(400 * US, "Cijk_gemm", call=1 * US, lag=1 * US, grid_x=1 << 20)

    norm = diagnose_run(Made().steps(lambda made, step: body(made, step, "rms_norm_kernel")))
    assert the(norm, "L2").bound_ns == 10 * STEPS * 20 * US
    assert rules_of(diagnose_run(Made().steps(lambda made, step: body(made, step, "attn_fwd")))) == []


def test_one_kernel_that_is_repeated_is_no_sequence_to_fuse() -> None:
    """A benchmark of scatter: 40 times the same kernel in each step; its twin alternates with another."""

    def diagnosed(other: str) -> RunDiagnosis:
        def body(made: Made, step: int) -> None:
            for number in range(40):
                made.launch(300 * US, other if number % 2 else "hip_scatter")

        return diagnose_run(Made().steps(body))

    assert "L2" not in rules_of(diagnosed("hip_scatter"))
    assert "L2" in rules_of(diagnosed("vectorized_elementwise_kernel"))


def test_launches_that_fill_no_gpu() -> None:
    made = Made()
    made.steps(lambda each, step: each.launch(900 * US, "small", grid_x=64 * 8, workgroup_x=64))
    tables = made.run().origins[0]
    tables.tables["agents"] = tables.tables["agents"].with_columns(cu_count=pl.lit(304, pl.Int64))  # type: ignore[attr-defined]
    answer = diagnose_run(Run([tables]))
    found = the(answer, "L4")
    assert "8 workgroups" in found.reason
    assert found.bound_ns == pytest.approx(STEPS * 900 * US * (1 - 8 / 304), rel=0.01)


def test_clocks_below_their_highest() -> None:
    made = Made()
    made.steps(healthy)
    span = made.busy // 30
    values = [2100.0] + [1500.0] * 29
    monitors = [
        {"agent": 1, "name": "sclk", "start_ns": n * span, "end_ns": (n + 1) * span, "value": value}
        for n, value in enumerate(values)
    ]
    answer = diagnose_run(run(**made.tables, monitors=monitors))
    assert the(answer, "T1").threshold.value == pytest.approx(1 - 1520 / 2100, abs=0.02)
    few = diagnose_run(run(**made.tables, monitors=monitors[:10]))
    assert "T1" not in rules_of(few)
    assert any(note.rule == "T1" for note in few.skipped)


def test_steps_that_take_longer_than_usual() -> None:
    def body(made: Made, step: int) -> None:
        if step == 6:
            made.host(6 * MS)
        made.launch(1 * MS).launch(1 * MS).wait()

    rules = rules_of(diagnose_run(Made().steps(body)))
    assert rules[0] == "G2"
    assert "T2" not in rules  # its time belongs to the finding that knows why


def test_a_long_first_step_is_slow_only_if_it_does_the_same_work() -> None:
    """Prefill: the same kernels in eight times the grid. Its twin, a cold first step, has the same grid."""

    def diagnosed(grid: int) -> RunDiagnosis:
        def body(made: Made, step: int) -> None:
            for _ in range(10):
                made.launch(3_200 * US if step == 0 else 400 * US, grid_x=64 * (grid if step == 0 else 1))
            made.wait()

        return diagnose_run(Made().steps(body))

    prefill, cold = diagnosed(8), diagnosed(1)
    assert not any("first step" in caveat.text for caveat in prefill.caveats)
    assert any("steps 0 of ProfilerStep are longer because they do other work" in n.text for n in prefill.not_findings)
    assert any("the first step of ProfilerStep takes 8.0 times" in caveat.text for caveat in cold.caveats)
    assert not any("other work" in note.text for note in cold.not_findings)


def test_a_first_step_that_only_launches_slowly_is_not_long() -> None:
    """The host runs ahead: its first step is six times as long as the others, and the kernels are the same."""

    def body(made: Made, step: int) -> None:
        for _ in range(10):
            made.launch(400 * US, call=30 * US if step == 0 else 5 * US)

    assert not any("first step" in caveat.text for caveat in diagnose_run(Made().steps(body)).caveats)


def test_without_launches_nothing_is_said_about_causes() -> None:
    kernels = [{"start_ns": n * MS, "end_ns": n * MS + 100 * US, "name": "k"} for n in range(200)]
    answer = diagnose_run(run(dispatches=kernels))
    (only,) = answer.findings  # that it idles is known, and the largest part of the time has a sentence
    assert (only.rule, f"{100 * only.bound_share:.1f}") == ("G1", "90.0")
    assert "the record does not tell why" in only.reason
    assert any(caveat.rule == "D3" for caveat in answer.caveats)
    assert any("G2" in note.rule for note in answer.skipped)
    assert answer.trust == "use with caution"
    assert "idle 90.0 %" in answer.headline


def test_numbers_of_calls_that_are_not_recorded_make_no_graph() -> None:
    """Rows of many runs put together in one file: their calls have the same numbers."""
    kernels = [
        {"start_ns": n * MS, "end_ns": n * MS + 5 * US, "name": "k", "correlation": n % 4, "thread": 0}
        for n in range(200)
    ]
    assert not any("graphs" in note.text for note in diagnose_run(run(dispatches=kernels)).not_findings)


def test_code_of_the_host_itself_is_in_no_call() -> None:
    """A short call at the start of a long gap: the thread runs its own code, and the place names no call."""
    answer = diagnose_run(Made().steps(lambda made, _: made.call("hipMemset", 20 * US).host(900 * US).launch(400 * US)))
    assert answer.findings[0].rule == "G2"
    assert answer.findings[0].evidence[0].call == ""


def test_calls_that_are_recorded_need_no_recording() -> None:
    """Idle time in calls that no other rule speaks about: what to do is not to record what is there."""
    made = Made().steps(lambda made, _: made.call("hipMemcpy", 900 * US).launch(400 * US))
    found = starved(MergedDiagnosis([partial_diagnosis(made)]), [])
    assert found is not None
    assert found.cause.endswith("the launching thread is busy with: copy call")
    assert found.remedies
    assert not any("record" in remedy for remedy in found.remedies)


def started(upload: int, pause: int) -> RunDiagnosis:
    """An upload, a pause, then eight kernels back to back without steps."""
    made = Made().copy("HOST_TO_DEVICE", 1 << 30, upload).wait().host(pause)
    for _ in range(8):
        made.launch(5 * MS)
    return diagnose_run(made.run())


def test_data_that_is_moved_is_no_start_up() -> None:
    """An upload that takes as long as all kernels stays in the window, and is a finding; one of a twentieth is not."""
    answer = started(40 * MS, 20 * MS)
    assert answer.window_ns == pytest.approx(100 * MS, abs=50 * US)
    assert rules_of(answer) == ["C1", "G1"]
    assert f"{100 * answer.findings[0].bound_share:.1f}" == "40.0"
    assert "of it before the first or after the last kernel" in answer.findings[0].reason
    twin = started(2 * MS, 20 * MS)
    assert rules_of(twin) == []
    assert twin.window_ns == 40 * MS


def test_copies_that_are_most_of_the_work_speak_in_a_run_that_idles() -> None:
    answer = started(40 * MS, 2_000 * MS)  # 1.9 % of the time: below the share from which copies speak else
    assert rules_of(answer) == ["G1"], "as long as kernels: not most of the work"
    answer = started(50 * MS, 2_000 * MS)
    assert rules_of(answer) == ["G1", "C1"]
    assert "copies are 55.6 % of the work of the GPU" in answer.findings[1].reason


def test_start_up_of_a_tenth_is_in_the_first_sentence() -> None:
    answer = started(1 * MS, 120 * MS)
    assert answer.headline.startswith(
        "Start-up is 121.0 ms of 161.0 ms (75.2 %) and is set aside. After it: GPU busy 100.0 % of 40.0 ms"
    )
    assert started(1 * MS, 20 * MS).headline.startswith("Start-up is 21.0 ms of 61.0 ms")
    assert not started(1 * MS, 2 * MS).headline.startswith("Start-up")


def test_the_time_of_the_profiler_is_a_doubt() -> None:
    made = Made()
    made.steps(healthy)
    made._region("flush", "TOOL", 0, 3 * MS)
    answer = diagnose_run(made.run())
    assert any(caveat.rule == "D2" and "3.0 ms" in caveat.text for caveat in answer.caveats)
    assert answer.findings == ()


def rank(number: int, slow: int, *, exposed: int = 300 * US) -> Any:
    """A rank that computes 3 ms per step and meets the others; the slowest takes `slow` longer."""
    tables: dict[str, list[Row]] = {"dispatches": [], "regions": []}
    now = correlation = 0
    for step in range(STEPS):
        end = now + 3 * MS + (slow if number == 1 else 0)
        meet = now + 3 * MS + slow
        for begin, stop, name in ((now, end, "gemm"), (end, meet + exposed, "ncclDevKernel_AllReduce_Sum")):
            correlation += 1
            tables["regions"].append(
                {"start_ns": begin - 50 * US, "end_ns": begin - 45 * US, "name": "hipLaunchKernel", "domain": "HIP"}
                | {"correlation": correlation}
            )
            tables["dispatches"].append({"start_ns": begin, "end_ns": stop, "name": name, "correlation": correlation})
        tables["regions"].append(
            {"start_ns": now, "end_ns": meet + exposed, "name": f"step {step}", "domain": "MARKER"}
        )
        now = meet + exposed
    shifted = {
        name: [row | {"agent": number + 1} if name == "dispatches" else row for row in rows]
        for name, rows in tables.items()
    }
    return source(f"rank{number}.db", pid=number, gpus=4, **shifted)


@pytest.mark.slow
def test_a_late_rank_is_named_with_its_reason() -> None:
    answer = diagnose_run(Run([rank(number, 900 * US) for number in range(4)]))
    first = answer.findings[0]
    assert (first.rule, first.verdict) == ("X2", "Rank 1 is late")
    assert first.bound_ns == pytest.approx(STEPS * 900 * US, rel=0.02)
    assert "its kernels take 10.8 ms longer than those of the others" in first.reason
    assert "gemm (1.30 times" in first.reason
    assert "X3" in rules_of(answer)


@pytest.mark.slow
def test_exposed_communication_of_ranks_on_time() -> None:
    answer = diagnose_run(Run([rank(number, 0, exposed=900 * US) for number in range(4)]))
    first = answer.findings[0]
    assert first.rule == "X1"
    assert first.bound_ns == pytest.approx(STEPS * 900 * US, rel=0.01)
    assert "X2" not in rules_of(answer)


def test_one_rank_alone_says_what_it_cannot_know() -> None:
    answer = diagnose_run(Run([rank(0, 900 * US)]))
    assert "X2" not in rules_of(answer)
    assert any("X2" in note.rule and "one GPU" in note.text for note in answer.skipped)


def test_partial_results_combine_to_the_same_answer() -> None:
    sources = [rank(number, 900 * US) for number in range(3)]
    together = diagnose_run(Run(sources))
    apart = combine_diagnosis([partial_diagnosis(Run([each])) for each in sources])
    assert [(each.rule, each.bound_ns) for each in apart.findings] == [
        (each.rule, each.bound_ns) for each in together.findings
    ]


@together(
    "tables",
    [
        {},
        {"dispatches": [{"start_ns": 5, "end_ns": 9, "name": "k"}]},
        {"dispatches": [{"start_ns": None, "end_ns": None}, {"start_ns": 9, "end_ns": 5, "name": "k"}]},
        {"regions": [{"start_ns": 5, "end_ns": 9, "name": "hipMalloc", "domain": "HIP"}]},
        {"copies": [{"start_ns": 5, "end_ns": 9, "name": None, "size_bytes": None}]},
        {"dispatches": [{"start_ns": -(1 << 63), "end_ns": (1 << 63) - 1, "name": "nccl", "correlation": 1}] * 3},
        {
            "dispatches": [{"start_ns": 5, "end_ns": 9, "name": None, "correlation": 1, "thread": None, "agent": None}]
            * 2,
            "regions": [
                {"start_ns": None, "end_ns": 9, "name": None, "domain": "HIP", "correlation": 1, "thread": None}
            ],
        },
    ],
)
def test_damaged_and_empty_runs_have_a_smaller_answer(tables: dict[str, list[Row]]) -> None:
    answer = diagnose_run(run(**tables))
    assert {finding.rule for finding in answer.findings} <= {"C1"}  # of copies alone
    assert answer.headline


def test_no_run_at_all() -> None:
    answer = combine_diagnosis([])
    assert answer.headline == "No work of a GPU is recorded: there is nothing to diagnose."
    assert answer.finding_table().height == 0


ops = st.lists(
    st.tuples(
        st.sampled_from(["launch", "copy", "read", "wait", "host", "malloc", "loader", "nccl"]), st.integers(1, 400)
    ),
    min_size=2,
    max_size=25,
)


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(ops)
def test_no_nanosecond_is_promised_twice(program: list[tuple[str, int]]) -> None:
    made = Made()
    for what, size in program:
        if what in ("launch", "nccl"):
            made.launch(size * US, "ncclDevKernel" if what == "nccl" else "gemm", stream=1 if what == "nccl" else 0)
            made.busy -= size * US // 2 if what == "nccl" else 0
        elif what in ("copy", "read"):
            made.copy("HOST_TO_DEVICE" if what == "copy" else "DEVICE_TO_HOST", size, 3 * US, blocks=what == "read")
        elif what == "wait":
            made.wait()
        elif what == "malloc":
            made.call("hipMalloc", size * US)
        else:
            made.host(size * US, "DataLoader.__next__" if what == "loader" else "", "MARKER")
    answer = diagnose_run(made.run())
    budget = answer.gpus
    for row in budget.iter_rows(named=True):
        parts = row["computation_ns"] + row["exposed_communication_ns"] + row["exposed_copy_ns"] + row["idle_ns"]
        assert parts == row["window_ns"]
    apart = [each for each in answer.findings if each.kind != "kernels"]
    assert sum(each.bound_ns for each in apart) <= (budget["window_ns"] - budget["computation_ns"]).sum()
    assert sum(each.bound_ns for each in answer.findings) <= answer.window_ns + 1
    for each in answer.findings:
        assert each.bound_ns <= each.bound_alone_ns
        assert not (each.within and each.bound_ns)
        if each.within:
            assert each.bound_alone_ns <= the(answer, each.within).bound_ns
        assert len(each.evidence) <= 5


def test_rules_are_complete() -> None:
    assert set(OWNERS) <= set(RULES)
    for rule in RULES.values():
        if rule.kind in ("idle", "communication", "copies", "kernels"):
            assert rule.remedies
            assert rule.false_if
            assert rule.next_command.startswith("wavewright ")
            assert rule.say is not None


def test_the_place_of_exposed_communication_names_the_collective_that_takes_it() -> None:
    """A long all-reduce on one stream; a short all-gather on another ends before the GPU runs out of other work."""
    kernels = [
        {"start_ns": 0, "end_ns": 30 * MS, "name": "gemm"},
        {"start_ns": 10 * MS, "end_ns": 70 * MS, "name": "ncclAllReduce", "stream": 1},
        {"start_ns": 20 * MS, "end_ns": 25 * MS, "name": "ncclAllGather", "stream": 2},
        {"start_ns": 70 * MS, "end_ns": 100 * MS, "name": "gemm"},
    ]
    finding = the(diagnose_run(run(dispatches=kernels)), "X1")
    assert (finding.time_ns, finding.evidence[0].what) == (40 * MS, "ncclAllReduce")
    assert (finding.evidence[0].start_ns, finding.evidence[0].end_ns) == (30 * MS, 70 * MS)


def test_without_work_of_a_gpu_the_next_question_is_about_what_is_there() -> None:
    """A memory snapshot or a log of collectives is not sent to `info`, which says no more."""
    allocated = run(allocations=[{"start_ns": 5, "end_ns": 5, "size_bytes": 8, "type": "ALLOC"}])
    logged = Run(
        [records_source(Path("rccl.log"), "RCCL log", "", [{"process": 0, "collective": "AllReduce"}], [], [("", 1)])]
    )
    verbs = [diagnose_run(each).next_command.split()[1] for each in (allocated, logged, run())]
    assert verbs == ["memory", "collectives", "info"]
    working = run(allocations=[{"start_ns": 5, "end_ns": 5}], dispatches=[{"start_ns": 0, "end_ns": 9}])
    assert diagnose_run(working).next_command.split()[1] == "kernels"

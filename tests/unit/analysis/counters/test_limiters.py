"""Every limiter is found where it is the truth, and is not found where it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from synth.counter_devices import DEVICES
from synth.kernel_work import KernelWork
from tests.kit.made_limits import DURATION_NS, cu_cycles, cycles, limited, quiet
from tests.kit.together import together
from wavewright.analysis.counters.choice import ALL_DISPATCHES, CounterChoice
from wavewright.analysis.counters.engine.evaluate import Formula, evaluate
from wavewright.analysis.counters.l2 import l2
from wavewright.analysis.counters.limiters import KernelLimit, Limiters, limiter_table, limiters
from wavewright.analysis.counters.limiters.counter_values import formulas_of_quantities
from wavewright.analysis.counters.limiters.evidence import VERDICTS, EvidenceValue, Limiter
from wavewright.analysis.counters.limiters.kernel_values import kernel_values
from wavewright.analysis.counters.limiters.launch_values import _in_full_rounds
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.facts.counters.limiters import LIMITER_RULES
from wavewright.facts.metrics.panels import panels_of
from wavewright.readers.counters import open_counters

ALWAYS = [name for name, rule in LIMITER_RULES.items() if not rule.is_optional]  # without counters of a profiler
AT_MOST_LIKELY = {name for name, limiter in LIMITER_RULES.items() if limiter.at_most == "likely"} | {"remote traffic"}


def _made(folder: Path, target: str) -> Limiters:
    """One capture with a kernel at every limit, and one at none."""
    works = (*limited(target).values(), quiet(DEVICES[target]))
    write_counters(folder, CounterCapture(target, works, jitter=0.0))
    return limiters(open_counters(folder))


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> Limiters:
    return _made(tmp_path_factory.mktemp("limits"), "gfx942")


@pytest.fixture(scope="module", params=["gfx90a", "gfx942", "gfx950"])
def of_target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Limiters:
    return _made(tmp_path_factory.mktemp("limits"), request.param)


def _kernel(answer: Limiters, name: str) -> KernelLimit:
    return next(kernel for kernel in answer.kernels if kernel.kernel_name == name)


def _limiter(kernel: KernelLimit, name: str) -> Limiter:
    return next(limiter for limiter in kernel.limiters if limiter.name == name)


@pytest.mark.first_case
@together("name", ALWAYS)
def test_a_limiter_is_found_where_it_is_the_truth(of_target: Limiters, name: str) -> None:
    kernel = _kernel(of_target, name)
    found = _limiter(kernel, name)
    assert found.verdict == ("likely" if name in AT_MOST_LIKELY else "at limit"), found
    assert name in kernel.limits
    assert found.remedy


@pytest.mark.first_case
@together("name", ALWAYS)
def test_a_limiter_is_not_found_where_it_is_not(of_target: Limiters, name: str) -> None:
    found = _limiter(_kernel(of_target, "quiet"), name)
    assert found.verdict == "excluded", found
    assert found.gain_share_max is None


def test_the_limiters_of_a_kernel_come_in_the_order_of_their_verdicts(answer: Limiters) -> None:
    order = {"at limit": 0, "likely": 1, "undecided": 2, "excluded": 3}
    for kernel in answer.kernels:
        ranks = [order[one.verdict] for one in kernel.limiters]
        assert ranks == sorted(ranks)
        assert {one.name for one in kernel.limiters} == set(ALWAYS)


def test_kernels_come_longest_first_with_their_share(answer: Limiters) -> None:
    totals = [kernel.duration_ns_total or 0.0 for kernel in answer.kernels]
    assert totals == sorted(totals, reverse=True)
    assert sum(kernel.duration_share or 0.0 for kernel in answer.kernels) == pytest.approx(1.0)


def test_a_busy_unit_excludes_latency_and_occupancy(answer: Limiters) -> None:
    kernel = _kernel(answer, "memory bandwidth")
    for name in ("latency", "L2 and memory latency", "occupancy: VGPRs"):
        assert _limiter(kernel, name).verdict == "excluded"
    assert "memory bandwidth is at its limit" in _limiter(kernel, "latency").reason


def test_the_gain_of_a_unit_is_what_its_peak_leaves(answer: Limiters) -> None:
    found = _limiter(_kernel(answer, "memory bandwidth"), "memory bandwidth")
    assert found.gain_share_max == pytest.approx(0.1, abs=0.001)
    deciding = found.evidence[0]
    assert deciding.value == pytest.approx(90.0, abs=0.1)
    assert deciding.amount == pytest.approx(0.9 * 5324.8, rel=1e-3)
    assert deciding.peak == pytest.approx(5324.8)


def test_the_gain_of_conflicts_is_their_part_of_the_time(answer: Limiters) -> None:
    found = _limiter(_kernel(answer, "LDS bank conflicts"), "LDS bank conflicts")
    assert found.gain_share_max == pytest.approx(0.5, abs=0.001)


def test_numbers_agree_with_l2(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942"))
    counters = open_counters(tmp_path)
    by_name = {row["kernel_name"]: row for row in l2(counters).kernels.iter_rows(named=True)}
    for kernel in limiters(counters).kernels:
        limiter = _limiter(kernel, "memory bandwidth")
        assert limiter.evidence[0].value == pytest.approx(100 * by_name[kernel.kernel_name]["peak_share"])


def _with(folder: Path, *counters: str, works: tuple[KernelWork, ...] = ()) -> KernelLimit:
    """The longest kernel of a capture that has only these counters."""
    capture = CounterCapture("gfx942", works or (limited()["memory bandwidth"],), jitter=0.0)
    write_counter_csv(folder, capture, passes=[counters])
    return limiters(open_counters(folder)).kernels[0]


def test_missing_counters_leave_limiters_undecided_and_are_named(tmp_path: Path) -> None:
    kernel = _with(tmp_path, "SQ_WAVES", "GRBM_GUI_ACTIVE", "SQ_ACTIVE_INST_VALU")
    assert _limiter(kernel, "VALU throughput").verdict == "excluded"
    lacking = _limiter(kernel, "memory bandwidth")
    assert lacking.verdict == "undecided"
    assert {"TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B", "TCC_EA0_WRREQ", "TCC_EA0_WRREQ_64B"} <= set(lacking.missing_counters)
    conflicts = _limiter(kernel, "LDS bank conflicts")
    assert set(conflicts.missing_counters) == {"SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE"}
    assert kernel.summary.startswith("not decided")


def test_latency_is_not_claimed_while_a_unit_may_be_busy(tmp_path: Path) -> None:
    works = (limited()["latency"],)
    kernel = _with(tmp_path, "SQ_WAVES", "SQ_WAIT_ANY", "SQ_WAVE_CYCLES", "GRBM_GUI_ACTIVE", works=works)
    found = _limiter(kernel, "latency")
    assert found.verdict == "undecided"
    assert "memory bandwidth" in found.reason
    assert "TCC_EA0_RDREQ" in found.missing_counters


def test_the_plan_collects_what_is_missing(tmp_path: Path) -> None:
    from wavewright.analysis.counters.plan import plan_capture

    kernel = _with(tmp_path, "SQ_WAVES", "GRBM_GUI_ACTIVE")
    words = kernel.plan.split()
    assert words[:5] == ["wavewright", "counters", "--plan", "--target", "gfx942"]
    asked: dict[str, list[str]] = {"--metric": [], "--panel": []}
    for option, value in zip(words[5::2], words[6::2], strict=True):
        asked[option].append(value)
    plan = plan_capture("gfx942", panels=asked["--panel"], metrics=asked["--metric"])
    planned = set(plan.counters["counter"].to_list())
    for limiter in kernel.of("undecided"):
        for counter in limiter.missing_counters:
            assert any(counter in name for name in planned), counter


def test_busy_cycles_that_are_not_the_kernels_own_exclude_nothing(tmp_path: Path) -> None:
    """Counters that ran ten times as long as the kernel dilute every share of cycles."""
    device = DEVICES["gfx942"]
    base = limited()["VALU throughput"]
    long = replace(base, counters={**base.counters, "GRBM_GUI_ACTIVE": 10 * cycles(device) * device.xcd_count})
    write_counters(tmp_path, CounterCapture("gfx942", (long,), jitter=0.0, with_channels=False))
    answer = limiters(open_counters(tmp_path))
    assert "diluted_cycles" in {caveat.name for caveat in answer.caveats}
    found = _limiter(answer.kernels[0], "VALU throughput")
    assert found.verdict == "undecided"
    assert "9.0 to 85.5 %" in found.reason


def test_a_share_above_its_peak_is_not_believed(tmp_path: Path) -> None:
    device = DEVICES["gfx942"]
    wrong = replace(quiet(device), counters={"SQ_ACTIVE_INST_VALU": 3 * cu_cycles(device)})
    write_counters(tmp_path, CounterCapture("gfx942", (wrong,), jitter=0.0, with_channels=False))
    found = _limiter(limiters(open_counters(tmp_path)).kernels[0], "VALU throughput")
    assert found.verdict == "undecided"
    assert "cannot be true" in found.reason


def test_zero_durations_give_no_rates_but_a_caveat(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942", with_channels=False))
    table = pl.read_csv(tmp_path / "pmc_perf.csv").with_columns(End_Timestamp=pl.col("Start_Timestamp"))
    table.write_csv(tmp_path / "pmc_perf.csv")
    for level in tmp_path.glob("SQ*.csv"):
        level.unlink()
    answer = limiters(open_counters(tmp_path))
    assert "no_durations" in {caveat.name for caveat in answer.caveats}
    for kernel in answer.kernels:
        assert _limiter(kernel, "memory bandwidth").verdict == "undecided"
        assert "timestamps" in _limiter(kernel, "memory bandwidth").reason


def test_signs_that_speak_against_it_make_a_limit_likely_only() -> None:
    calm = {
        "memory_bandwidth": EvidenceValue("memory_bandwidth", 90.0),
        "write_starvation": EvidenceValue("write_starvation", 1.0),
    }
    found = next(one for one in judged(calm) if one.name == "memory bandwidth")
    assert (found.verdict, found.confidence) == ("likely", "medium")
    starved = calm | {"write_starvation": EvidenceValue("write_starvation", 20.0)}
    found = next(one for one in judged(starved) if one.name == "memory bandwidth")
    assert (found.verdict, found.confidence) == ("at limit", "high")


def test_registers_stand_in_for_counters_that_were_not_collected() -> None:
    values = {
        "occupancy": EvidenceValue("occupancy", 20.0),
        "dependency_wait": EvidenceValue("dependency_wait", 90.0),
        "fits_vgpr": EvidenceValue("fits_vgpr", 12.5),
        **{name: EvidenceValue(name, 1.0) for name in ("memory_bandwidth", "l2_bandwidth", "l1_bandwidth")},
        **{name: EvidenceValue(name, 1.0) for name in ("lds_busy", "mfma_busy", "valu_busy")},
    }
    found = next(one for one in judged(values) if one.name == "occupancy: VGPRs")
    assert (found.verdict, found.confidence) == ("likely", "low")
    assert "computed, not measured" in found.confidence_reason


def test_passes_that_disagree_make_nothing_certain(tmp_path: Path) -> None:
    capture = CounterCapture("gfx942", (limited()["VALU throughput"],), jitter=0.0)
    names = ["SQ_WAVES", "SQ_ACTIVE_INST_VALU", "GRBM_GUI_ACTIVE"]
    write_counter_csv(tmp_path, capture, passes=[names, ["SQ_WAVES", "SQ_BUSY_CYCLES"]])
    second = tmp_path / "pass_2" / "out_counter_collection.csv"
    table = pl.read_csv(second)
    longer = table["Start_Timestamp"] + 2 * (table["End_Timestamp"] - table["Start_Timestamp"])
    table.with_columns(End_Timestamp=longer).write_csv(second)
    answer = limiters(open_counters(tmp_path))
    assert "durations_differ" in {caveat.name for caveat in answer.caveats}
    found = _limiter(answer.kernels[0], "VALU throughput")
    assert (found.verdict, found.confidence) == ("at limit", "medium")
    # As old rocprof writes them: each dispatch starts when the one before ended, the first one long before.
    ends = table.sort("End_Timestamp").select("Dispatch_Id", "End_Timestamp").unique(maintain_order=True)
    starts = ends.with_columns(Start_Timestamp=pl.col("End_Timestamp").shift(1).fill_null(1))
    table.drop("Start_Timestamp").join(starts.drop("End_Timestamp"), on="Dispatch_Id").write_csv(second)
    assert "durations_differ" not in {caveat.name for caveat in limiters(open_counters(tmp_path)).caveats}


def test_one_kernel_can_be_asked_for(tmp_path: Path) -> None:
    write_counters(tmp_path, CounterCapture("gfx942", with_channels=False))
    answer = limiters(open_counters(tmp_path), choice=CounterChoice(kernels=("gemm",)))
    assert [kernel.kernel_name.split("(")[0] for kernel in answer.kernels] == ["tile_gemm"]
    everything = limiters(open_counters(tmp_path)).kernels
    share = next(kernel.duration_share for kernel in everything if kernel.kernel_name == answer.kernels[0].kernel_name)
    assert answer.kernels[0].duration_share == pytest.approx(share)  # of the capture, not of what was asked for
    assert share is not None and share < 1.0


def test_the_table_has_every_limiter_of_every_kernel(answer: Limiters) -> None:
    table = limiter_table(answer)
    assert table.height == len(answer.kernels) * len(ALWAYS)
    assert {"at limit", "likely", "excluded"} <= set(table["verdict"].unique()) <= set(VERDICTS)


@together("target", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_every_metric_that_limiters_name_exists_or_is_known_to_be_absent(target: str) -> None:
    absent = {quantity for quantity, formula in formulas_of_quantities(target).items() if not formula.text}
    only_950 = {f"{unit}_{way}_stall" for unit in ("memory", "fabric", "pcie") for way in ("read", "write")}
    only_950 |= {"translation_stall"}
    expected = set() if target == "gfx950" else set(only_950)
    if target in ("gfx908", "gfx90a"):
        expected |= {"mfma_f8"}
    if target == "gfx942":
        expected |= {"l2_read_latency"}
    if target == "gfx908":
        expected |= {"valu_flops", "valu_iops", "branch_busy", "smem_latency", "slow_valu"}
        expected |= {"transcendental", "integer", "conversions"}
        expected |= {"mfma_busy", "mfma_f16", "mfma_bf16", "mfma_f32", "mfma_f64", "mfma_i8"}
    assert absent == expected


def test_a_chosen_kernel_has_the_numbers_that_it_has_among_all(tmp_path: Path) -> None:
    """A kernel without reads of 128 bytes cannot tell by itself whether they are counted."""
    device = DEVICES["gfx942"]
    reads = 0.4 * device.memory_gb_per_second * DURATION_NS / 64
    small = {
        "TCC_EA0_RDREQ": reads,
        "TCC_EA0_RDREQ_32B": 0,
        "TCC_BUBBLE": 0,
        "TCC_EA0_WRREQ": 0,
        "TCC_EA0_WRREQ_64B": 0,
    }
    works = (replace(quiet(device, "small reads"), counters=small), *CounterCapture().works)
    write_counter_csv(tmp_path, CounterCapture("gfx942", works, jitter=0.0), passes=[list(small)])
    counters = open_counters(tmp_path)
    among = _limiter(_kernel(limiters(counters), "small reads"), "memory bandwidth")
    assert among.verdict == "excluded"
    alone = limiters(counters, choice=CounterChoice(kernels=("small reads",)))
    assert _limiter(alone.kernels[0], "memory bandwidth") == among


@pytest.mark.parametrize(("measured", "expected"), [(80.0, 25.0), (40.0, 0.0), (None, None)])
def test_a_tail_needs_rounds_that_were_full(measured: float | None, expected: float | None) -> None:
    """1.5 rounds: the first alone uses half of the slots of both."""
    tail = _in_full_rounds(EvidenceValue("tail", 25.0), 50.0, EvidenceValue("occupancy", measured))
    assert tail.number == expected
    if measured == 40.0:  # a lower bound leaves it open
        occupancy = EvidenceValue("occupancy", measured, at_most=70.0)
        assert _in_full_rounds(EvidenceValue("tail", 25.0), 50.0, occupancy).number is None


def test_wave_slots_in_use_have_one_definition_in_panels_and_limiters(shared: Path) -> None:
    for folder in ("MI200", "MI300X_A1"):
        counters = open_counters(shared / "data/pmc-rocprofcompute-vcopy" / folder)
        kernel = kernel_values(counters, ALL_DISPATCHES).kernels[0]
        panel = panels_of(counters.system.target or "")[0]
        metric = next(metric for metric in panel.tables[0].metrics if metric.name == "Wavefront Occupancy")
        formulas = {"waves": Formula.of(metric), "peak": Formula(metric.peak or "")}
        frame = evaluate(counters, formulas).frame
        assert kernel.values["occupancy"].number == pytest.approx(100 * frame["waves"].item() / frame["peak"].item())
        assert (
            kernel.values["tail"].number == 0
        )  # 1.7 rounds by registers on the second, but only 26 % of the slots were in use


def test_code_and_constants_that_are_fetched_once_limit_nothing(tmp_path: Path) -> None:
    """Half of the fetches miss, but each CU fetches a handful of lines: their first use, which no code avoids."""
    device, works = DEVICES["gfx942"], limited("gfx942")
    few = 8.0 * device.cu_count
    caches = {
        "instruction fetch": {"SQC_ICACHE_REQ": 2 * few, "SQC_ICACHE_HITS": few, "SQC_ICACHE_MISSES": few},
        "scalar cache": {"SQC_DCACHE_REQ": 2 * few, "SQC_DCACHE_HITS": few, "SQC_DCACHE_MISSES": few},
    }
    cold = [replace(works[name], counters=works[name].counters | made) for name, made in caches.items()]
    write_counters(tmp_path, CounterCapture("gfx942", tuple(cold), jitter=0.0))
    answer = limiters(open_counters(tmp_path))
    for name in caches:
        limiter = _limiter(_kernel(answer, name), name)
        assert limiter.verdict == "excluded"
        assert "each cache must fetch a line once" in limiter.reason


def test_a_few_remote_requests_limit_nothing(tmp_path: Path) -> None:
    """All of the writes leave the memory of the GPU, but they are 8 of all requests to L2."""
    work = limited("gfx942")["remote traffic"]
    reads = {"TCC_EA0_RDREQ_DRAM": 1e6, "TCC_EA0_RDREQ": 1e6}
    few = replace(work, counters=work.counters | reads | {"TCC_EA0_WRREQ": 8, "TCC_EA0_WRREQ_DRAM": 0})
    write_counters(tmp_path, CounterCapture("gfx942", (few,), jitter=0.0))
    limiter = _limiter(_kernel(limiters(open_counters(tmp_path)), "remote traffic"), "remote traffic")
    assert limiter.verdict == "excluded"
    assert limiter.reason.endswith("few requests cost no time")


def test_idle_lanes_of_an_unknown_gpu_are_not_called_the_limit(tmp_path: Path) -> None:
    """Old rocprof names no GPU: lanes at work are known, but not whether vector arithmetic takes any of the time."""
    columns = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size"
    path = tmp_path / "results.csv"
    path.write_text(
        f"{columns},sig,obj,Wavefronts,VALUUtilization,GRBM_GUI_ACTIVE\n"
        '0,"attention.kd",1,0,0,7,7,65536,256,0,0,64,0,32,64,0x0,0x1,1024,3.0,261054\n'
    )
    (kernel,) = limiters(open_counters(path)).kernels
    limiter = _limiter(kernel, "divergence")
    assert limiter.verdict == "undecided"
    assert "3.0 %" in limiter.reason
    assert "whether it costs time is not known" in limiter.reason


def test_translations_must_take_time_to_limit(tmp_path: Path) -> None:
    """Half of the translations miss: in a kernel of 3.6 us, and in one where few are made, that costs no time."""
    work = limited("gfx942")["address translation"]
    few = dict.fromkeys(("TCP_UTCL1_TRANSLATION_HIT", "TCP_UTCL1_TRANSLATION_MISS"), 200.0)
    works = (
        replace(work, name="short", duration_ns=3_600),
        replace(work, name="few", counters=work.counters | few | {"TCP_UTCL1_REQUEST": 400}),
        work,
    )
    write_counters(tmp_path, CounterCapture("gfx942", works, jitter=0.0))
    answer = limiters(open_counters(tmp_path))
    found = {name: _limiter(_kernel(answer, name), "address translation") for name in ("short", "few", work.name)}
    assert [each.verdict for each in found.values()] == ["excluded", "excluded", "likely"]
    assert "for the first time" in found["short"].reason
    assert "few misses cost no time" in found["few"].reason
    assert found[work.name].confidence == "low"  # no counter of this GPU tells that anything waits for them


def _remote(folder: Path, passes: list[list[str]], **counters: float) -> Limiter:
    work = limited("gfx942")["remote traffic"]
    capture = CounterCapture("gfx942", (replace(work, counters=work.counters | counters),), jitter=0.0)
    write_counter_csv(folder, capture, passes=passes)
    return _limiter(_kernel(limiters(open_counters(folder)), "remote traffic"), "remote traffic")


def test_passes_that_differ_tell_no_remote_traffic(tmp_path: Path) -> None:
    """The difference of two counters is that of two executions where no pass has both."""
    common = ["SQ_WAIT_ANY", "SQ_WAVE_CYCLES", "TCC_REQ", "GRBM_GUI_ACTIVE"]
    reads, writes = (["TCC_EA0_RDREQ", "TCC_EA0_RDREQ_DRAM"], ["TCC_EA0_WRREQ", "TCC_EA0_WRREQ_DRAM"])
    together = _remote(tmp_path / "together", [[*common, *reads], [*common, *writes]])
    assert together.verdict == "likely"
    apart = _remote(tmp_path / "apart", [[*common, reads[0], writes[0]], [*common, reads[1], writes[1]]])
    assert apart.verdict == "undecided"
    assert "different passes" in apart.reason
    # More writes to this GPU's memory than writes: what is said of reads is as doubtful.
    made = {"TCC_EA0_WRREQ": 1e6, "TCC_EA0_WRREQ_DRAM": 1.2e6}
    contradicted = _remote(tmp_path / "contradicted", [[*common, *reads, *writes]], **made)
    assert contradicted.verdict == "excluded"
    assert "executions that differ" in contradicted.reason


@pytest.mark.parametrize(("share", "is_measured"), [(99.0, True), (101.0, False)])
def test_a_share_of_remote_traffic_above_all_is_none(share: float, is_measured: bool) -> None:
    assert EvidenceValue("remote_reads", share).is_measured == is_measured
    assert EvidenceValue("l2_bandwidth", share).is_measured

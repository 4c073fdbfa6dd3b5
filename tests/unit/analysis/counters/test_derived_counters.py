"""Counters that rocprofv3 derives are evidence, and the two questions about accesses are always answered in words."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from synth.counter_capture import CounterCapture, write_counters
from tests.kit.made_limits import limited
from tests.unit.readers.counters.test_counters import long_row, write
from wavewright.analysis.counters.choice import ALL_DISPATCHES
from wavewright.analysis.counters.limiters import KernelLimit, _summary, limiters
from wavewright.analysis.counters.limiters.counter_values import with_derived
from wavewright.analysis.counters.limiters.evidence import EvidenceValue, Limiter
from wavewright.analysis.counters.limiters.kernel_values import kernel_values, traffic_of
from wavewright.analysis.counters.limiters.verdicts import judged
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters
from wavewright.words.counters.access import access_lines


def _limiter(kernel: KernelLimit, name: str) -> Limiter:
    return next(limiter for limiter in kernel.limiters if limiter.name == name)


def _capture(folder: Path, target: str, **values: tuple[float, float]) -> CounterSet:
    """Two dispatches of one kernel, of 100 and 300 ns."""
    rows = [
        long_row(number + 1, name, value, begin=1000 * number, end=1000 * number + (100, 300)[number])
        for name, pair in values.items()
        for number, value in enumerate(pair)
    ]
    return open_counters(write(folder / "a_counter_collection.csv", *rows), target=target or None)


def test_longer_dispatches_weigh_more(tmp_path: Path) -> None:
    kernel = limiters(_capture(tmp_path, "gfx942", MemUnitBusy=(50.0, 90.0), VALUBusy=(10.0, 30.0))).kernels[0]
    unit = _limiter(kernel, "memory unit")
    assert unit.evidence[0].value == pytest.approx((100 * 50 + 300 * 90) / 400)
    assert (unit.verdict, unit.gain_share_max) == ("likely", None)
    assert "(MemUnitBusy; threshold 80 %)" in unit.reason
    valu = _limiter(kernel, "VALU throughput")
    assert (valu.verdict, valu.evidence[0].value) == ("excluded", pytest.approx(25.0))


@pytest.mark.parametrize(("target", "expected"), [("gfx942", 80.0), ("gfx1151", 20.0)])
def test_valu_busy_is_over_all_simds(target: str, expected: float, tmp_path: Path) -> None:
    kernel = limiters(_capture(tmp_path, target, VALUBusy=(80.0, 80.0))).kernels[0]
    assert _limiter(kernel, "VALU throughput").evidence[0].value == pytest.approx(expected)


def test_without_a_known_gpu_only_what_means_the_same_everywhere_counts(tmp_path: Path) -> None:
    counters = _capture(tmp_path, "", VALUBusy=(80.0, 80.0), MemUnitBusy=(90.0, 90.0), LDSBankConflict=(0.0, 0.0))
    kernel = limiters(counters).kernels[0]
    assert _limiter(kernel, "VALU throughput").verdict == "undecided"
    assert _limiter(kernel, "memory unit").verdict == "likely"
    assert _limiter(kernel, "LDS bank conflicts").verdict == "excluded"
    assert access_lines(kernel.limiters)[0] == "LDS bank conflicts: none"


def test_counters_of_the_hardware_come_before_derived_ones() -> None:
    measured = EvidenceValue("valu_busy", 70.0, "2.1.10")
    derived = {"valu_busy": EvidenceValue("valu_busy", 1.0, source="VALUBusy")}
    assert with_derived({"valu_busy": measured}, derived)["valu_busy"] is measured
    missing = EvidenceValue("valu_busy", None, missing=("SQ_ACTIVE_INST_VALU",))
    assert with_derived({"valu_busy": missing}, derived) == derived


def test_accesses_in_words(tmp_path: Path) -> None:
    works = tuple(limited()[name] for name in ("LDS bank conflicts", "uncoalesced access", "VALU throughput"))
    write_counters(tmp_path, CounterCapture("gfx942", works, jitter=0.0))
    lines = {kernel.kernel_name: access_lines(kernel.limiters) for kernel in limiters(open_counters(tmp_path)).kernels}
    assert "of the LDS cycles (" in lines["LDS bank conflicts"][0]
    assert lines["uncoalesced access"][1].startswith("uncoalesced access: yes, ")
    assert all(len(two) == 2 for two in lines.values())


def test_the_batched_gemm_of_an_mi300x(shared: Path) -> None:
    kernel = limiters(open_counters(shared / "data" / "pmc-mi300x-bmm")).kernels[0]
    conflicts, coalescing = access_lines(kernel.limiters)
    assert conflicts.startswith(
        "LDS bank conflicts: half of the LDS cycles (2,097,152 of 4,194,304): on average an LDS "
    )
    assert "takes twice as long" in conflicts
    # `lanes` of its trace: one load of 12 instructions makes 1,024 of 1,344 lookups.
    assert coalescing.startswith("uncoalesced access: not on average, 14 lookups of L1 per memory instruction")
    assert "the mean can hide scattered ones, up to 64 in one of them" in coalescing


def test_a_mean_excludes_scattered_accesses_only_where_a_wave_makes_too_few_lookups(tmp_path: Path) -> None:
    """One load and one store of 16 lookups each, against 12 accesses of which one may take 64."""
    for number, (accesses, lookups, answer) in enumerate(((2, 32, "no, 16 "), (12, 168, "not on average, 14 "))):
        counters = _capture(
            tmp_path / str(number),
            "gfx942",
            SQ_WAVES=(100, 100),
            TA_TOTAL_WAVEFRONTS_sum=(100 * accesses, 100 * accesses),
            TCP_TOTAL_CACHE_ACCESSES_sum=(100 * lookups, 100 * lookups),
        )
        kernel = limiters(counters).kernels[0]
        limiter = _limiter(kernel, "uncoalesced access")
        assert access_lines(kernel.limiters)[1].startswith(f"uncoalesced access: {answer}")
        assert limiter.verdict == ("excluded" if accesses == 2 else "undecided")


@pytest.mark.parametrize(("tags", "first"), [(24.0, "matrix throughput"), (70.0, "L1 tag conflicts")])
def test_a_waste_stands_behind_a_unit_that_is_busy_for_more_of_the_time(tags: float, first: str) -> None:
    """Two counters agree on the waste, and one speaks for the unit: their parts of the time decide."""
    shares = {"l1_tag_stall": tags, "ta_busy": 68.0, "mfma_busy": 64.0, "coalescing": 60.0}
    found = judged({name: EvidenceValue(name, value) for name, value in shares.items()})
    likely = [limiter.name for limiter in found if limiter.verdict in ("at limit", "likely")]
    assert likely[0] == first
    assert set(likely) == {"matrix throughput", "L1 tag conflicts"}


def test_waiting_is_no_cause_of_waiting_for_memory() -> None:
    shares = {"l1_waits_for_l2_data": 45.0, "dependency_wait": 64.0, "occupancy": 13.0, "valu_busy": 12.0}
    shares |= dict.fromkeys(("memory_bandwidth", "l2_bandwidth", "l1_bandwidth", "lds_busy", "mfma_busy"), 5.0)
    found = judged({name: EvidenceValue(name, value) for name, value in shares.items()})
    at, likely = ([limiter for limiter in found if limiter.verdict == verdict] for verdict in ("at limit", "likely"))
    assert ([limiter.name for limiter in at], likely[0].name) == (["L2 and memory latency"], "latency")
    assert "perhaps because of latency" not in _summary(at, likely, found)


@pytest.mark.parametrize(("bandwidth", "verdict"), [(63.0, "likely"), (12.0, "excluded")])
def test_scattered_accesses_cost_where_lookups_of_l1_take_the_time(bandwidth: float, verdict: str) -> None:
    """63 lookups instead of 16 are what fills L1, although its address unit has time to spare and nothing waits."""
    shares = {"coalescing": 25.4, "lines_per_access": 63.0, "lines_per_access_most": 64.0, "ta_busy": 40.0}
    shares |= {"l1_waits_for_l2_data": 9.0, "l1_bandwidth": bandwidth, "td_busy": 75.0}
    found = judged({name: EvidenceValue(name, value) for name, value in shares.items()})
    (limiter,) = (limiter for limiter in found if limiter.name == "uncoalesced access")
    assert limiter.verdict == verdict
    assert ("it costs little" in access_lines(found)[1]) == (verdict == "excluded")


@pytest.mark.parametrize(("share", "verdict"), [(0.0, "excluded"), (2.0, "excluded"), (20.0, "likely")])
def test_conflicts_that_the_profiler_derived_are_measured(share: float, verdict: str, tmp_path: Path) -> None:
    """On CDNA it is a share of the time of all CUs: nothing else need tell what it costs."""
    kernel = limiters(_capture(tmp_path, "gfx90a", LDSBankConflict=(share, share))).kernels[0]
    limiter = _limiter(kernel, "LDS bank conflicts")
    assert limiter.verdict == verdict
    words = f"{share:.1f} % of the cycles of the CUs" if share else "none"
    assert access_lines(kernel.limiters)[0] == f"LDS bank conflicts: {words}"


def test_what_the_profiler_derived_is_one_number_in_every_verb(tmp_path: Path) -> None:
    counters = _capture(
        tmp_path, "gfx90a", MeanOccupancyPerCU=(8.0, 8.0), FetchSize=(3.0, 3.0), L2CacheHit=(40.0, 60.0)
    )
    values = kernel_values(counters, ALL_DISPATCHES).kernels[0].values
    assert values["occupancy"].number == pytest.approx(25.0)  # of 32
    row = traffic_of(counters)[0].popitem()[1]
    assert row["read_bytes_mean"] == 3 * 1024
    assert row["hit_rate"] == pytest.approx(0.55)
    assert values["l2_hit_rate"].number == pytest.approx(55.0)  # the second dispatch took three times as long


def test_derived_counters_of_a_real_run(shared: Path) -> None:
    folder = shared / "data" / "gfx1151-rocprofv3-llama"
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    with (folder / "decode_stall_counter_collection.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["Counter_Name"] == "MemUnitBusy":
                length = int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
                sums[row["Kernel_Name"]][0] += length * float(row["Counter_Value"])
                sums[row["Kernel_Name"]][1] += length
    kernels = limiters(open_counters(folder / "decode_stall_counter_collection.csv")).kernels
    assert len(kernels) == len(sums) == 17
    for kernel in kernels:
        product, length = sums[kernel.kernel_name]
        assert _limiter(kernel, "memory unit").evidence[0].value == pytest.approx(product / length)


def _memory(folder: Path, target: str, kibibytes: float, duration_ns: int) -> Limiter:
    row = long_row(1, "FETCH_SIZE", kibibytes, begin=0, end=duration_ns)
    counters = open_counters(write(folder / "a_counter_collection.csv", row), target=target or None)
    return _limiter(limiters(counters).kernels[0], "memory bandwidth")


def test_bytes_that_the_profiler_derived_are_a_bound_where_writes_are_not_counted(tmp_path: Path) -> None:
    most = _memory(tmp_path / "most", "gfx1151", 500_000, 2_300_000)  # 512 MB at 222.6 GB/s; the peak is 256
    assert (most.verdict, most.evidence[0].value) == ("at limit", pytest.approx(100 * 512e6 / 2.3e-3 / 256e9))
    little = _memory(tmp_path / "little", "gfx1151", 50_000, 1_000_000)
    assert (little.verdict, little.reason[:22]) == ("undecided", "at least 20.0 % of the")
    assert set(little.missing_counters) == {"GL2C_MC_WRREQ", "GL2C_EA_WRREQ_64B"}  # reads are known
    unknown = _memory(tmp_path / "unknown", "", 50_000, 1_000_000)
    assert unknown.reason == "51.20 GB read per second, but the peak bandwidth of this GPU is not known (--target)"


def test_what_the_infinity_cache_can_hold_proves_no_limit_of_the_memory(tmp_path: Path) -> None:
    held = _memory(tmp_path / "held", "gfx1151", 20_000, 90_000)  # 20.5 of 33.6 MB, at 227.6 GB/s
    assert (held.verdict, held.confidence) == ("likely", "medium")
    assert "or of the Infinity Cache, which can hold all of it" in held.reason
    above = _memory(tmp_path / "above", "gfx1151", 20_000, 50_000)
    assert above.verdict == "undecided"
    assert "served by a cache behind L2" in above.reason
    assert _memory(tmp_path / "without", "gfx90a", 20_000, 15_000).verdict == "at limit"  # MI200 has none


def test_a_share_above_its_whole_says_why() -> None:
    assert EvidenceValue("dependency_wait", 99.0).words.endswith("99.0 %")
    assert (
        "104.4 % (more than possible: its counters are of different passes)"
        in EvidenceValue("dependency_wait", 104.4).words
    )

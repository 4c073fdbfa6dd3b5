from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from synth.counter_capture import CounterCapture, write_counters
from tests.kit.together import together
from tests.unit.readers.counters.test_counters import long_row, write
from wavewright.analysis.counters.engine.evaluate import Formula, evaluate
from wavewright.analysis.counters.l2 import L2, l2
from wavewright.analysis.counters.l2.verdict import findings, verdict
from wavewright.analysis.counters.limiters.evidence import EvidenceValue
from wavewright.analysis.counters.limiters.kernel_values import memory_values, traffic_of
from wavewright.errors import UsageError
from wavewright.facts.counters.l2_traffic import traffic_formulas
from wavewright.facts.metrics.expression import parse
from wavewright.facts.metrics.panels import formula_of
from wavewright.model.blocks import Table
from wavewright.readers.counters import open_counters
from wavewright.words.counters.l2 import l2_report

# Paged-attention decode: 8.55 GB have to be read in 3 ms, that is 2.85 TB/s.
IDEAL_GB, NANOSECONDS = 8.55, 3_000_000
READS_128 = round(IDEAL_GB * 1e9 * 1.04 / 128)


def worked_example(folder: Path, *, bubble: bool) -> list[Path]:
    """Two runs of three dispatches: hits and misses in one, fabric reads in the other."""
    hits, reads = [], []
    for dispatch in (1, 2, 3):
        time = {"begin": dispatch * 10_000_000, "end": dispatch * 10_000_000 + NANOSECONDS}
        hits += [
            long_row(dispatch, f"{name}_sum", value, **time) for name, value in (("TCC_HIT", 17), ("TCC_MISS", 983))
        ]
        hits.append(long_row(dispatch, "TCP_TCC_READ_REQ_sum", 1000, **time))
        reads.append(long_row(dispatch, "TCC_EA0_RDREQ_sum", READS_128, **time))
        reads.append(long_row(dispatch, "TCC_EA0_RDREQ_32B_sum", 0, **time))
        if bubble:
            reads.append(long_row(dispatch, "TCC_BUBBLE_sum", READS_128, **time))
    return [
        write(folder / "pass_1/pmc_l2_counter_collection.csv", *hits),
        write(folder / "pass_2/pmc_ea_counter_collection.csv", *reads),
    ]


def _row(answer: L2) -> dict[str, object]:
    return answer.kernels.row(0, named=True)


@pytest.mark.parametrize("uncounted", ["read", "write"])
def test_memory_of_which_one_side_is_not_counted_may_be_the_limit(uncounted: str) -> None:
    row = {"hit_rate": 0.01, "peak_share": 0.07, "read_bytes_mean": 3e7, "write_bytes_mean": 3e7}
    row |= {"read_bytes_per_second": 3e11, "write_bytes_per_second": 3e11}
    assert verdict(findings(row)) == "streaming, memory bandwidth is not the limit"
    answers = findings(row | {f"{uncounted}_bytes_mean": None})
    assert (answers[-1].verdict, answers[-1].reason) == (
        "unclear",
        f"at least 7.0 % of the peak: the bytes of {uncounted}s were not counted",
    )
    assert "limit" not in verdict(answers)
    busy = row | {f"{uncounted}_bytes_mean": None, "peak_share": None, "peak_share_at_least": 0.85}
    assert findings(busy)[-1].verdict == "yes"
    assert findings(busy)[-1].reason.startswith("at least 85.0 % of the peak")
    bandwidth = memory_values(busy, EvidenceValue("memory_bandwidth", None))["memory_bandwidth"]
    assert " at least 85" in bandwidth.words
    assert "at at" not in bandwidth.words


@pytest.mark.parametrize("bubble", [True, False])
def test_the_worked_example(bubble: bool, tmp_path: Path) -> None:
    counters = [open_counters(file) for file in worked_example(tmp_path, bubble=bubble)]
    answer = l2(*counters, ideal_gb=IDEAL_GB, gpu="MI300X", ea_channels=None if bubble else 2)
    row = _row(answer)
    assert row["hit_rate"] == pytest.approx(0.017)
    assert row["read_32b_share"] == 0
    assert row["over_fetch"] == pytest.approx(1.04, abs=1e-6)
    assert row["useful_bytes_per_second"] == pytest.approx(2.85e12)
    assert round(row["useful_peak_share"], 2) == 0.54
    assert row["peak_share_at_least"] == pytest.approx(1.04 * row["useful_peak_share"])
    assert row["verdict"] == "streaming, nothing to fix"
    assert row["l1_read_requests_mean"] == 1000
    assert row["dispatch_count"] == 3
    for table, spec in answer.tables.items():
        assert getattr(answer, table).columns == [column.name for column in spec.columns]


def test_sizes_of_reads_that_nobody_counted_are_a_lower_bound(tmp_path: Path) -> None:
    counters = [open_counters(file) for file in worked_example(tmp_path, bubble=False)]
    answer = l2(*counters, gpu="gfx942")
    row = _row(answer)
    assert row["read_bytes_mean"] == READS_128 * 64
    assert row["read_bytes_at_most"] == READS_128 * 128
    assert any("at least 64 and at most 128" in note for note in answer.notes)
    assert answer.findings["answer"].to_list() == ["no, it streams", "yes", "not measured", "unclear"]
    assert l2(*counters, gpu="gfx942", ideal_gb=IDEAL_GB).findings["answer"].to_list()[2] == "unclear"
    exact = _row(l2(*counters, gpu="MI210"))
    assert exact["read_bytes_at_most"] is None


def test_runs_are_shown_apart_and_disagreement_is_said(tmp_path: Path) -> None:
    files = [
        write(
            tmp_path / f"{run}/a_counter_collection.csv",
            long_row(1, "TCC_HIT_sum", hit),
            long_row(1, "TCC_MISS_sum", 50),
        )
        for run, hit in enumerate((50, 150))
    ]
    answer = l2(*map(open_counters, files), gpu="gfx942")
    assert answer.measurements["value"].to_list() == [0.5, 0.75]
    assert answer.measurements["run"].to_list() == [0, 1]
    assert _row(answer)["hit_rate"] == 0.5
    assert _row(answer)["dispatch_count"] == 1
    assert any("runs disagree about hit_rate" in note for note in answer.notes)


def test_counters_of_different_runs_are_never_combined(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "1/a_counter_collection.csv", long_row(1, "TCC_HIT_sum", 50)),
        write(tmp_path / "2/a_counter_collection.csv", long_row(1, "TCC_MISS_sum", 50)),
    ]
    assert _row(l2(*map(open_counters, files), gpu="gfx942"))["hit_rate"] is None


def test_passes_of_one_run_are_combined_by_dispatch_and_said(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a_counter_collection.csv",
        long_row(1, "TCC_HIT_sum", 30, begin=0, end=10),
        long_row(2, "TCC_HIT_sum", 999, begin=20, end=30),
        long_row(1, "TCC_MISS_sum", 70, begin=100, end=110),
    )
    answer = l2(open_counters(file), gpu="gfx942")
    assert _row(answer)["hit_rate"] == 0.3
    assert answer.measurements["same_pass"].to_list() == [False]
    assert answer.measurements["dispatch_count"].to_list() == [1]
    assert any("different passes" in note for note in answer.notes)


def test_sizes_on_gfx950(tmp_path: Path) -> None:
    rows = [
        long_row(1, f"TCC_EA0_RDREQ{size}_sum", value)
        for size, value in (("", 111), ("_32B", 1), ("_64B", 10), ("_128B", 100))
    ]
    rows += [long_row(1, "TCC_EA0_WRREQ_sum", 10), long_row(1, "TCC_EA0_WRREQ_64B_sum", 4)]
    row = _row(l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="MI350X"))
    assert row["read_bytes_mean"] == 32 + 640 + 12800
    assert row["write_bytes_mean"] == 6 * 32 + 4 * 64
    assert row["read_bytes_per_second"] == pytest.approx(13472 / 1000 * 1e9)
    assert row["peak_share"] == pytest.approx((13472 + 448) / 1000 * 1e9 / 8e12)


def test_old_names_of_the_fabric_counters(tmp_path: Path) -> None:
    rows = [long_row(1, "TCC_EA_RDREQ_sum", 10), long_row(1, "TCC_EA_RDREQ_32B_sum", 4)]
    row = _row(l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="MI210"))
    assert (row["read_bytes_mean"], row["read_32b_share"]) == (6 * 64 + 4 * 32, 0.4)
    assert "scattered" in str(row["verdict"])


def test_zeros_everywhere_are_not_measured(tmp_path: Path) -> None:
    names = ("GL2C_HIT", "GL2C_MISS", "GL2C_EA_RDREQ", "GL2C_EA_RDREQ_32B", "GL2C_EA_RDREQ_64B", "GL2C_EA_RDREQ_128B")
    rows = [long_row(1, f"{name}_sum", 0) for name in names] + [long_row(1, "SQ_WAVES", 524288)]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows))
    row = _row(l2(counters, gpu="gfx1201"))
    assert (row["hit_rate"], row["read_bytes_mean"], row["verdict"]) == (None, None, "not measured")
    assert any("not measured" in said and "GL2C_HIT" in said for said in counters.losses["message"])


def test_zeros_of_one_run_are_not_excused_by_counters_of_another(tmp_path: Path) -> None:
    """Each run has its own counters: where all of them are 0, no requests were counted there."""
    silent = [long_row(1, f"{name}_sum", 0) for name in ("GL2C_HIT", "GL2C_MISS")]
    counting = [long_row(1, "GL2C_EA_RDREQ_sum", 9), long_row(1, "GL2C_EA_RDREQ_32B_sum", 0)]
    files = [write(tmp_path / f"{n}_counter_collection.csv", *rows) for n, rows in enumerate((silent, counting))]
    first, second = (open_counters(file).losses["message"].item() for file in files)
    assert "clock off" in first
    assert "although requests were counted" in second
    assert open_counters(tmp_path).losses["kind"].to_list() == ["counter_silent", "counter_silent"]


def test_bytes_that_were_moved_are_compared_with_the_peak(tmp_path: Path) -> None:
    """Also where it is known which of them were needed: those are a share of their own."""
    rows = [
        long_row(1, "TCC_EA0_RDREQ_sum", 1000, begin=1, end=1001),
        long_row(1, "TCC_EA0_RDREQ_32B_sum", 0, begin=1, end=1001),
    ]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows))
    row = _row(l2(counters, gpu="MI210", ideal_gb=32_000e-9))
    assert row["over_fetch"] == pytest.approx(2)
    assert row["peak_share_at_least"] == pytest.approx(64_000 / 1e-6 / 1.6384e12)
    assert row["useful_peak_share"] == pytest.approx(32_000 / 1e-6 / 1.6384e12)


def test_the_peak_is_the_one_that_the_capture_says(tmp_path: Path) -> None:
    """Memory of another clock, or a part of it, has another peak than that of the product."""
    write_counters(tmp_path, CounterCapture("gfx942"))
    counters = open_counters(tmp_path)
    half = replace(counters.system, memory_gb_per_second=2662.4)
    said = l2(replace(counters, system=half))
    assert said.memory_bytes_per_second_peak == 2_662_400_000_000
    whole = l2(counters)
    assert said.kernels["peak_share"].to_list() == pytest.approx([2 * share for share in whole.kernels["peak_share"]])
    assert l2(replace(counters, system=half), gpu="MI300X").memory_bytes_per_second_peak == 5_324_800_000_000


def test_a_kernel_that_writes_nothing_is_measured_if_others_were(tmp_path: Path) -> None:
    rows = [
        long_row(1, "TCC_EA0_WRREQ_sum", 8, kernel="fill"),
        long_row(1, "TCC_EA0_WRREQ_64B_sum", 8, kernel="fill"),
        long_row(2, "TCC_EA0_WRREQ_sum", 0, kernel="read"),
        long_row(2, "TCC_EA0_WRREQ_64B_sum", 0, kernel="read"),
    ]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows))
    assert _row(l2(counters, kernel="read", gpu="gfx942"))["write_bytes_mean"] == 0


def test_the_bytes_of_one_side_are_no_share_of_the_peak(tmp_path: Path) -> None:
    rows = [long_row(1, f"TCC_EA0_WRREQ{size}_sum", 8 << 20) for size in ("", "_64B")]
    answer = l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="MI300X")
    row = _row(answer)
    assert row["peak_share"] is None
    assert row["peak_share_at_least"] == pytest.approx(row["write_bytes_per_second"] / 5.3e12, rel=0.01)
    (table,) = (block for block in l2_report(answer, limit=5) if isinstance(block, Table))
    assert any(cell.startswith("≥ ") for cell in table.rows[0])


def test_times_that_make_no_sense_give_no_bandwidth(tmp_path: Path) -> None:
    rows = [
        long_row(1, "TCC_EA0_RDREQ_sum", 10, begin=5, end=5),
        long_row(1, "TCC_EA0_RDREQ_32B_sum", 0, begin=5, end=5),
    ]
    answer = l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="MI210")
    assert (_row(answer)["read_bytes_per_second"], _row(answer)["peak_share"]) == (None, None)
    assert any("timestamps" in note for note in answer.notes)


def test_what_cannot_be_answered_says_what_to_do(tmp_path: Path) -> None:
    rows = [long_row(n, "TCC_HIT_sum", 1, kernel=name) for n, name in enumerate(("first", "second"))]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows))
    with pytest.raises(UsageError, match="contains 'gemm'") as caught:
        l2(counters, kernel="gemm")
    assert "first" in caught.value.advice
    with pytest.raises(UsageError, match="2"):
        l2(counters, ideal_gb=1.0)
    with pytest.raises(UsageError, match="ideal_gb is 0"):
        l2(counters, kernel="first", ideal_gb=0.0)
    assert any("--target" in note for note in l2(counters).notes)


@together(
    "row, expected",
    [
        ({"hit_rate": 0.9, "peak_share": 0.1}, "memory bandwidth is not the limit"),
        (
            {"hit_rate": 0.9, "reuse_at_least": 3.0, "reuse_at_most": 3.0, "peak_share": 0.1},
            "data reused in L2, memory bandwidth is not the limit",
        ),
        ({"hit_rate": 0.01, "over_fetch": 2.0, "peak_share": 0.9}, "streaming, reads more than it needs"),
        (
            {"hit_rate": 0.2, "reuse_at_least": 1.3, "reuse_at_most": 1.3, "peak_share": 0.85},
            "little reuse in L2, memory is well used",
        ),
        ({"read_32b_share": 0.5}, "scattered reads waste memory lines"),
        ({}, "not measured"),
    ],
)
def test_verdicts(row: dict[str, float], expected: str) -> None:
    assert verdict(findings(row)) == expected


def test_every_answer_of_the_tree_has_a_reason() -> None:
    for share in (0.1, 0.55, 0.9, 1.4):
        for factor in (0.5, 1.0, 3.0):
            found = findings(
                {"hit_rate": share / 2, "read_32b_share": share / 3, "over_fetch": factor, "peak_share": share}
            )
            assert all(finding.reason and finding.verdict for finding in found)
            assert verdict(found)


def test_real_counters_of_an_mi300x(shared: Path) -> None:
    answer = l2(open_counters(shared / "data/pmc-mi300x-bmm"))
    by_name = {row["kernel_name"][:12]: row for row in answer.kernels.iter_rows(named=True)}
    assert by_name["void batched"]["hit_rate"] == pytest.approx(0.7559, abs=5e-5)
    assert by_name["__amd_rocclr"]["hit_rate"] == pytest.approx(0.5082, abs=5e-5)
    assert (answer.target, answer.product) == ("gfx942", "MI300X")
    assert by_name["void batched"]["read_bytes_mean"] * 150 == 64 * (61_679_312 + 61_620_313)


@pytest.mark.parametrize("form", ["MI300X_A1", "MI300X_A1_rocpd"])
def test_a_vector_copy_reads_its_eight_mebibytes(form: str, shared: Path) -> None:
    row = _row(l2(open_counters(shared / "data/pmc-rocprofcompute-vcopy" / form)))
    assert row["read_bytes_mean"] == pytest.approx(8 << 20, rel=0.003)
    assert row["write_bytes_mean"] == 8 << 20


def test_counters_without_a_clock_are_not_zero_bytes(shared: Path) -> None:
    answer = l2(open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_724"), kernel="read_f4")
    assert _row(answer)["verdict"] == "not measured"
    assert answer.measurements.height == 0
    counted = l2(open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_714_profstd"), kernel="read_f4")
    assert _row(counted)["hit_rate"] == pytest.approx(0.5, abs=0.001)
    assert _row(counted)["read_bytes_mean"] == 256 * 1_048_578  # the kernel reads 256 MiB, as `counters` says
    assert isinstance(counted.kernels, pl.DataFrame)


def test_halves_of_lines_are_no_reuse(tmp_path: Path) -> None:
    """gfx12: two requests of 128 bytes for each line of 256, one of which hits."""
    lines = 1000
    rows = [long_row(1, "GL2C_HIT_sum", lines), long_row(1, "GL2C_MISS_sum", lines)]
    rows += [long_row(1, "GL2C_EA_RDREQ_sum", lines), long_row(1, "GL2C_EA_WRREQ_sum", 0)]
    answer = l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="gfx1201")
    assert _row(answer)["hit_rate"] == 0.5
    assert _row(answer)["reuse_at_most"] == 2 * lines * 128 / (lines * 256)
    assert answer.findings["answer"][0] == "no, it streams"
    without = l2(open_counters(write(tmp_path / "b_counter_collection.csv", *rows[:2])), gpu="gfx1201")
    assert without.findings["answer"][0] == "unclear"


@pytest.mark.parametrize(("target", "line"), [("MI210", 64), ("gfx942", 128)])
def test_reuse_is_requested_over_fetched_bytes(target: str, line: int, tmp_path: Path) -> None:
    rows = [long_row(1, "TCP_TCC_READ_REQ_sum", 600), long_row(1, "TCC_EA0_RDREQ_sum", 100)]
    rows += [long_row(1, "TCC_EA0_RDREQ_32B_sum", 0), long_row(1, "TCC_BUBBLE_sum", 100 if line == 128 else 0)]
    row = _row(l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu=target))
    assert row["requested_bytes_mean"] == 600 * line
    assert (row["reuse_at_least"], row["reuse_at_most"]) == (6.0, 6.0)


@pytest.mark.parametrize("sizes", [{"_32B": 193, "_64B": 6, "_128B": 6}, {"_32B": 0, "_64B": 0, "_128B": 1_050_439}])
def test_reads_of_gfx12_have_one_size_in_all_verbs(sizes: dict[str, int], tmp_path: Path) -> None:
    """As in the panels, whatever the counters by size say there."""
    values = {"": 1_050_439} | sizes
    rows = [long_row(1, f"GL2C_EA_RDREQ{size}_sum", value, begin=0, end=1_000_000) for size, value in values.items()]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows), target="gfx1201")
    read_bytes = _row(l2(counters))["read_bytes_mean"]
    assert read_bytes == 256 * 1_050_439
    assert traffic_of(counters)[0].popitem()[1]["read_bytes_mean"] == read_bytes
    panel = evaluate(counters, {"bytes": Formula(formula_of("gfx1201", "fabric_read_bytes") or "")})
    assert panel.frame["bytes"].item() == read_bytes


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"])
@pytest.mark.parametrize("metric", ["read_bytes", "write_bytes"])
def test_bytes_have_one_formula_in_panels_charts_and_here(target: str, metric: str) -> None:
    panel = parse(formula_of(target, f"fabric_{metric}") or "")
    counts = {name: 1000.0 + 10 * number for number, name in enumerate(panel.counters)}
    own = next(
        formula.expression
        for formula in traffic_formulas()
        if formula.metric == metric and set(formula.expression.counters) <= set(counts)
        if target.startswith(formula.targets)
    )
    assert own.evaluate(counts) == panel.evaluate(counts)


def test_reads_of_rdna_that_are_of_no_counted_size_are_of_96_bytes(tmp_path: Path) -> None:
    sizes = {"": 100, "_32B": 10, "_64B": 45, "_128B": 41}
    rows = [long_row(1, f"GL2C_EA_RDREQ{size}_sum", value) for size, value in sizes.items()]
    row = _row(l2(open_counters(write(tmp_path / "a_counter_collection.csv", *rows)), gpu="gfx1100"))
    assert row["read_bytes_mean"] == 10 * 32 + 45 * 64 + 4 * 96 + 41 * 128


def _sums(file: Path) -> dict[str, float]:
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    return {name: sum(float(row[name]) for row in rows) for name in rows[0] if name.endswith("_sum")}


def test_reads_of_an_mi350_whose_sizes_nobody_counted_are_bounded(shared: Path) -> None:
    folder = shared / "data/pmc-rocprofcompute-vcopy/MI350"
    reads = _sums(folder / "pmc_perf.csv")["TCC_EA0_RDREQ_sum"] / 3
    answer = l2(open_counters(folder))
    row = _row(answer)
    assert (row["read_bytes_mean"], row["read_bytes_at_most"]) == (
        pytest.approx(64 * reads),
        pytest.approx(128 * reads),
    )
    assert row["read_bytes_at_most"] == pytest.approx(8 << 20, rel=0.002)  # the kernel copies 2^20 doubles
    assert row["peak_share"] < row["peak_share_at_most"] < 2 * row["peak_share"]  # writes were counted
    assert "at least 8.5 %, at most 11.3 % of the peak" in answer.findings["reason"][3]


def test_streams_stream_whatever_their_hit_rate(shared: Path) -> None:
    read = l2(open_counters(shared / "data/gfx1201-counters-pcsampling/gl2c_724_profstd"), kernel="read_f4")
    copies = [l2(open_counters(shared / "data/pmc-rocprofcompute-vcopy" / name)) for name in ("MI200", "MI300X_A1")]
    for answer in (read, *copies):
        assert answer.findings["answer"][0] == "no, it streams"
        assert _row(answer)["hit_rate"] > 0.3
    gemm = l2(open_counters(shared / "data/pmc-mi300x-bmm"), kernel="batched")
    assert gemm.findings["answer"][0] == "yes"
    assert _row(gemm)["reuse_at_most"] == pytest.approx(1_950_955.8 * 128 / _row(gemm)["read_bytes_mean"], rel=1e-6)


def test_a_hit_rate_that_the_profiler_derived_is_read(tmp_path: Path) -> None:
    rows = [long_row(dispatch, "L2CacheHit", value) for dispatch, value in ((1, 40), (2, 60))]
    answer = l2(open_counters(write(tmp_path / "pass_1/x_counter_collection.csv", *rows)), gpu="MI210")
    assert _row(answer)["hit_rate"] == pytest.approx(0.5)
    assert answer.measurements["formula"].to_list() == ["mean of L2CacheHit"]


def test_sizes_that_exceed_their_requests_are_no_share(tmp_path: Path) -> None:
    rows = [long_row(1, "TCC_EA0_RDREQ_sum", 100), long_row(1, "TCC_EA0_RDREQ_32B_sum", 270)]
    answer = l2(open_counters(write(tmp_path / "pass_1/x_counter_collection.csv", *rows)), gpu="MI100")
    assert _row(answer)["read_32b_share"] is None

"""Counters close with the grid, the passes and the trace where they are true, and every planted fault is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import wavewright
from tests.kit.made_traces import made
from tests.kit.ui_directories import frame
from tests.unit.readers.counters.test_counters import long_row, write
from wavewright.analysis.counters.closure import EXACT, IMPOSSIBLE, OTHER_RUN, WITHIN, Closure, TracedWork, closure
from wavewright.analysis.trace.diagnose.balance import balance, traced_work
from wavewright.analysis.trace.lanes.evaluated import LaneOptions
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.model.executions import MESSAGE
from wavewright.model.trace import ThreadTrace
from wavewright.readers.counters import open_counters
from wavewright.words.counters.closure import closure_headline

# A wave of the made trace: what it executes, and the counter that counts it.
PER_WAVE = {"valu": 5, "matrix": 2, "salu": 3, "smem_load": 1, "vmem_load": 2, "lds_load": 4, "branch_conditional": 1}
COUNTED = {
    "SQ_INSTS": 19,  # with the end
    "SQ_INSTS_VALU": 7,
    "SQ_INSTS_MFMA": 2,
    "SQ_INSTS_SALU": 3,
    "SQ_INSTS_SMEM": 1,
    "SQ_INSTS_VMEM": 2,
    "SQ_INSTS_LDS": 4,
    "SQ_INSTS_BRANCH": 1,
}
WAVES = 1024  # 65,536 work-items


def _row(dispatch: int, counter: str, value: float, *, kernel: str = "k", grid: int = 65_536) -> str:
    return long_row(dispatch, counter, value, kernel=kernel).replace(",1024,3,", f",{grid},3,")


def _traced(*waves: dict[str, int]) -> TracedWork:
    rows = [
        (number, name, count)
        for number, wave in enumerate(waves)
        for name, count in (wave | {"end": 1}).items()
        if count
    ]
    executions = pl.DataFrame(rows, schema=["wave", "class", "execution_count"], orient="row")
    several = len({sum(wave.values()) for wave in waves}) > 1
    return TracedWork("gfx942", len(waves), 64, 65_536, executions, {"lds_cycles": (8.0, True)}, several, True)


def _counters(folder: Path, *, target: str = "gfx942", **values: float) -> CounterSet:
    rows = [
        _row(dispatch, name, value) for dispatch in (1, 2) for name, value in ({"SQ_WAVES": WAVES} | values).items()
    ]
    return open_counters(write(folder / "a_counter_collection.csv", *rows), target=target)


def _true(**changed: float) -> dict[str, float]:
    return (
        {name: float(WAVES * count) for name, count in COUNTED.items()} | {"SQ_LDS_IDX_ACTIVE": 8.0 * WAVES} | changed
    )


def _verdicts(answer: Closure) -> dict[str, str]:
    return dict(answer.counters.select("counter", "verdict").iter_rows())


def test_true_counters_close_exactly(tmp_path: Path) -> None:
    answer = closure(_counters(tmp_path, **_true()), work=_traced(PER_WAVE, PER_WAVE))
    assert set(_verdicts(answer)) == {"SQ_WAVES", "SQ_LDS_IDX_ACTIVE", *COUNTED}
    assert set(_verdicts(answer).values()) == {EXACT}
    assert (answer.traced_wave_count, answer.grid_wave_count) == (2, WAVES)
    assert closure_headline(answer) == "closes exactly: grid, passes and trace account for all 10 checks"


@pytest.mark.some_cases(8)
@pytest.mark.parametrize("factor", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("counter", ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_LDS", "SQ_INSTS_VMEM", "SQ_LDS_IDX_ACTIVE"])
def test_a_planted_fault_is_named_and_nothing_else(counter: str, factor: float, tmp_path: Path) -> None:
    true = {"SQ_WAVES": float(WAVES)} | _true()
    faults = {counter: factor * true[counter]}
    if counter == "SQ_INSTS_VALU":  # a whole that is less than its part is another fault, which has its own test
        faults["SQ_INSTS_MFMA"] = 0.0
        traced = _traced(PER_WAVE | {"matrix": 0, "valu": 7})
    else:
        traced = _traced(PER_WAVE)
    answer = closure(_counters(tmp_path, **(true | faults)), work=traced)
    wrong = {name: verdict for name, verdict in _verdicts(answer).items() if verdict != EXACT}
    assert wrong == {counter: IMPOSSIBLE}
    assert {0.0: "0", 0.5: "half", 2.0: "double"}[factor] in answer.counters.filter(pl.col("counter") == counter)[
        "reason"
    ].item()
    assert answer.unusable == {counter}


def test_a_part_that_exceeds_its_whole_is_impossible(tmp_path: Path) -> None:
    counters = _counters(tmp_path, SQ_INSTS_MFMA=8.0, SQ_INSTS_VALU=7.0)
    assert _verdicts(closure(counters))["SQ_INSTS_MFMA"] == IMPOSSIBLE


@pytest.mark.parametrize(
    ("traced", "words"),
    [
        (replace(_traced(PER_WAVE), grid_size=32_768), "the traced grid has 32,768 work-items, the counted one 65,536"),
        (replace(_traced(PER_WAVE), target="gfx950"), "the trace is from gfx950"),
        (_traced(PER_WAVE | {"valu": 12, "salu": 4}), "of a wave counted"),
        (_traced({name: 2 * count for name, count in PER_WAVE.items()}), "of a wave counted"),
    ],
    ids=["other grid", "other GPU", "other build", "all doubled"],
)
def test_another_run_is_named(traced: TracedWork, words: str, tmp_path: Path) -> None:
    answer = closure(_counters(tmp_path, **_true()), work=traced)
    assert words in closure_headline(answer)
    assert closure_headline(answer).startswith(OTHER_RUN)
    assert IMPOSSIBLE not in _verdicts(answer).values()


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.0])
def test_another_grid_than_the_recorded_one_is_told_from_a_defect(factor: float, tmp_path: Path) -> None:
    """Where the trace does not record its grid: waves and instructions are off by the same factor."""
    counts = {name: factor * count for name, count in ({"SQ_WAVES": float(WAVES)} | _true()).items()}
    answer = closure(_counters(tmp_path, **counts), work=replace(_traced(PER_WAVE), grid_size=None))
    assert set(_verdicts(answer).values()) == {OTHER_RUN}
    assert answer.difference == f"another grid: waves and instructions are {factor:.3g} times those of the recorded one"


def test_paths_that_depend_on_data_close_within(tmp_path: Path) -> None:
    """Waves of 5 and 9 vector instructions stand for a mean between them."""
    traced = _traced(PER_WAVE, PER_WAVE | {"valu": 9})
    true = _true(SQ_INSTS_VALU=8.0 * WAVES, SQ_INSTS=20.0 * WAVES)
    answer = closure(_counters(tmp_path, **true), work=traced)
    assert {name for name, verdict in _verdicts(answer).items() if verdict == WITHIN} == {"SQ_INSTS_VALU", "SQ_INSTS"}
    assert answer.unusable == frozenset()
    assert "paths depend on data" in answer.counters.filter(pl.col("verdict") == WITHIN)["reason"][0]


@pytest.mark.parametrize("factor", [1.0, 0.5, 2.0, 0.0])
def test_a_fault_is_named_where_waves_leave_early(factor: float, tmp_path: Path) -> None:
    """One of two traced waves left at once; nine of ten waves of the grid did not."""
    traced = _traced(PER_WAVE, {"salu": 1})
    work = {name: 0.9 * count for name, count in _true().items() if name not in ("SQ_INSTS", "SQ_INSTS_SALU")}
    work |= {"SQ_INSTS": WAVES * (0.9 * 19 + 0.1 * 2), "SQ_INSTS_SALU": WAVES * (0.9 * 3 + 0.1)}
    del work["SQ_LDS_IDX_ACTIVE"]
    counts = {
        name: float(round(count)) for name, count in (work | {"SQ_INSTS_LDS": factor * work["SQ_INSTS_LDS"]}).items()
    }
    verdicts = _verdicts(closure(_counters(tmp_path, **counts), work=replace(traced, lane_costs={})))
    assert verdicts.pop("SQ_WAVES") == EXACT
    assert verdicts.pop("SQ_INSTS_LDS") == (WITHIN if factor == 1 else IMPOSSIBLE)
    assert set(verdicts.values()) <= {EXACT, WITHIN}


def test_passes_must_agree_about_work(tmp_path: Path) -> None:
    for number, waves in enumerate((WAVES, 2 * WAVES)):
        rows = [_row(1, "SQ_INSTS_VALU", 7 * waves)]
        write(tmp_path / f"pass_{number + 1}/a_counter_collection.csv", *rows)
    answer = closure(open_counters(tmp_path, target="gfx942"))
    assert answer.counters.select("counter", "against", "verdict").rows() == [("SQ_INSTS_VALU", "pass", IMPOSSIBLE)]


def test_a_known_defect_is_cited(tmp_path: Path) -> None:
    """Waves of gfx1151 may be counted twice; half of those of wave32 are those of wave64."""
    answer = closure(_counters(tmp_path, target="gfx1151", SQ_WAVES=4096.0))
    assert "ROCm/rocm-systems#3828" in answer.counters["reason"].item()
    for right in (2048.0, 1024.0):
        assert _verdicts(closure(_counters(tmp_path, target="gfx1151", SQ_WAVES=right))) == {"SQ_WAVES": EXACT}


CODE = {
    "row": list(range(5)),
    "code_object": [7] * 5,
    "address": [256 + 4 * row for row in range(5)],
    "text": ["v_mov_b32 v0, v1", "s_barrier", "s_add_u32 s0, s1, s2", "v_add_f32 v0, v0, v0", "s_endpgm"],
    "mnemonic": ["v_mov_b32", "s_barrier", "s_add_u32", "v_add_f32", "s_endpgm"],
    "class": ["valu", "barrier", "salu", "valu", "end"],
}


def _made_trace() -> ThreadTrace:
    """Two waves that meet at a barrier, which leaves two records: its arrival is one of a message (spec_gfx9 6.5)."""
    rows = [(0, 1), (1, MESSAGE), (1, 1), (2, 1), (3, 1), (3, 1), (4, 1)]
    waves = [
        {"begin": 0, "end": 100, "instructions": [(4 * at, 0, 4, kind, row) for at, (row, kind) in enumerate(rows)]}
        for _ in range(2)
    ]
    return made(waves, code=frame("code", CODE))


def test_a_made_trace_closes_and_a_barrier_counts_once(tmp_path: Path) -> None:
    true = {"SQ_INSTS": 6 * WAVES, "SQ_INSTS_VALU": 3 * WAVES, "SQ_INSTS_SALU": WAVES}
    rows = [_row(1, name, value, kernel="main_kernel") for name, value in true.items()]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows), target="gfx942")
    answer = balance(counters, _made_trace())
    assert _verdicts(answer) == dict.fromkeys(true, EXACT)
    with pytest.raises(UsageError, match="another"):
        balance(counters, _made_trace(), kernel="another")


# Of a wave, as rocprof-compute counted on an MI300X (HGLiu1998/batched_gemm, workloads/bmm3): 2,048 waves.
MI300X_WAVE = {
    "SQ_INSTS": 1174,
    "SQ_INSTS_VALU": 705,
    "SQ_INSTS_MFMA": 64,
    "SQ_INSTS_SALU": 170,
    "SQ_INSTS_SMEM": 5,
    "SQ_INSTS_BRANCH": 9,
    "SQ_INSTS_LDS": 48,
    "SQ_INSTS_VMEM": 136,
    "TA_TOTAL_WAVEFRONTS_sum": 136,
    "SQ_LDS_IDX_ACTIVE": 1280,
    "SQ_LDS_BANK_CONFLICT": 896,
}


def test_a_real_trace_closes_with_the_counters_of_its_kernel(shared: Path, tmp_path: Path) -> None:
    trace = wavewright.open(shared / "data/att-mi300x-bmm/c06/raw")
    assert isinstance(trace, ThreadTrace)
    name = trace.kernels["demangled"][0]
    counts = {"SQ_WAVES": 1} | MI300X_WAVE
    rows = [_row(1, counter, 2048 * count, kernel=name, grid=131_072) for counter, count in counts.items()]
    answer = balance(open_counters(write(tmp_path / "a_counter_collection.csv", *rows), target="gfx942"), trace)
    assert len(_verdicts(answer)) == 12
    assert set(_verdicts(answer).values()) == {EXACT}


def test_lookups_of_l1_and_bytes_close_where_the_arguments_tell_the_addresses(shared: Path, tmp_path: Path) -> None:
    """Matrices of 256 x 256 x 128: 1,024 lookups of a wave were counted, and 16,836,531 bytes written in all."""
    trace = wavewright.open(shared / "data/att-mi300x-bmm/c06/raw")
    assert isinstance(trace, ThreadTrace)
    name = trace.kernels["demangled"][0]
    counts = {"SQ_WAVES": 2048, "SQ_INSTS": 2048 * 1174, "TCP_TOTAL_CACHE_ACCESSES_sum": 2048 * 1024}
    counts |= {"TCC_EA0_WRREQ_sum": 263_115, "TCC_EA0_WRREQ_64B_sum": 263_026}
    rows = [_row(1, counter, count, kernel=name, grid=131_072) for counter, count in counts.items()]
    counters = open_counters(write(tmp_path / "a_counter_collection.csv", *rows), target="gfx942")
    sizes = ("0x0=256", "0x4=256", "0x8=128", "0xc=128", "0x28=32768,128,1", "0x34=32768,256,1", "0x40=65536,256,1")
    answer = balance(counters, trace, lanes=LaneOptions(arguments=sizes))
    assert _verdicts(answer)["TCP_TOTAL_CACHE_ACCESSES"] == EXACT
    written = answer.counters.filter(pl.col("label") == "bytes that active lanes store").row(0, named=True)
    assert (written["verdict"], written["expected"]) == (WITHIN, 128 * 256 * 256 * 2)
    assert written["ratio"] == pytest.approx(1.0035, abs=1e-4)
    assert "TCP_TOTAL_CACHE_ACCESSES" not in _verdicts(balance(counters, trace))


def test_a_real_trace_of_another_build_is_told(shared: Path) -> None:
    """Of a wave, 144 memory instructions were traced and 96 counted; waves and matrix instructions agree."""
    trace = wavewright.open(shared / "data/att-mi300x-bmm/c03/raw")
    assert isinstance(trace, ThreadTrace)
    verdicts = _verdicts(balance(open_counters(shared / "data/pmc-mi300x-bmm"), trace))
    assert (verdicts["SQ_WAVES"], verdicts["SQ_INSTS_MFMA"]) == (EXACT, EXACT)
    assert (verdicts["SQ_INSTS_VMEM"], verdicts["SQ_INSTS_LDS"]) == (OTHER_RUN, OTHER_RUN)


CAPTURES = (
    "pmc-mi300x-bmm",
    "pmc-rocprofcompute-vcopy/MI200",
    "pmc-rocprofcompute-vcopy/MI300X_A1",
    "pmc-rocprofcompute-vcopy/MI300X_A1_rocpd",
    "pmc-rocprofcompute-vcopy/MI350",
    "gfx1201-counters-pcsampling/gl2c_714_profstd",
    "gfx1201-counters-pcsampling/gl2c_724",
    "gfx1201-counters-pcsampling/gl2c_724_profstd",
    "gfx1201-counters-pcsampling/gl2c_modes_profstd",
    "gfx1151-rocprofv3-llama",
    "rocprofv1-mi200-stencils/laplacian_k1",
    "rocprofv1-mi200-stencils/seismic_a",
)


@pytest.mark.some_cases(4)
@pytest.mark.parametrize("name", CAPTURES)
def test_no_false_alarm_on_captures_at_hand(name: str, shared: Path) -> None:
    answer = closure(open_counters(shared / "data" / name))
    assert answer.unusable == frozenset()


def test_the_work_of_a_trace_is_that_of_its_whole_waves(shared: Path) -> None:
    trace = wavewright.open(shared / "data/att-mi300x-bmm/c06/raw")
    assert isinstance(trace, ThreadTrace)
    work = traced_work(trace)
    assert (work.wave_count, work.wave_size, work.has_several_paths, work.has_branches) == (8, 64, False, True)
    costs = {"lds_cycles": 1280, "lds_extra_cycles": 896, "store_bytes": 64 * 64 * 2}
    assert {name: cost for name, (cost, _) in work.lane_costs.items()} == costs

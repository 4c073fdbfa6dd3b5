from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.capture.made_discoveries import Launched, write_discovery
from wavewright.capture.plans.discovery import DiscoveredKernels, discovered
from wavewright.errors import NotATraceError

FLYDSL = "rocprofv3-mi350x-flydsl"
KEPT = {
    "blockscale_preshuffle_gemm": 6,
    "hgemm_splitk": 6,
    "layernorm": 6,
    "moe_reduce": 6,
    "rmsnorm": 6,
    "vec_add": 6,
    "flash_attn_func": 8,
    "moe_gemm": 8,
    "preshuffle_gemm": 8,
    "softmax": 8,
    "moe_blockscale": 3,
    "pa": 5,
}
"""Launches of the kept traces (spec 1.7): `[6, [8-8]]` was asked for, `[3, [4-4]]` for moe_blockscale and `[5, [6-6]]`
for pa."""


def captures(shared: Path) -> list[tuple[str, int]]:
    """Kernel folder and dispatch number of every trace that was kept."""
    folders = sorted((shared / "data" / "uiout-mi350x-flydsl").rglob("ui_output_agent_*"))
    numbers = [(folder, re.search(r"_dispatch_(\d+)", folder.name)) for folder in folders]
    return [(folder.parents[1].name, int(number[1])) for folder, number in numbers if number]


@pytest.fixture(scope="module")
def discoveries(shared: Path) -> dict[str, DiscoveredKernels]:
    return {folder.name: discovered(folder) for folder in sorted((shared / "data" / FLYDSL).iterdir())}


@pytest.mark.slow
def test_launches_of_real_captures(shared: Path, discoveries: dict[str, DiscoveredKernels]) -> None:
    """16 of the captures of the spec are here: 15 can be ranked, 6 of them launch 6, 7 launch 8, launch 3 and 5."""
    ranked: dict[str, list[int]] = {}
    for name, dispatch in captures(shared):
        place = discoveries[name].launch_of(dispatch)
        assert place is not None
        kernel, _, launch = place
        if len(kernel.symbols) > 1:  # each of its ten symbols counts its own launches: any of them may be meant
            assert (name, len(kernel.symbols), launch) == ("fused_rope_cache", 10, 6)
            continue
        ranked.setdefault(name, []).append(launch)
    assert {name: set(launches) for name, launches in ranked.items()} == {name: {rank} for name, rank in KEPT.items()}
    ranks = [launch for launches in ranked.values() for launch in launches]
    assert [ranks.count(launch) for launch in (6, 8, 3, 5)] == [6, 7, 1, 1]


@pytest.mark.slow
def test_suggests_what_was_captured(shared: Path, discoveries: dict[str, DiscoveredKernels]) -> None:
    """In all 13 programs the kernel that its authors traced is the one that is suggested."""
    for name, dispatch in captures(shared):
        place = discoveries[name].launch_of(dispatch)
        suggestion = discoveries[name].suggestion()
        assert place is not None
        assert suggestion.kernel.name == place[0].name, name


def test_suggested_launches_are_warm_neighbours(discoveries: dict[str, DiscoveredKernels]) -> None:
    for name, kernels in discoveries.items():
        suggestion = kernels.suggestion()
        symbol = suggestion.kernel.symbols[0]
        first, second = suggestion.launches
        assert 2 < first == second - 1 < symbol.calls, name
        assert symbol.shapes[first - 1] == symbol.shapes[second - 1], name


def test_sums_equal_the_statistics(shared: Path, discoveries: dict[str, DiscoveredKernels]) -> None:
    """AMD's own table of the same run: calls, time and share of every kernel."""
    import polars as pl

    for name, kernels in discoveries.items():
        stats = pl.read_csv(shared / "data" / FLYDSL / name / "discover_kernel_stats.csv")
        ours = {kernel.name: (kernel.calls, kernel.total_ns) for kernel in kernels.kernels}
        assert ours == {row["Name"]: (row["Calls"], row["TotalDurationNs"]) for row in stats.to_dicts()}, name
        shares = {row["Name"]: row["Percentage"] for row in stats.to_dicts()}
        assert all(abs(100 * kernel.share - shares[kernel.name]) < 0.01 for kernel in kernels.kernels), name


@pytest.mark.parametrize(
    ("calls", "launches"),
    [
        (1, (1,)),
        (2, (2,)),
        (3, (3,)),
        (4, (3, 4)),
        (5, (3, 4)),
        (6, (4, 5)),
        (9, (6, 7)),
        (13, (9, 10)),
        (300, (200, 201)),
    ],
)
def test_warm_launches(tmp_path: Path, calls: int, launches: tuple[int, ...]) -> None:
    write_discovery(tmp_path, [Launched("gemm")] * calls)
    suggestion = discovered(tmp_path).suggestion()
    assert suggestion.launches == launches
    assert bool(suggestion.notes) == (calls < 4), "a missing noise floor is said"


def test_grid_against_the_gpu(tmp_path: Path) -> None:
    write_discovery(tmp_path, [Launched("small", workgroups=76)] * 4 + [Launched("large", 2, 10, workgroups=9728)] * 4)
    small, large = discovered(tmp_path).kernels
    assert (small.workgroups_per_cu, large.workgroups_per_cu) == (0.25, 32)
    assert (small.waves, large.waves) == (304, 38912)
    assert large.fill == 38912 / (1216 * 8)
    assert (small.vgpr_count, small.sgpr_count, small.lds_bytes, small.scratch_bytes) == (64, 32, 8192, 0)
    assert any("fewer than the 304 CUs" in note for note in discovered(tmp_path).suggestion().notes)


def test_code_that_was_loaded_again_counts_separately(tmp_path: Path) -> None:
    launches = [Launched("jit", kernel_id=number // 3) for number in range(12)] + [Launched("jit", kernel_id=9)] * 6
    write_discovery(tmp_path, launches)
    kernels = discovered(tmp_path)
    assert [symbol.calls for symbol in kernels.kernels[0].symbols] == [6, 3, 3, 3, 3]
    suggestion = kernels.suggestion()
    assert suggestion.launches == (4, 5)
    assert "5 kernel symbols have this name" in suggestion.notes[0]
    place = kernels.launch_of(5)
    assert place is not None
    assert place[2] == 2, "dispatch 5 is launch 2 of the second symbol"


def test_processes_count_separately(tmp_path: Path) -> None:
    for pid in (100, 200):
        write_discovery(tmp_path, [Launched("gemm")] * 9, pid=pid)
    kernels = discovered(tmp_path)
    assert (kernels.process_count, kernels.dispatch_count) == (2, 18)
    assert kernels.suggestion().launches == (6, 7)
    assert "in 2 processes" in kernels.suggestion().notes[0]
    assert kernels.launch_of(3) is None, "both processes have a dispatch 3"


def test_neighbours_are_of_the_same_size(tmp_path: Path) -> None:
    sizes = [608, 608, 608, 608, 1216, 608, 1216, 608]
    write_discovery(tmp_path, [Launched("gemm", workgroups=size) for size in sizes])
    assert discovered(tmp_path).suggestion().launches == (3, 4), "6 and 7 are of different sizes"


def test_noise_is_passed_over_and_said(tmp_path: Path) -> None:
    names = {
        "__amd_rocclr_copyBuffer": 9000,
        "void at::native::reduce_kernel<512, 1>(int)": 8000,
        "Cijk_Ailk_Bljk_S_B": 7000,
        "my_fill": 6000,
        "prefill_attention": 5000,
    }
    write_discovery(tmp_path, [Launched(name, number, time) for number, (name, time) in enumerate(names.items())] * 4)
    suggestion = discovered(tmp_path).suggestion()
    assert suggestion.kernel.name == "prefill_attention"
    for word in ("4 larger kernels passed over", "HIP runtime", "PyTorch", "Tensile", "'fill'"):
        assert word in suggestion.notes[0]


def test_a_helper_that_takes_most_of_the_time_is_none(tmp_path: Path) -> None:
    write_discovery(tmp_path, [Launched("block_scan", 1, 9000), Launched("finish", 2, 100)] * 4)
    assert discovered(tmp_path).suggestion().kernel.name == "block_scan"


def test_nothing_but_noise(tmp_path: Path) -> None:
    write_discovery(tmp_path, [Launched("__amd_rocclr_copyBuffer")] * 4)
    suggestion = discovered(tmp_path).suggestion()
    assert suggestion.kernel.name == "__amd_rocclr_copyBuffer"
    assert "every kernel is one of a library" in suggestion.notes[0]


def test_no_kernel(tmp_path: Path) -> None:
    write_discovery(tmp_path, [])
    with pytest.raises(NotATraceError, match="no kernel was recorded"):
        discovered(tmp_path)


def test_a_database_tells_the_same(tmp_path: Path) -> None:
    """ROCm 10 calls CSV deprecated: a ROCpd database has the same kernels, launches and sizes."""
    import polars as pl

    import wavewright
    from synth.rocpd import write_rocpd
    from synth.workload import Workload

    write_rocpd(tmp_path / "results.db", Workload(dispatches=60))
    kernels = discovered(tmp_path / "results.db")
    run = wavewright.open(tmp_path / "results.db")
    assert isinstance(run, wavewright.Run)
    rows = run.read("dispatches").with_columns(pl.col("name").cast(pl.String), ns=pl.col("end_ns") - pl.col("start_ns"))
    assert kernels.dispatch_count == rows.height == 60
    times = dict(rows.group_by("name").agg(pl.col("ns").sum()).iter_rows())
    assert {kernel.name: kernel.total_ns for kernel in kernels.kernels} == times
    first = kernels.kernels[0]
    assert first.gpu is not None
    assert first.gpu.cu_count > 0
    assert first.workgroups_per_cu is not None
    for kernel in kernels.kernels:
        for symbol in kernel.symbols:
            assert list(symbol.dispatches) == sorted(symbol.dispatches)


def test_a_damaged_table_is_one_error(tmp_path: Path) -> None:
    from wavewright.errors import WavewrightError

    place = write_discovery(tmp_path, [Launched("gemm")] * 3)
    (place / "discover_kernel_trace.csv").write_bytes(b'"Kind","Dispatch_Id"\n"KERNEL_DISPATCH",\xff\x00')
    with pytest.raises(WavewrightError):
        discovered(tmp_path)


def test_hostile_names(tmp_path: Path) -> None:
    names = ["\x1b[2Jgemm", "a" * 5000, '"; rm -rf /', "名前"]
    write_discovery(tmp_path, [Launched(name, number, 1000 - number) for number, name in enumerate(names)] * 4)
    kernels = discovered(tmp_path)
    assert kernels.names == tuple(names)
    assert kernels.suggestion().kernel.name == names[0]
    assert len(kernels.suggestion(kernels.matching("a" * 5000)).line) < 120


def test_the_regex_finds_the_suggested_kernel_alone(discoveries: dict[str, DiscoveredKernels]) -> None:
    """In both engines of rocprofv3, among all names of the program; templates of ATen have 4,000 characters."""
    from wavewright.capture.kinds import ThreadTraces
    from wavewright.capture.plans.discovery import with_suggestion
    from wavewright.capture.rocprofv3.regex import names_found

    for name, kernels in discoveries.items():
        recording, notes = with_suggestion(ThreadTraces(program=("x",)), kernels, "7.2")
        suggestion = kernels.suggestion()
        assert recording.kernel == suggestion.kernel.name
        assert recording.launches == suggestion.launches
        assert notes[0].endswith(suggestion.line.rpartition(", ")[2])
        for version in ((7, 0), (7, 14)):
            assert names_found(recording.kernel_regex, kernels.names, version) == (recording.kernel,), name


def test_what_was_told_stays(tmp_path: Path) -> None:
    from wavewright.capture.kinds import ThreadTraces
    from wavewright.capture.plans.discovery import with_suggestion
    from wavewright.errors import UsageError

    write_discovery(tmp_path, [Launched("gemm_a", 1), Launched("gemm_b", 2, 5000, workgroups=8)] * 9)
    kernels = discovered(tmp_path)
    told = ThreadTraces(program=("x",), kernel="gemm_a", launches=(2,), se_mask=0x3)
    recording, _ = with_suggestion(told, kernels, "7.2")
    assert (recording.kernel, recording.launches, recording.se_mask) == ("gemm_a", (2,), 0x3)
    recording, _ = with_suggestion(ThreadTraces(program=("x",), kernel_regex="gemm_[a]"), kernels, "7.2")
    assert (recording.kernel, recording.kernel_regex, recording.launches) == ("gemm_a", "gemm_[a]", (6, 7))
    recording, _ = with_suggestion(ThreadTraces(program=("x",), launch_count=1), kernels, "7.2")
    assert (recording.kernel, recording.launches) == ("gemm_b", (7,))
    recording, _ = with_suggestion(ThreadTraces(program=("x",), exclude_regex="_b"), kernels, "7.2")
    assert recording.kernel == "gemm_a"
    with pytest.raises(UsageError, match="every kernel is excluded"):
        with_suggestion(ThreadTraces(program=("x",), exclude_regex="gemm"), kernels, "7.2")
    for wrong in (ThreadTraces(program=("x",), kernel="gemmm"), ThreadTraces(program=("x",), kernel_regex="^b")):
        with pytest.raises(UsageError, match="no kernel that ran matches"):
            with_suggestion(wrong, kernels, "7.2")

"""Workload folders of ROCm Compute Profiler: which files are passes, and how their dispatches are joined."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import wavewright
from synth.counter_capture import CounterCapture, write_counter_csv, write_counters
from wavewright.errors import UsageError
from wavewright.model.counters import CounterSet
from wavewright.readers.counters import open_counters

HEAD = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,"


def rows(*dispatches: tuple[int, str, int, float]) -> str:
    """Dispatch id, kernel, grid, value."""
    return "".join(
        f'{number},0,{grid},64,"{kernel}",{1000 * place + 1000},{1000 * place + 1500},{value}\n'
        for place, (number, kernel, grid, value) in enumerate(dispatches)
    )


def workload(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sysinfo.csv").write_text("gpu_arch,gpu_model,cu_per_gpu\ngfx90a,MI210,104\n")
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def values(found: CounterSet, name: str, column: str) -> list[tuple[int, float | None]]:
    """Dispatch id of the joined dispatch, and what a pass measured of it."""
    number = found.passes.filter(pl.col("name") == name)["pass"].item()
    joined = found.measured[number].join(found.dispatches, on="dispatch").sort("dispatch")
    return list(joined.select("dispatch_id", column).iter_rows())


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950"])
def test_a_workload_says_what_it_was_made_of(target: str, tmp_path: Path) -> None:
    made = write_counters(tmp_path / "w", CounterCapture(target))
    found = open_counters(made.folder)
    assert found.losses.height == 0
    assert found.system.target == target
    assert found.system.cu_count == made.capture.device.cu_count
    assert found.dispatches.height == made.dispatch_count
    assert set(found.passes["name"]) >= {"pmc_perf", "SQ_LEVEL_WAVES", "SQ_INST_LEVEL_LDS"}
    assert found.ceilings.height > 0
    for kernel, totals in made.totals.items():
        mine = found.dispatches.filter(pl.col("kernel_name") == kernel).select("dispatch", "start_ns", "end_ns")
        frame = found.measured[0].join(mine, on="dispatch", how="semi")
        assert (mine["end_ns"] - mine["start_ns"]).sum() == pytest.approx(totals["duration_ns"])
        for name in ("SQ_WAVES", "TCC_EA0_RDREQ", "TCP_TOTAL_CACHE_ACCESSES"):
            assert frame[name].sum() == pytest.approx(totals[name])


def test_passes_of_rocprofv3_say_what_they_were_made_of(tmp_path: Path) -> None:
    made = write_counter_csv(tmp_path / "r", CounterCapture("gfx942"))
    found = open_counters(made.folder)
    assert found.losses.height == 0
    assert found.passes["name"].to_list() == ["pass_1", "pass_2"]
    assert found.dispatches.height == made.dispatch_count
    assert found.system.target == "gfx942"
    assert found.system.said_by["cu_count"] == "out_agent_info.csv"
    for kernel, totals in made.totals.items():
        mine = found.dispatches.filter(pl.col("kernel_name") == kernel)
        assert found.measured[0].join(mine, on="dispatch", how="semi")["TCC_HIT"].sum() == totals["TCC_HIT"]
        assert found.measured[1].join(mine, on="dispatch", how="semi")["TCC_EA0_RDREQ"].sum() == totals["TCC_EA0_RDREQ"]


def test_level_passes_are_joined_by_what_ran_not_by_row(tmp_path: Path) -> None:
    """The level pass lists its dispatches in another order, and lacks one."""
    found = open_counters(
        workload(
            tmp_path / "w",
            pmc_perf=HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1), (1, "b", 64, 2), (2, "a", 64, 3), (3, "a", 128, 4)),
            SQ_LEVEL_WAVES=HEAD + "SQ_ACCUM_PREV_HIRES\n" + rows((3, "a", 128, 40), (0, "a", 64, 10), (1, "b", 64, 20)),
        )
    )
    assert values(found, "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES") == [(0, 10), (1, 20), (3, 40)]
    assert found.losses.select("kind", "count").rows() == [("counter_dispatches", 1)]


def test_ids_that_do_not_fit_give_way_to_the_occurrence(tmp_path: Path) -> None:
    """Tools number dispatches from 0 in one pass and from 1, or over all kernels, in another."""
    found = open_counters(
        workload(
            tmp_path / "w",
            pmc_perf=HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1), (1, "b", 64, 2), (2, "a", 64, 3)),
            SQ_LEVEL_WAVES=HEAD + "SQ_ACCUM_PREV_HIRES\n" + rows((7, "b", 64, 20), (8, "a", 64, 10), (9, "a", 64, 30)),
        )
    )
    assert values(found, "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES") == [(0, 10), (1, 20), (2, 30)]
    assert found.executions.filter(pl.col("pass") == 1)["dispatch_id"].to_list() == [7, 8, 9]
    assert found.losses.height == 0


def test_dispatches_that_only_a_later_pass_has_stay(tmp_path: Path) -> None:
    found = open_counters(
        workload(
            tmp_path / "w",
            pmc_perf=HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1)),
            SQ_LEVEL_WAVES=HEAD + "SQ_ACCUM_PREV_HIRES\n" + rows((0, "a", 64, 10), (1, "new", 64, 20)),
        )
    )
    assert found.dispatches["kernel_name"].to_list() == ["a", "new"]
    assert found.measured[0]["dispatch"].to_list() == [0]
    assert found.losses["kind"].to_list() == ["counter_dispatches"]


def test_kernels_of_several_gpus_are_not_mixed_up(tmp_path: Path) -> None:
    def lines(*gpus: int) -> str:
        return "".join(f"{n},{gpu},64,64,k,{n * 10},{n * 10 + 5},{gpu}\n" for n, gpu in enumerate(gpus))

    found = open_counters(
        workload(
            tmp_path / "w",
            pmc_perf=HEAD + "SQ_WAVES\n" + lines(60, 7, 60),
            SQ_LEVEL_WAVES=HEAD + "SQ_ACCUM_PREV_HIRES\n" + lines(7, 60, 60),
        )
    )
    assert found.dispatches.select("agent", "gpu").rows() == [("60", 1), ("7", 0), ("60", 1)]
    joined = found.measured[1].join(found.dispatches, on="dispatch")
    assert (
        joined.select(pl.col("SQ_ACCUM_PREV_HIRES").cast(pl.Int64).cast(pl.String) == pl.col("agent")).to_series().all()
    )


def test_a_pass_without_counters_tells_the_times(tmp_path: Path) -> None:
    times = HEAD.rstrip(",") + '\n5,0,64,64,"a [clone .kd]",7000,7010\n'
    found = open_counters(
        workload(
            tmp_path / "w",
            pmc_perf=HEAD + "SQ_WAVES\n" + rows((0, "a (.kd)", 64, 1)),
            timestamps=times,
        )
    )
    assert found.origin_ns == 1000
    assert found.dispatches.select("start_ns", "end_ns").rows() == [(6000, 6010)]
    assert found.executions.select("start_ns", "end_ns").rows() == [(0, 500), (6000, 6010)]
    assert found.dispatches.select("kernel_name", "kernel_name_spelled").rows() == [("a", "a (.kd)")]


def test_dispatches_that_only_have_times_were_not_measured(tmp_path: Path) -> None:
    times = HEAD.rstrip(",") + "\n0,0,64,64,other,500,600\n1,0,64,64,a,7000,7010\n2,0,64,64,a,8000,8010\n"
    found = open_counters(
        workload(tmp_path / "w", pmc_perf=HEAD + "SQ_WAVES\n" + rows((1, "a", 64, 1)), timestamps=times)
    )
    assert found.dispatches.select("kernel_name", "start_ns").rows() == [("a", 6000)]
    assert found.executions.select("pass", "dispatch_id").rows() == [(0, 1), (1, 1)]
    assert found.losses.height == 0


def test_times_that_were_rounded_away_are_no_times(tmp_path: Path) -> None:
    text = HEAD + "SQ_WAVES\n0,0,64,64,a,1.2345E+15,1.2345E+15,1\n1,0,64,64,a,1000,1010,1\n2,0,64,64,a,,,1\n"
    found = open_counters(workload(tmp_path / "w", pmc_perf=text))
    assert found.dispatches["end_ns"].to_list() == [None, 10.0, None]
    assert dict(found.losses.select("kind", "count").rows()) == {"counter_times": 1, "no_times": 1}


def test_clocks_with_more_digits_than_a_float_are_exact(tmp_path: Path) -> None:
    begin = 13386742234691895
    text = HEAD + f"SQ_WAVES\n0,0,64,64,a,{begin},{begin + 8653},1\n1,0,64,64,a,{begin + 10001},{begin + 10004},1\n"
    found = open_counters(workload(tmp_path / "w", pmc_perf=text))
    assert (found.dispatches["end_ns"] - found.dispatches["start_ns"]).to_list() == [8653, 3]
    assert found.origin_ns == begin


def test_unjoined_passes_are_not_counted_twice(tmp_path: Path) -> None:
    text = HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1))
    other = HEAD + "TCC_HIT_sum\n" + rows((0, "a", 64, 5))
    folder = workload(tmp_path / "w", pmc_perf=text, pmc_perf_0=text, pmc_perf_1=other)
    found = open_counters(folder)
    assert found.passes["name"].to_list() == ["pmc_perf"]
    assert found.losses.select("kind", "count").rows() == [("other_forms", 2)]
    for empty in (text.splitlines()[0] + "\n", None):
        if empty is None:
            (folder / "pmc_perf.csv").unlink()
        else:
            (folder / "pmc_perf.csv").write_text(empty)
        found = open_counters(folder)
        assert found.passes["name"].to_list() == ["pmc_perf_0", "pmc_perf_1"]
        assert found.dispatches.height == 1
        assert found.passes["is_joined"].to_list() == [False, False]


def test_the_long_form_of_a_workload(tmp_path: Path) -> None:
    head = f"{HEAD}Counter_Name,Counter_Value\n"
    text = head + "".join(
        f'{dispatch},2,64,64,"k(int, int)",{begin + dispatch},{begin + dispatch + length},{name},{value}.0\n'
        for begin, length, counters in (
            (100, 9, {"SQ_WAVES": 4}),
            (5000, 5, {"SQ_LEVEL_WAVES": 0, "SQ_LEVEL_WAVES_ACCUM": 77, "TCC_HIT[0]": 3, "TCC_HIT[1]": 2}),
        )
        for dispatch in (1, 2)
        for name, value in counters.items()
    )
    found = open_counters(workload(tmp_path / "w", pmc_perf=text))
    assert found.passes["name"].to_list() == ["pmc_perf", "SQ_LEVEL_WAVES"]
    assert found.measured[1].columns[1:] == ["SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES", "TCC_HIT[0]", "TCC_HIT[1]"]
    assert values(found, "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES") == [(1, 77), (2, 77)]
    lengths = found.dispatches["end_ns"] - found.dispatches["start_ns"]
    assert lengths.to_list() == [5, 5]  # the median over the values


def test_old_names_of_columns(tmp_path: Path) -> None:
    file = tmp_path / "pmc_perf.csv"
    file.write_text(
        "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,obj,DispatchNs,BeginNs,EndNs,"
        "CompleteNs,SQ_WAVES,wave_size_1,obj_3,Correlation_ID_2,XCC_Index,TCC_EA_RDREQ_sum\n"
        '3,"k [clone .kd]",2,0,7,8,1024,256,512,16,24,32,0,0x0,0x7f,1,10,20,30,16,64,0x7e,5,0,9\n'
    )
    found = open_counters(file)
    row = found.dispatches.row(0, named=True)
    assert (row["dispatch_id"], row["process_id"], row["agent"], row["kernel_name"]) == (3, 7, "2", "k")
    assert [row[name] for name in ("grid_size", "workgroup_size", "lds_bytes", "scratch_bytes")] == [1024, 256, 512, 16]
    assert (row["arch_vgprs"], row["sgprs"], row["accum_vgprs"]) == (24, 32, None)
    assert found.counters.select("column", "spelled").rows() == [
        ("SQ_WAVES", "SQ_WAVES"),
        ("TCC_EA0_RDREQ", "TCC_EA_RDREQ_sum"),
    ]


def test_a_folder_of_captures_lists_them(tmp_path: Path) -> None:
    for name in ("one", "two"):
        workload(tmp_path / name, pmc_perf=HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1)), timestamps=HEAD)
    with pytest.raises(UsageError, match="2 captures") as caught:
        wavewright.open(tmp_path)
    assert "one, two" in caught.value.advice


def test_files_that_are_too_many_to_look_at_are_a_loss(tmp_path: Path) -> None:
    """Counters under names that no tool gives them are found by the first bytes, of the first 1,000 files."""
    for number in range(1001):
        (tmp_path / f"note_{number:04}.csv").write_text("text\n")
    with pytest.raises(UsageError, match="no counters in the first 1,000 files"):
        open_counters(tmp_path)
    (tmp_path / "mine.csv").write_text(HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1)))
    opened = open_counters(tmp_path)
    assert opened.losses.select("kind", "count").rows() == [("unseen_files", 2)]


def test_ranks_that_ran_together_are_different_dispatches(tmp_path: Path) -> None:
    head = "Dispatch_Id,Agent_Id,Process_Id,Grid_Size,Kernel_Name,Start_Timestamp,End_Timestamp,"
    head += "Counter_Name,Counter_Value\n"
    for process, begin in ((70, 100), (71, 105)):
        text = head + f"1,Agent 4,{process},64,k,{begin},{begin + 50},SQ_WAVES,{process}\n"
        (tmp_path / f"{process}_counter_collection.csv").write_text(text)
    found = open_counters(tmp_path)
    assert found.dispatches["process_id"].to_list() == [70, 71]
    assert found.measured[0]["SQ_WAVES"].to_list() == [70, 71]
    later = head + "1,Agent 4,71,64,k,9000,9010,SQ_WAVES,71\n"
    (tmp_path / "71_counter_collection.csv").write_text(later)
    again = open_counters(tmp_path)
    assert (again.dispatches.height, again.passes.height) == (1, 2)


def test_compressed_tables(tmp_path: Path) -> None:
    folder = workload(tmp_path / "w")
    text = HEAD + "SQ_WAVES\n" + rows((0, "a", 64, 1))
    (folder / "pmc_perf.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert open_counters(folder).measured[0]["SQ_WAVES"].to_list() == [1]


def test_open_tells_counters_from_other_inputs(tmp_path: Path) -> None:
    made = write_counters(tmp_path / "w")
    assert isinstance(wavewright.open(made.folder), CounterSet)
    assert isinstance(wavewright.open(made.folder / "SQ_INST_LEVEL_SMEM.csv"), CounterSet)
    assert isinstance(wavewright.open(write_counter_csv(tmp_path / "r").folder), CounterSet)

"""rocprofv3 CSV runs of MI350X, gfx1151 and gfx1201: counts, sums and statistics against the tools' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from wavewright.readers.run.inputs import find_runs, open_run

if TYPE_CHECKING:
    from pathlib import Path

RUNS = {  # dispatches, nanoseconds, kernels
    "blockscale_preshuffle_gemm": (273, 1411851, 27),
    "flash_attn_func": (45, 1995814, 19),
    "fused_rope_cache": (10836, 40752210, 24),
    "hgemm_splitk": (412, 2056816, 34),
    "layernorm": (135, 691044, 17),
    "moe_blockscale": (1510, 9055628, 84),
    "moe_gemm": (905, 33002454, 53),
    "moe_reduce": (136, 51332933, 17),
    "pa": (245, 2076776, 60),
    "preshuffle_gemm": (169, 4680395, 30),
    "rmsnorm": (129, 1064010, 16),
    "softmax": (123, 28248247, 12),
    "vec_add": (68, 1156372, 15),
}


@pytest.mark.parametrize("run", RUNS)
def test_statistics_equal_those_of_the_tool(shared: Path, run: str) -> None:
    folder = shared / "data/rocprofv3-mi350x-flydsl" / run
    document = open_run(*folder.glob("discover_kernel_trace.csv*"))
    kernels = document.dispatches.with_columns(pl.col("name").cast(pl.String), ns=pl.col("end_ns") - pl.col("start_ns"))
    assert (kernels.height, kernels["ns"].sum(), kernels["name"].n_unique()) == RUNS[run]
    assert not document.losses.height
    assert set(document.agents["target"].gather(kernels["agent"].unique())) == {"gfx950"}

    ns, mean = pl.col("ns"), pl.col("ns").mean()
    ours = kernels.group_by("name").agg(
        Calls=pl.len().cast(pl.Int64),
        TotalDurationNs=ns.sum(),
        AverageNs=mean.round(6),
        Percentage=(ns.sum() * 100 / kernels["ns"].sum()).round(2),
        MinNs=ns.min(),
        MaxNs=ns.max(),
        StdDev=pl.when(pl.len() > 1).then(ns.std()).otherwise(0.0),
    )
    theirs = pl.read_csv(folder / "discover_kernel_stats.csv")
    both = theirs.join(ours, left_on="Name", right_on="name", suffix="_ours")
    assert both.height == theirs.height == ours.height
    for name in ("Calls", "TotalDurationNs", "MinNs", "MaxNs"):
        assert both[name].to_list() == both[f"{name}_ours"].to_list()
    for name, tolerance in (("AverageNs", 1e-6), ("Percentage", 0.0051), ("StdDev", 1e-4)):
        assert both.select((pl.col(name) - pl.col(f"{name}_ours")).abs().max()).item() <= tolerance, name


def test_every_kind_of_the_documentation(shared: Path) -> None:
    folder = shared / "data/rocprofv3-doc-samples"
    rows = {
        "hip_trace.csv": ("regions", 17),
        "hsa_api_trace.csv": ("regions", 10),
        "marker_api_trace.csv": ("regions", 3),
        "rocdecode_api_trace.csv": ("regions", 6),
        "rocjpeg_api_trace.csv": ("regions", 4),
        "kernel_trace.csv": ("dispatches", 9),
        "memory_copy_trace.csv": ("copies", 4),
        "memory_allocation_trace.csv": ("allocations", 4),
        "scratch_memory_trace.csv": ("allocations", 2),
        "counter_collection.csv": ("counters", 4),
        "kernel_names.csv": ("counters", 4),
    }
    for name, (table, count) in rows.items():
        run = open_run(folder / name)
        assert run.table(table).height == count, name
        lost = set(run.losses.filter(run.losses["is_damage"])["kind"])
        is_cut = not (folder / name).read_bytes().endswith(b"\n")  # some were copied without their last line end
        assert lost == ({"cut_file"} if is_cut else set()), name
    markers = open_run(folder / "marker_api_trace.csv")
    assert markers.samples["name"].to_list() == ["before hipLaunchKernel", "after hipLaunchKernel"]
    assert set(markers.regions["domain"]) == {"MARKER"}
    copies = open_run(folder / "memory_copy_trace.csv")
    assert copies.agents.select("kind", "logical_index").rows() == [("CPU", 0), ("GPU", 4)]
    scratch = open_run(folder / "scratch_memory_trace.csv").allocations
    assert set(scratch.select("type", "level", "properties").rows()) == {("ALLOC", "SCRATCH", '{"flags": "0"}')}


def test_quoted_numbers_of_gfx1151(shared: Path) -> None:
    folder = shared / "data/gfx1151-rocprofv3-llama"
    assert [run.path.name for run in find_runs([folder])] == ["decode_*.csv"]  # passes beside a run are not its time
    everything = [run.path.name for run in find_runs([folder], with_passes=True)]
    assert everything == ["decode_fetch_counter_collection.csv", "decode_*.csv", "decode_stall_counter_collection.csv"]
    document = open_run(folder / "decode_kernel_trace.csv", folder / "decode_hip_api_trace.csv")
    assert len(document.origins) == 1
    assert (document.dispatches.height, document.regions.height) == (144, 920)
    assert (document.dispatches["end_ns"] - document.dispatches["start_ns"]).sum() == 1857381
    assert document.processes["pid"].to_list() == [2684120]
    stall = open_run(folder / "decode_stall_counter_collection.csv")
    assert (stall.counters.height, stall.counter_info.height, stall.dispatches.height) == (340, 10, 34)


def test_counters_of_gfx1201(shared: Path) -> None:
    run = open_run(shared / "data/gfx1201-counters-pcsampling/gl2c_714_profstd")
    assert len(run.origins) == 6
    values = run.counters.join(run.counter_info, on="counter").join(
        run.dispatches.select("process", "event", kernel="name"), on=["process", "event"]
    )
    assert values.height == run.counters.height
    read = values.filter(pl.col("kernel").cast(pl.String).str.contains("read_f4"))
    told = dict(read.group_by("name").agg(pl.col("value").max()).iter_rows())
    assert told["SQ_WAVES"] == 524288
    assert told["SQ_INSTS_VALU"] == 5242880
    assert told["GL2C_EA_RDREQ_sum"] == 1048578
    assert told["GL2C_MISS_sum"] == 1048578

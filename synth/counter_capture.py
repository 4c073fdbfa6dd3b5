"""Captures of hardware counters, as ROCm Compute Profiler and rocprofv3 leave them, and what they must say."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from synth.counter_devices import DEVICES
from synth.kernel_work import counters_of, typical_kernels
from wavewright.errors import UsageError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    import polars as pl

    from synth.counter_devices import CounterDevice
    from synth.kernel_work import KernelWork

__all__ = ["CounterCapture", "SyntheticCounters", "write_counter_csv", "write_counters"]

_PER_CHANNEL = ("ATOMIC", "BUBBLE", "HIT", "MISS", "READ", "REQ", "TOO_MANY_EA_WRREQS_STALL", "WRITE")
_PER_CHANNEL_OF_FABRIC = ("ATOMIC", "ATOMIC_LEVEL", "RDREQ", "RDREQ_LEVEL", "WRREQ", "WRREQ_LEVEL")
_LEVELS = {
    "SQ_LEVEL_WAVES": ("SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CYCLES"),
    "SQ_IFETCH_LEVEL": ("SQ_IFETCH", "SQC_ICACHE_REQ"),
    "SQ_INST_LEVEL_LDS": ("SQ_INSTS_LDS",),
    "SQ_INST_LEVEL_SMEM": ("SQ_INSTS_SMEM",),
    "SQ_INST_LEVEL_VMEM": ("SQ_INSTS_VMEM",),
    "SQC_DCACHE_INFLIGHT_LEVEL": ("SQC_DCACHE_REQ",),
}
"""Level counter -> counters that are measured in the same pass."""
_SUMMED = ("TA_", "TD_", "TCP_", "TCC_")
_GAP_NS = 5_000


@dataclass(frozen=True)
class CounterCapture:
    """Description of a capture: a GPU, its kernels in the order of their first dispatch, the spread of dispatches.

    Examples
    --------
    >>> CounterCapture("gfx90a").device.cu_count
    104
    """

    target: str = "gfx942"
    kernels: tuple[KernelWork, ...] = ()
    """Empty = those of `typical_kernels`."""
    jitter: float = 0.02
    """Largest relative difference of durations and cycles between dispatches of a kernel."""
    gpu: int = 0
    seed: int = 1
    with_channels: bool = True

    @property
    def device(self) -> CounterDevice:
        """Facts about the GPU.

        Raises
        ------
        UsageError
            When no counters of such a GPU can be made.

        Examples
        --------
        >>> CounterCapture("gfx950").device.series
        'MI350'
        """
        if self.target not in DEVICES:
            problem = f"no counters of {self.target} can be made"
            raise UsageError(problem, advice=f"known: {', '.join(DEVICES)}")
        return DEVICES[self.target]

    @property
    def works(self) -> tuple[KernelWork, ...]:
        """The kernels.

        Examples
        --------
        >>> len(CounterCapture().works)
        3
        """
        return self.kernels or typical_kernels(self.device)


@dataclass(frozen=True)
class SyntheticCounters:
    """The written files, and the truth about them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_counters(folder).dispatch_count
    8
    """

    folder: Path
    capture: CounterCapture
    dispatch_count: int
    totals: dict[str, dict[str, float]] = field(hash=False)
    """Kernel name -> canonical counter -> sum over its dispatches; `duration_ns` too."""


def write_counters(folder: str | os.PathLike[str], capture: CounterCapture | None = None) -> SyntheticCounters:
    """Write a workload folder of ROCm Compute Profiler: wide `pmc_perf.csv`, level passes, `sysinfo.csv`, ceilings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write_counters(folder, CounterCapture("gfx90a"))
    ...     sorted(path.name for path in made.folder.iterdir())[-3:]
    ['pmc_perf.csv', 'roofline.csv', 'sysinfo.csv']
    """
    import polars as pl

    capture = capture or CounterCapture()
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    launches, counters = _launches(capture), _counters(capture)
    spelled = {name: _spelled(name, capture.device) for name in counters.columns if name not in _LEVELS}
    wide = [counters[name].rename(column) for name, column in spelled.items()]
    channels = _channels(counters, capture) if capture.with_channels else []
    pl.concat([launches, pl.DataFrame([*wide, *channels])], how="horizontal").write_csv(place / "pmc_perf.csv")
    for level, beside in _LEVELS.items():
        measured = counters.select("GRBM_GUI_ACTIVE", *beside, pl.lit(0).alias(level), SQ_ACCUM_PREV_HIRES=level)
        pl.concat([launches, measured], how="horizontal").write_csv(place / f"{level}.csv")
    pl.DataFrame([capture.device.sysinfo(place.name)]).write_csv(place / "sysinfo.csv")
    pl.DataFrame([_ceilings(capture.device)]).write_csv(place / "roofline.csv")
    return SyntheticCounters(place, capture, launches.height, _totals(launches, counters))


def write_counter_csv(
    folder: str | os.PathLike[str],
    capture: CounterCapture | None = None,
    *,
    passes: Sequence[Sequence[str]] = (("SQ_WAVES", "TCC_HIT", "TCC_MISS"), ("TCC_EA0_RDREQ", "TCC_EA0_RDREQ_32B")),
) -> SyntheticCounters:
    """Write what rocprofv3 --pmc leaves: `pass_1/out_counter_collection.csv` and so on, with the list of agents.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write_counter_csv(folder, passes=[["SQ_WAVES"]])
    ...     (made.folder / "pass_1/out_counter_collection.csv").exists()
    True
    """
    import polars as pl

    capture = capture or CounterCapture()
    place = Path(folder)
    launches, counters = _launches(capture), _counters(capture)
    for number, names in enumerate(passes, 1):
        below = place / f"pass_{number}"
        below.mkdir(parents=True, exist_ok=True)
        rows = pl.concat([_long_launches(launches, number), counters.select(names)], how="horizontal")
        long = rows.unpivot(names, index=_LONG, variable_name="Counter_Name", value_name="Counter_Value")
        spelled = {name: _spelled(name, capture.device) for name in names}
        long = long.with_columns(pl.col("Counter_Name").replace(spelled)).sort("Dispatch_Id", maintain_order=True)
        long.write_csv(below / "out_counter_collection.csv", quote_style="non_numeric")
        pl.DataFrame([_agent(capture.device)]).write_csv(below / "out_agent_info.csv", quote_style="non_numeric")
    names = list(dict.fromkeys(name for values in passes for name in values))
    return SyntheticCounters(place, capture, launches.height, _totals(launches, counters.select(names)))


_LONG = (
    "Correlation_Id",
    "Dispatch_Id",
    "Agent_Id",
    "Queue_Id",
    "Process_Id",
    "Thread_Id",
    "Grid_Size",
    "Kernel_Id",
    "Kernel_Name",
    "Workgroup_Size",
    "LDS_Block_Size",
    "Scratch_Size",
    "VGPR_Count",
    "Accum_VGPR_Count",
    "SGPR_Count",
    "Start_Timestamp",
    "End_Timestamp",
)


def _order(capture: CounterCapture) -> Iterator[tuple[int, float]]:
    """Kernel number and factor of cycles of every dispatch: kernels take turns, as in a loop of a program."""
    chance = random.Random(capture.seed)  # noqa: S311 - noise, not secrets
    dispatches_left = [work.dispatch_count for work in capture.works]
    while any(dispatches_left):
        for number, count in enumerate(dispatches_left):
            if count:
                dispatches_left[number] -= 1
                yield number, 1 + capture.jitter * (2 * chance.random() - 1)


@cache
def _dispatches(capture: CounterCapture) -> tuple[tuple[int, float], ...]:
    return tuple(_order(capture))


def _launches(capture: CounterCapture) -> pl.DataFrame:
    import polars as pl

    rows = []
    now = 1_000_000
    for number, (kernel, factor) in enumerate(_dispatches(capture)):
        work = capture.works[kernel]
        duration = round(work.duration_ns * factor)
        rows.append(
            {
                "Dispatch_ID": number,
                "GPU_ID": capture.gpu,
                "Grid_Size": work.waves * 64,
                "Workgroup_Size": work.waves_per_workgroup * 64,
                "LDS_Per_Workgroup": work.lds_bytes,
                "Scratch_Per_Workitem": work.scratch_bytes,
                "Arch_VGPR": work.arch_vgprs,
                "Accum_VGPR": work.accum_vgprs,
                "SGPR": work.sgprs,
                "Kernel_Name": work.name,
                "Start_Timestamp": now,
                "End_Timestamp": now + duration,
                "Kernel_ID": kernel,
            }
        )
        now += duration + _GAP_NS
    return pl.DataFrame(rows)


def _long_launches(launches: pl.DataFrame, number: int) -> pl.DataFrame:
    """The same dispatches in one pass of rocprofv3: another process, at another time."""
    import polars as pl

    later = number * 1_000_000_000
    renamed = {
        "Dispatch_ID": "Dispatch_Id",
        "Kernel_ID": "Kernel_Id",
        "LDS_Per_Workgroup": "LDS_Block_Size",
        "Scratch_Per_Workitem": "Scratch_Size",
        "Arch_VGPR": "VGPR_Count",
        "Accum_VGPR": "Accum_VGPR_Count",
        "SGPR": "SGPR_Count",
    }
    frame = launches.rename(renamed).with_columns(
        pl.col("Dispatch_Id") + 1,
        pl.col("Start_Timestamp", "End_Timestamp") + later,
        Correlation_Id=pl.col("Dispatch_Id") + 1,
        Agent_Id=pl.lit("Agent 1"),
        Queue_Id=pl.lit(1),
        Process_Id=pl.lit(1000 + number),
        Thread_Id=pl.lit(1000 + number),
    )
    return frame.select(_LONG)


def _counters(capture: CounterCapture) -> pl.DataFrame:
    """One row per dispatch, one column per counter. Counts repeat, cycles differ from dispatch to dispatch."""
    import polars as pl

    order = _dispatches(capture)
    kernels = pl.Series([kernel for kernel, _ in order], dtype=pl.UInt32)
    factors = pl.Series([factor for _, factor in order], dtype=pl.Float64)
    unused = dict.fromkeys(_read_by_panels(capture.target), 0.0)
    base = pl.DataFrame([unused | counters_of(work, capture.device) for work in capture.works]).fill_null(0.0)
    rows = base[kernels]
    fixed = {name for work in capture.works for name in work.counters}
    return rows.with_columns(
        (rows[name] * factors).round() for name in rows.columns if _is_time(name) and name not in fixed
    )


@cache
def _read_by_panels(target: str) -> tuple[str, ...]:
    """Counters that the metrics of a target need: a capture has them even where a kernel does nothing of the kind."""
    from wavewright.facts.metrics.expression import parse
    from wavewright.facts.metrics.panels import panels_of

    metrics = [metric for panel in panels_of(target) for table in panel.tables for metric in table.metrics]
    return tuple(sorted({name for metric in metrics if metric.formula for name in parse(metric.formula).counters}))


def _is_time(name: str) -> bool:
    return name.startswith("GRBM_") or any(word in name for word in ("BUSY", "STALL", "LEVEL", "WAVE_CYCLES"))


def _channels(counters: pl.DataFrame, capture: CounterCapture) -> Iterator[pl.Series]:
    """Totals of L2 spread over its channels; channel 0 takes what imbalance gives it, and what is left of divisions."""
    import polars as pl

    device = capture.device
    names = [f"TCC_{name}" for name in _PER_CHANNEL] + [f"TCC_EA0_{name}" for name in _PER_CHANNEL_OF_FABRIC]
    extra = pl.Series([capture.works[kernel].channel_imbalance for kernel, _ in _dispatches(capture)])
    for name in names:
        total = counters[name] if name in counters.columns else pl.zeros(counters.height, eager=True)
        part = (total * (1 - extra) / device.l2_channel_count).floor()
        spelled = _spelled(name, device).removesuffix("_sum")
        yield (total - part * (device.l2_channel_count - 1)).rename(f"{spelled}[0]")
        for channel in range(1, device.l2_channel_count):
            yield part.rename(f"{spelled}[{channel}]")


def _spelled(name: str, device: CounterDevice) -> str:
    """As the collectors of this GPU write it."""
    device_name = name.replace("TCC_EA0_", f"{device.fabric_prefix}_")
    return f"{device_name}_sum" if device_name.startswith(_SUMMED) else device_name


def _ceilings(device: CounterDevice) -> dict[str, float]:
    """Ceilings that a benchmark would reach: a share of the peak that is usual for each."""
    clock = device.clock_mhz_max / 1000
    rates = {
        "HBMBw": 0.82 * device.memory_gb_per_second,
        "L2Bw": 0.6 * device.l2_channel_count * device.l2_line_bytes * clock,
        "L1Bw": 0.8 * device.cu_count * device.l1_line_bytes * clock,
        "LDSBw": 0.8 * device.cu_count * 128 * clock,
        "FP32Flops": 0.9 * device.cu_count * 128 * clock,
        "FP64Flops": 0.9 * device.cu_count * 128 * clock,
        "MFMAF16Flops": 0.85 * device.cu_count * device.matrix_flops_per_cycle * clock,
        "MFMAF32Flops": 0.85 * device.cu_count * 256 * clock,
    }
    ceilings: dict[str, float] = {"device": 0}
    for name, value in rates.items():
        ceilings |= {name: round(value, 4), f"{name}Low": round(0.99 * value, 4), f"{name}High": round(1.01 * value, 4)}
    return ceilings


def _agent(device: CounterDevice) -> dict[str, object]:
    return {
        "Node_Id": 1,
        "Logical_Node_Id": 1,
        "Agent_Type": "GPU",
        "Cu_Count": device.cu_count,
        "Simd_Count": 4 * device.cu_count,
        "Wave_Front_Size": 64,
        "Num_Xcc": device.xcd_count,
        "Num_Shader_Banks": device.se_count,
        "Max_Engine_Clk_Fcompute": device.clock_mhz_max,
        "Name": device.target,
        "Product_Name": f"AMD Instinct {device.model}",
    }


def _totals(launches: pl.DataFrame, counters: pl.DataFrame) -> dict[str, dict[str, float]]:
    import polars as pl

    named = counters.with_columns(
        kernel_name=launches["Kernel_Name"], duration_ns=launches["End_Timestamp"] - launches["Start_Timestamp"]
    )
    summed = named.group_by("kernel_name", maintain_order=True).agg(pl.all().sum())
    return {row.pop("kernel_name"): row for row in summed.to_dicts()}

"""What is chosen for the user, per architecture: the window and buffer of a thread trace, the method of PC sampling."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from wavewright.capture.plans.buffers import MIB, check_buffer, chosen_buffer, engine_bytes, is_gfx9, selected_engines
from wavewright.capture.wanted import Counters, Samples, ThreadTraces, Wanted
from wavewright.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wavewright.capture.gpus.gpu import Gpu

W = TypeVar("W", bound=Wanted)

TARGET_CU = 1
TARGET_CU_MAX = 15
#: gfx9: all four SIMDs of the CU. Newer: number 0; the tool's own default would take number 3.
SIMD_MASK_GFX9 = 0xF
SIMD_NUMBER = 0
SIMDS_MAX = 4
SE_MASK = 0x1
SE_BITS = 64
TRACE_COUNTERS_MAX = 8
COUNTER_PERIOD = 8
PERIOD_MAX = 32
ACTIVITY_MAX = 16
_TRACE_COUNTER = re.compile(r"SQ[A-Z0-9_]*(?::0[xX][0-9a-fA-F]{1,8}|:[0-9a-fA-F]{1,8})?", re.IGNORECASE)

#: Methods of PC sampling by target, preferred one first: AMD's documentation of ROCm 7.14.
SAMPLING_METHODS = {
    "gfx90a": ("host_trap",),
    "gfx942": ("stochastic", "host_trap"),
    "gfx950": ("stochastic", "host_trap"),
}
SAMPLING_UNITS = {"host_trap": "time", "stochastic": "cycles"}
#: Defaults of rocprof-compute: microseconds, and cycles.
SAMPLING_INTERVALS = {"host_trap": 512, "stochastic": 1 << 20}
CYCLES_MIN, CYCLES_MAX = 256, 1 << 31
#: The least that rocprof-compute allows; below, the program becomes slow.
CYCLES_LOW = 1 << 16
#: Microcode of the compute engine (MEC) of MI300X that samples by itself.
STOCHASTIC_FIRMWARE = 0x1A


def chosen(wanted: W, gpu: Gpu | None) -> tuple[W, tuple[str, ...]]:
    """What is wanted with everything filled in that was None, and sentences about what was chosen and why.

    Parameters
    ----------
    wanted
        What the user gave is checked and stays.
    gpu
        Where it will run; None = unknown, which chooses what fits the data center GPUs.

    Raises
    ------
    UsageError
        When a value does not fit the GPU.
    UnsupportedError
        When the GPU cannot do this kind of capture.
    """
    notes: list[str] = []
    if isinstance(wanted, ThreadTraces):
        return _trace_window(wanted, gpu, notes), tuple(notes)
    if isinstance(wanted, Samples):
        return _sampling(wanted, gpu, notes), tuple(notes)
    if isinstance(wanted, Counters) and gpu and gpu.target.startswith(("gfx11", "gfx12")):
        notes.append(
            f"{gpu.target} counts 0 while its performance level is auto: `wavewright doctor` says how to change it"
        )
    return wanted, tuple(notes)


def _trace_window(wanted: W, gpu: Gpu | None, notes: list[str]) -> W:
    assert isinstance(wanted, ThreadTraces)  # noqa: S101 - tells the type checker
    target = gpu.target if gpu else ""
    if target and not target.startswith(("gfx9", "gfx10", "gfx11", "gfx12")):
        raise UnsupportedError(
            f"{target} has no thread traces that rocprofv3 records", advice="they exist from gfx9 (MI100) on"
        )
    if gpu is None:
        notes.append("the GPU is not known: what fits MI200, MI300 and MI350 is chosen")
    part, parts = ("CU", "SIMDs") if is_gfx9(target) else ("WGP", "SIMD")
    target_cu = TARGET_CU if wanted.target_cu is None else wanted.target_cu
    if not 0 <= target_cu <= TARGET_CU_MAX:
        raise UsageError(f"there is no {part} {target_cu} to trace", advice=f"it may be from 0 to {TARGET_CU_MAX}")
    simds = _simds(wanted.simds, target)
    se_mask = _engines(wanted.se_mask, gpu)
    engines = selected_engines(se_mask, gpu.se_count if gpu else None)
    buffer_bytes = wanted.buffer_bytes
    if buffer_bytes is None:
        buffer_bytes = chosen_buffer(engines, target, gpu.memory_bytes if gpu else None)
    check_buffer(buffer_bytes, engines, target)
    simd_text = f"0x{simds:X}" if is_gfx9(target) else str(simds)
    if None in (wanted.target_cu, wanted.simds, wanted.se_mask):
        where = f"{part} {target_cu}, {parts} {simd_text}, shader engines 0x{se_mask:X}"
        notes.append(f"{where}: only waves that run there are recorded instruction by instruction")
    if wanted.buffer_bytes is None:
        each = engine_bytes(buffer_bytes, engines, target) / MIB
        notes.append(f"a buffer of {buffer_bytes // MIB:,} MiB, {each:,.0f} MiB for each selected shader engine")
    period = _counters(wanted, target, notes)
    return replace(
        wanted,
        target_cu=target_cu,
        simds=simds,
        se_mask=se_mask,
        buffer_bytes=buffer_bytes,
        counter_period=period,
    )


def _simds(simds: int | None, target: str) -> int:
    if is_gfx9(target):
        mask = SIMD_MASK_GFX9 if simds is None else simds
        if not 0 < mask <= SIMD_MASK_GFX9:
            raise UsageError(
                f"0x{max(mask, 0):X} is not a mask of SIMDs" if mask >= 0 else f"{mask} is not a mask of SIMDs",
                advice="gfx9 has four: 0x1 to 0xF",
            )
        return mask
    number = SIMD_NUMBER if simds is None else simds
    if not 0 <= number < SIMDS_MAX:
        raise UsageError(
            f"there is no SIMD {number} to trace",
            advice=f"{target} traces one SIMD, given by its number 0 to {SIMDS_MAX - 1}, not by a mask",
        )
    return number


def _engines(se_mask: int | None, gpu: Gpu | None) -> int:
    mask = SE_MASK if se_mask is None else se_mask
    if not 0 < mask < 1 << SE_BITS:
        raise UsageError(f"{mask:#x} selects no shader engine", advice="give a mask such as 0x1")
    if gpu and gpu.se_count and not selected_engines(mask, gpu.se_count):
        raise UsageError(
            f"{mask:#x} selects none of the {gpu.se_count} shader engines",
            advice=f"masks of this GPU are 0x1 to {(1 << gpu.se_count) - 1:#x}",
        )
    return mask


def _counters(wanted: ThreadTraces, target: str, notes: list[str]) -> int | None:
    """Check counters inside the trace; their period."""
    asks = bool(wanted.counters or wanted.counter_period or wanted.activity or wanted.target_only)
    if asks and not is_gfx9(target):
        raise UsageError(
            f"{target} records no counters inside a thread trace", advice="use `wavewright capture counters`"
        )
    if wanted.activity is not None:
        if wanted.counters or wanted.counter_period is not None:
            raise UsageError("activity stands for counters of its own", advice="leave the counters away, or activity")
        if not 1 <= wanted.activity <= ACTIVITY_MAX:
            raise UsageError(f"a period of {wanted.activity} is not possible", advice=f"1 to {ACTIVITY_MAX}")
        return None
    if wanted.counter_period is not None and not 1 <= wanted.counter_period <= PERIOD_MAX:
        raise UsageError(f"a period of {wanted.counter_period} is not possible", advice=f"1 (often) to {PERIOD_MAX}")
    if not wanted.counters:
        if wanted.counter_period is not None:
            raise UsageError("a period of counters is given, but no counters", advice="name up to 8 SQ counters")
        return None
    _check_names(wanted.counters)
    if wanted.counter_period is None:
        notes.append(f"counters are sampled at period {COUNTER_PERIOD} of 1 (often) to {PERIOD_MAX} (rarely)")
        return COUNTER_PERIOD
    return wanted.counter_period


def _check_names(counters: Iterable[str]) -> None:
    names = list(counters)
    if len(names) > TRACE_COUNTERS_MAX:
        raise UsageError(
            f"{len(names)} counters do not fit into a thread trace", advice=f"at most {TRACE_COUNTERS_MAX} SQ counters"
        )
    for name in names:
        if not _TRACE_COUNTER.fullmatch(name):
            raise UsageError(
                f"{name[:60]!r} is not a counter of a thread trace",
                advice="SQ counters only, as SQ_WAVES, or SQ_WAVES:0x1 with a mask of SIMDs",
            )


def _sampling(wanted: W, gpu: Gpu | None, notes: list[str]) -> W:
    assert isinstance(wanted, Samples)  # noqa: S101 - tells the type checker
    methods = _methods(gpu)
    method = wanted.method
    if method is None:
        method = methods[0]
        if method == "stochastic" and gpu and _has_old_firmware(gpu):
            method = "host_trap"
            notes.append(f"microcode 0x{gpu.firmware:x} of this GPU is older than 0x{STOCHASTIC_FIRMWARE:x}: host_trap")
    if method not in SAMPLING_UNITS:
        raise UsageError(f"not a method of PC sampling: {method[:40]!r}", advice="host_trap or stochastic")
    if method not in methods:
        raise UsageError(
            f"{gpu.target if gpu else 'this GPU'} does not sample by {method}", advice=f"it does by {methods[0]}"
        )
    unit = wanted.unit or SAMPLING_UNITS[method]
    if unit != SAMPLING_UNITS[method]:
        raise UsageError(
            f"{method} does not measure its interval in {unit[:40]}", advice=f"it does in {SAMPLING_UNITS[method]}"
        )
    interval = SAMPLING_INTERVALS[method] if wanted.interval is None else wanted.interval
    _check_interval(interval, method, notes)
    if gpu is None:
        notes.append("the GPU is not known: what MI300 and MI350 support is chosen")
    if wanted.method is None or wanted.interval is None:
        notes.append(f"PC sampling by {method} every {interval:,} {'µs' if unit == 'time' else 'cycles'}")
    return replace(wanted, method=method, unit=unit, interval=interval)


def _methods(gpu: Gpu | None) -> tuple[str, ...]:
    if gpu is None or not gpu.target:
        return SAMPLING_METHODS["gfx942"]
    methods = SAMPLING_METHODS.get(gpu.target)
    if methods is None:
        raise UnsupportedError(
            f"{gpu.target} has no PC sampling",
            advice="MI200, MI300 and MI350 have it; `wavewright capture att` and `capture counters` work here",
        )
    return methods


def _has_old_firmware(gpu: Gpu) -> bool:
    return gpu.target == "gfx942" and gpu.firmware is not None and 0 < gpu.firmware < STOCHASTIC_FIRMWARE


def _check_interval(interval: int, method: str, notes: list[str]) -> None:
    if interval < 1:
        raise UsageError(f"an interval of {interval} is not possible", advice="it must be above 0")
    if method != "stochastic":
        return
    if interval.bit_count() != 1 or not CYCLES_MIN <= interval <= CYCLES_MAX:
        near = min(max(1 << (interval.bit_length() - 1), CYCLES_MIN), CYCLES_MAX)
        raise UsageError(
            f"stochastic sampling does not take an interval of {interval:,} cycles",
            advice=f"a power of two from {CYCLES_MIN} to {CYCLES_MAX:,}, as {near:,}",
        )
    if interval < CYCLES_LOW:
        notes.append(f"fewer than {CYCLES_LOW:,} cycles from sample to sample slow the program down")

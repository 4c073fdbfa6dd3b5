"""Choices for the user, per architecture: the window and buffer of a thread trace, the method of PC sampling.

The buffer is divided among shader engines as aqlprofile of ROCm 7.14 does it.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.kinds import Counters, Recording, Samples, ThreadTraces
from wavewright.errors import UnsupportedError, UsageError
from wavewright.facts.loader import packaged

MIB = 1 << 20
GIB = 1 << 30
PAGE_BYTES = 4096
BUFFER_BYTES_MIN = MIB  #: Of all engines together; the tool refuses less.
ENGINE_BYTES_MIN = 128 << 10  #: Of one engine.
ENGINE_BYTES_LIMIT, ENGINE_BYTES_LIMIT_GFX11 = 16 * GIB, 512 * MIB  #: The bytes of one engine stay below this.
#: Beyond the most, more selected engines do not get more memory by themselves.
CHOSEN_BYTES_MIN, CHOSEN_BYTES_MAX, CHOSEN_BYTES_PER_ENGINE = 256 * MIB, 2 * GIB, 64 * MIB
#: Engines for which gfx10 and gfx11 keep a page each, selected or not.
_RESERVED_ENGINES = 64
TARGET_CU, TARGET_CU_MAX = 1, 15  #: The CU (gfx9) or WGP that is traced unless another is named, and the last.
#: gfx9: all four SIMDs of the CU. Newer: number 0; the tool's own default would take number 3.
SIMD_MASK_GFX9, SIMD_NUMBER, SIMDS_MAX = 0xF, 0, 4
SE_MASK, SE_BITS = 0x1, 64  #: The first shader engine; bits of a mask.
#: Counters of a trace; their usual and longest period; the longest period of activity counters.
TRACE_COUNTERS_MAX, COUNTER_PERIOD, PERIOD_MAX, ACTIVITY_MAX = 8, 8, 32, 16
_TRACE_COUNTER = re.compile(r"SQ[A-Z0-9_]*(?::0[xX][0-9a-fA-F]{1,8}|:[0-9a-fA-F]{1,8})?", re.IGNORECASE)

_PC_SAMPLES = packaged("commands.toml", __package__)["sampling"]
SAMPLING_METHODS: dict[str, list[str]] = _PC_SAMPLES["methods"]
SAMPLING_UNITS: dict[str, str] = _PC_SAMPLES["units"]
SAMPLING_INTERVALS: dict[str, int] = _PC_SAMPLES["intervals"]
CYCLES_MIN, CYCLES_MAX = 256, 1 << 31
#: The least that rocprof-compute allows; below, the program becomes slow.
CYCLES_LOW = 1 << 16
#: Microcode of the compute engine (MEC) of MI300X that samples by itself.
STOCHASTIC_FIRMWARE = 0x1A


def chosen(recording: Recording, gpu: Gpu | None) -> tuple[Recording, tuple[str, ...]]:
    """The recording with everything filled in that was None, and sentences about what was chosen and why.

    What the user gave is checked and stays. Without a GPU, what fits the data center GPUs is chosen.
    """
    notes: list[str] = []
    if isinstance(recording, ThreadTraces):
        recording = _trace_window(recording, gpu, notes)
    elif isinstance(recording, Samples):
        recording = _sampling(recording, gpu, notes)
    elif isinstance(recording, Counters) and gpu and gpu.target.startswith(("gfx11", "gfx12")):
        advice = "`wavewright doctor` says how to change it"
        notes.append(f"{gpu.target} counts 0 while its performance level is auto: {advice}")
    return recording, tuple(notes)


def _trace_window(recording: ThreadTraces, gpu: Gpu | None, notes: list[str]) -> ThreadTraces:
    target = gpu.target if gpu else ""
    if target and not target.startswith(("gfx9", "gfx10", "gfx11", "gfx12")):
        what = f"{target} has no thread traces that rocprofv3 records"
        raise UnsupportedError(what, advice="they exist from gfx9 (MI100) on")
    if gpu is None:
        notes.append("the GPU is not known: what fits MI200, MI300 and MI350 is chosen")
    part, parts = ("CU", "SIMDs") if is_gfx9(target) else ("WGP", "SIMD")
    target_cu = TARGET_CU if recording.target_cu is None else recording.target_cu
    if not 0 <= target_cu <= TARGET_CU_MAX:
        raise UsageError(f"there is no {part} {target_cu} to trace", advice=f"it may be from 0 to {TARGET_CU_MAX}")
    simds = _simds(recording.simds, target)
    se_mask = _engines(recording.se_mask, gpu)
    engines = selected_engines(se_mask, gpu.se_count if gpu else None)
    buffer_bytes = recording.buffer_bytes
    if buffer_bytes is None:
        buffer_bytes = chosen_buffer(engines, target, gpu.memory_bytes if gpu else None)
    check_buffer(buffer_bytes, engines, target)
    if None in (recording.target_cu, recording.simds, recording.se_mask):
        simd_text = f"0x{simds:X}" if is_gfx9(target) else str(simds)
        where = f"{part} {target_cu}, {parts} {simd_text}, shader engines 0x{se_mask:X}"
        notes.append(f"{where}: only waves that run there are recorded instruction by instruction")
    if recording.buffer_bytes is None:
        part_mib = engine_bytes(buffer_bytes, engines, target) / MIB
        notes.append(f"a buffer of {buffer_bytes // MIB:,} MiB, {part_mib:,.0f} MiB for each selected shader engine")
    period = _counter_period(recording, target, notes)
    window = {"target_cu": target_cu, "simds": simds, "se_mask": se_mask, "buffer_bytes": buffer_bytes}
    return replace(recording, **window, counter_period=period)


def _simds(simds: int | None, target: str) -> int:
    if is_gfx9(target):
        mask = SIMD_MASK_GFX9 if simds is None else simds
        if not 0 < mask <= SIMD_MASK_GFX9:
            text = f"0x{mask:X}" if mask >= 0 else str(mask)
            raise UsageError(f"{text} is not a mask of SIMDs", advice="gfx9 has four: 0x1 to 0xF")
        return mask
    number = SIMD_NUMBER if simds is None else simds
    if not 0 <= number < SIMDS_MAX:
        advice = f"{target} traces one SIMD, given by its number 0 to {SIMDS_MAX - 1}, not by a mask"
        raise UsageError(f"there is no SIMD {number} to trace", advice=advice)
    return number


def _engines(se_mask: int | None, gpu: Gpu | None) -> int:
    mask = SE_MASK if se_mask is None else se_mask
    if not 0 < mask < 1 << SE_BITS:
        raise UsageError(f"{mask:#x} selects no shader engine", advice="give a mask such as 0x1")
    if gpu and gpu.se_count and not selected_engines(mask, gpu.se_count):
        what = f"{mask:#x} selects none of the {gpu.se_count} shader engines"
        raise UsageError(what, advice=f"masks of this GPU are 0x1 to {(1 << gpu.se_count) - 1:#x}")
    return mask


def _counter_period(recording: ThreadTraces, target: str, notes: list[str]) -> int | None:
    """Check counters inside the trace; their period."""
    names, period, activity = recording.counters, recording.counter_period, recording.activity
    if (names or period or activity or recording.target_only) and not is_gfx9(target):
        what = f"{target} records no counters inside a thread trace"
        raise UsageError(what, advice="use `wavewright capture counters`")
    if activity is not None:
        if names or period is not None:
            raise UsageError("activity stands for counters of its own", advice="leave the counters away, or activity")
        if not 1 <= activity <= ACTIVITY_MAX:
            raise UsageError(f"a period of {activity} is not possible", advice=f"1 to {ACTIVITY_MAX}")
        return None
    if period is not None and not 1 <= period <= PERIOD_MAX:
        raise UsageError(f"a period of {period} is not possible", advice=f"1 (often) to {PERIOD_MAX}")
    if not names:
        if period is not None:
            raise UsageError("a period of counters is given, but no counters", advice="name up to 8 SQ counters")
        return None
    if len(names) > TRACE_COUNTERS_MAX:
        what = f"{len(names)} counters do not fit into a thread trace"
        raise UsageError(what, advice=f"at most {TRACE_COUNTERS_MAX} SQ counters")
    for name in names:
        if not _TRACE_COUNTER.fullmatch(name):
            advice = "SQ counters only, as SQ_WAVES, or SQ_WAVES:0x1 with a mask of SIMDs"
            raise UsageError(f"{name[:60]!r} is not a counter of a thread trace", advice=advice)
    if period is None:
        notes.append(f"counters are sampled at period {COUNTER_PERIOD} of 1 (often) to {PERIOD_MAX} (rarely)")
    return period or COUNTER_PERIOD


def _sampling(recording: Samples, gpu: Gpu | None, notes: list[str]) -> Samples:
    target = gpu.target if gpu and gpu.target else "gfx942"
    methods = SAMPLING_METHODS.get(target)
    if methods is None:
        advice = "MI200, MI300 and MI350 have it; `wavewright capture att` and `capture counters` work here"
        raise UnsupportedError(f"{target} has no PC sampling", advice=advice)
    method = recording.method or methods[0]
    firmware = (gpu.firmware if gpu and gpu.target == "gfx942" else None) or STOCHASTIC_FIRMWARE
    if recording.method is None and method == "stochastic" and firmware < STOCHASTIC_FIRMWARE:
        method = "host_trap"
        notes.append(f"microcode 0x{firmware:x} of this GPU is older than 0x{STOCHASTIC_FIRMWARE:x}: host_trap")
    if method not in SAMPLING_UNITS:
        raise UsageError(f"not a method of PC sampling: {method[:40]!r}", advice="host_trap or stochastic")
    if method not in methods:
        what = f"{gpu.target if gpu else 'this GPU'} does not sample by {method}"
        raise UsageError(what, advice=f"it does by {methods[0]}")
    unit = recording.unit or SAMPLING_UNITS[method]
    if unit != SAMPLING_UNITS[method]:
        what = f"{method} does not measure its interval in {unit[:40]}"
        raise UsageError(what, advice=f"it does in {SAMPLING_UNITS[method]}")
    interval = SAMPLING_INTERVALS[method] if recording.interval is None else recording.interval
    _check_interval(interval, method, notes)
    if gpu is None:
        notes.append("the GPU is not known: what MI300 and MI350 support is chosen")
    if recording.method is None or recording.interval is None:
        notes.append(f"PC sampling by {method} every {interval:,} {'µs' if unit == 'time' else 'cycles'}")
    return replace(recording, method=method, unit=unit, interval=interval)


def _check_interval(interval: int, method: str, notes: list[str]) -> None:
    if interval < 1:
        raise UsageError(f"an interval of {interval} is not possible", advice="it must be above 0")
    if method != "stochastic":
        return
    if interval.bit_count() != 1 or not CYCLES_MIN <= interval <= CYCLES_MAX:
        near = min(max(1 << (interval.bit_length() - 1), CYCLES_MIN), CYCLES_MAX)
        what = f"stochastic sampling does not take an interval of {interval:,} cycles"
        raise UsageError(what, advice=f"a power of two from {CYCLES_MIN} to {CYCLES_MAX:,}, as {near:,}")
    if interval < CYCLES_LOW:
        notes.append(f"fewer than {CYCLES_LOW:,} cycles from sample to sample slow the program down")


# --- buffers ---


def is_gfx9(target: str) -> bool:
    """True for a target that traces CUs with masks of SIMDs; an unknown target counts as one."""
    return not target or target.startswith("gfx9")


def selected_engines(se_mask: int, se_count: int | None = None) -> int:
    """Engines of a mask, as far as the GPU has them."""
    return (se_mask & ((1 << se_count) - 1) if se_count else se_mask).bit_count()


def engine_bytes(buffer_bytes: int, engines: int, target: str = "") -> int:
    """Bytes of one engine's part of a buffer: a stream of exactly this length was cut."""
    reserved = (_RESERVED_ENGINES - engines) * PAGE_BYTES if target.startswith(("gfx10", "gfx11")) else 0
    return max(0, buffer_bytes - reserved) // max(1, engines) // PAGE_BYTES * PAGE_BYTES


def engine_bytes_limit(target: str) -> int:
    """The bytes below which the part of one engine stays."""
    return ENGINE_BYTES_LIMIT_GFX11 if target.startswith("gfx11") else ENGINE_BYTES_LIMIT


def largest_buffer(engines: int, target: str = "", memory_bytes: int | None = None) -> int:
    """The largest buffer that makes sense: the limit of the hardware, 2 GiB, and half of the GPU's memory."""
    hardware = (engine_bytes_limit(target) - PAGE_BYTES) * max(1, engines)
    memory = memory_bytes // 2 if memory_bytes else CHOSEN_BYTES_MAX
    return max(BUFFER_BYTES_MIN, min(CHOSEN_BYTES_MAX, hardware, memory) // PAGE_BYTES * PAGE_BYTES)


def chosen_buffer(engines: int, target: str = "", memory_bytes: int | None = None) -> int:
    """A buffer for a first look: 256 MiB, and 64 MiB per engine where that is more."""
    wanted_bytes = max(CHOSEN_BYTES_MIN, engines * CHOSEN_BYTES_PER_ENGINE)
    return min(wanted_bytes, largest_buffer(engines, target, memory_bytes))


def check_buffer(buffer_bytes: int, engines: int, target: str = "") -> None:
    """Refuse a buffer that the tool or the hardware would refuse."""
    if buffer_bytes < BUFFER_BYTES_MIN:
        raise UsageError(f"a buffer of {buffer_bytes:,} bytes is too small", advice="it takes at least 1 MiB")
    part = engine_bytes(buffer_bytes, engines, target)
    if part < ENGINE_BYTES_MIN:
        what = f"a buffer of {buffer_bytes:,} bytes leaves {part:,} bytes to each of {engines} shader engines"
        raise UsageError(what, advice="each needs at least 128 KiB: take a larger buffer or fewer shader engines")
    limit = engine_bytes_limit(target)
    if part >= limit:
        what = f"a buffer of {buffer_bytes:,} bytes gives {part:,} bytes to each of {engines} shader engines"
        advice = f"{target or 'the hardware'} takes less than {limit // MIB:,} MiB each: take a smaller buffer"
        raise UsageError(what, advice=advice)

"""Does a kernel use L2 and memory well: reuse, lines, over-fetch and bandwidth, from hardware counters?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wavewright.analysis.counters.l2.traffic import Measurement, measure, short_path
from wavewright.analysis.counters.l2.verdict import LARGEST_READ, findings, reuse, verdict
from wavewright.base.bounds import BYTES_GB, EA_CHANNELS, bounded
from wavewright.errors import UsageError
from wavewright.facts import gpus
from wavewright.model.answer import Answer
from wavewright.model.counters import CounterSet
from wavewright.model.schema import frame_of

_AGREEING_FROM = 0.95  #: Runs agree about a metric if its least value is at least this share of its largest.
_FILES_SHOWN = 4  #: Files that a note about disagreeing runs names.
_FULLY_COUNTED = ("gfx900", "gfx906", "gfx908", "gfx90a")  #: Targets without reads of 128 bytes.
_SHARES, _MEANS = ("hit_rate", "read_32b_share"), ("l1_read_requests", "read_bytes", "write_bytes")
#: Metric of a measurement -> its column of `L2.kernels`.
_COLUMNS = {name: name for name in _SHARES} | {name: f"{name}_mean" for name in _MEANS}


@dataclass(frozen=True)
class L2(Answer, package=__package__):
    """L2 and memory traffic of kernels, from counters."""

    target: str | None
    product: str | None
    memory_bytes_per_second_peak: int | None
    kernels: pl.DataFrame
    measurements: pl.DataFrame
    findings: pl.DataFrame
    notes: tuple[str, ...]


@bounded(ideal_gb=BYTES_GB, ea_channels=EA_CHANNELS)
def l2(
    *captures: CounterSet,
    kernel: str | None = None,
    ideal_gb: float | None = None,
    ea_channels: int | None = None,
    gpu: str | None = None,
) -> L2:
    """L2 hit rate, read sizes, bytes, over-fetch and bandwidth of each kernel whose name contains `kernel`.

    Each capture is a run of its own; numbers of different runs stand side by side and are never combined. `ideal_gb`
    are 10^9 bytes that a dispatch has to read at least. `ea_channels` multiplies the bytes read where the counters do
    not tell the sizes of requests. `gpu` is the target or product whose peak to compare with (None = what the files
    say). Raises `UsageError` when no dispatch fits, or `ideal_gb` is given for several kernels.
    """
    names = _chosen(captures, kernel, ideal_gb)
    facts, notes = _facts(captures, gpu)
    peak = _peak(captures, facts, gpu)
    if facts and peak is None:
        notes = [f"the memory bandwidth of {gpu or facts.product.name or facts.target} is not known here"]
    all_measurements = measure(captures, facts.target if facts else "")
    measurements = [_scaled(m, facts, ea_channels) for m in all_measurements if m.kernel_name in names]
    rows = [_row(name, [m for m in measurements if m.kernel_name == name], peak, ideal_gb, captures) for name in names]
    for row in rows:
        row["infinity_cache_bytes"] = _holding_cache(row, facts)
    rows.sort(key=lambda row: -(row["duration_ns_mean"] or 0) * (row["dispatch_count"] or 0))
    finding_rows = []
    for row in rows:
        name, kernel_findings = row["kernel_name"], findings(row)
        row["verdict"] = verdict(kernel_findings)
        finding_rows += [
            {"kernel_name": name, "question": finding.name, "answer": finding.verdict, "reason": finding.reason}
            for finding in kernel_findings
        ]
    return L2(
        target=facts.target if facts else None,
        product=facts.product.name or None if facts else None,
        memory_bytes_per_second_peak=peak,
        kernels=frame_of(L2.tables["kernels"], rows),
        measurements=frame_of(L2.tables["measurements"], [vars(m) for m in measurements]),
        findings=frame_of(L2.tables["findings"], finding_rows),
        notes=(*notes, *_caveats(measurements)),
    )


def _chosen(captures: Sequence[CounterSet], kernel: str | None, ideal_gb: float | None) -> list[str]:
    names = list(dict.fromkeys(name for counters in captures for name in counters.dispatches["kernel_name"]))
    if not names:
        raise UsageError("no dispatches in these files", advice="rocprofv3 --pmc TCC_HIT_sum TCC_MISS_sum -- PROGRAM")
    chosen = [name for name in names if kernel is None or kernel in name]
    examples = ", ".join(name[:60] for name in (chosen or names)[:6])
    if not chosen:
        raise UsageError(f"no kernel's name contains {kernel!r}", advice=f"kernels: {examples}")
    if ideal_gb is not None and len(chosen) > 1:
        what = f"--ideal-gb speaks about one kernel, but there are {len(chosen):,}"
        raise UsageError(what, advice=f"choose one with --kernel: {examples}")
    return chosen


def _facts(captures: Sequence[CounterSet], gpu: str | None) -> tuple[gpus.Arch | None, list[str]]:
    """The GPU, and words about how well it is known."""
    if gpu:
        facts = gpus.of(gpu)
        named = gpu
    else:
        named_by_files = {counters.system.target: counters.system.product for counters in captures}
        named_by_files.pop(None, None)
        if len(named_by_files) != 1:
            why = "the files name several GPUs" if named_by_files else "nothing here names the GPU"
            return None, [f"{why}, so there is no peak to compare with: name it with --target"]
        target, product = next((target, product) for target, product in named_by_files.items() if target)
        facts = _product(target, product)
        named = product or target
    if facts.product.name.lower() not in named.lower() and (gpu or _said_peak(captures) is None):
        note = f"{named} names no product: the peak is that of {facts.product.name}; --target PRODUCT for another"
        return facts, [note]
    return facts, []


def _said_peak(captures: Sequence[CounterSet]) -> float | None:
    """Peak of the memory in GB/s that the captures themselves say, all the same; None = they do not."""
    peaks = {
        None
        if counters.system.said_by.get("memory_gb_per_second", "").startswith("facts of")
        else counters.system.memory_peak_gb_per_second
        for counters in captures
    }
    return peaks.pop() if len(peaks) == 1 else None


def _peak(captures: Sequence[CounterSet], facts: gpus.Arch | None, gpu: str | None) -> int | None:
    """Of the memory, bytes per second: what the captures say, as panels and rooflines have it; else the product's."""
    if facts is None:
        return None
    recorded_gb = None if gpu else _said_peak(captures)
    return facts.product.memory_bytes_per_second_peak if recorded_gb is None else round(recorded_gb * 1e9)


def _product(target: str, product: str | None) -> gpus.Arch:
    for name in (product, (product or "").split("_")[0], target):  # MI300X_A1 is an MI300X
        with suppress(UsageError):
            return gpus.of(name or target)
    raise UsageError(f"no facts about {target!r}", advice="name a similar GPU with --target")


def _scaled(measurement: Measurement, facts: gpus.Arch | None, ea_channels: int | None) -> Measurement:
    if not measurement.is_lower_bound:
        return measurement
    if ea_channels is not None:
        value = measurement.value * ea_channels
        formula = f"({measurement.formula})·{ea_channels} (--ea-channels)"
        return replace(measurement, value=value, formula=formula, is_lower_bound=False)
    return replace(measurement, is_lower_bound=facts is None or facts.target not in _FULLY_COUNTED)


def _row(
    name: str, measurements: list[Measurement], peak: int | None, ideal_gb: float | None, captures: Sequence[CounterSet]
) -> dict[str, Any]:
    """The row of `L2.kernels` of one kernel; of several runs that measured a metric, the first counts."""
    best = {measurement.metric: measurement for measurement in reversed(measurements)}
    read, written = best.get("read_bytes"), best.get("write_bytes")
    row: dict[str, Any] = {"kernel_name": name} | _times(name, captures) | reuse(best)
    for metric, column in _COLUMNS.items():
        row[column] = best[metric].value if metric in best else None
    row["read_bytes_at_most"] = read.value * LARGEST_READ if read and read.is_lower_bound else None
    row["read_bytes_per_second"] = _rate(read.value, read) if read else None
    row["write_bytes_per_second"] = _rate(written.value, written) if written else None
    if ideal_gb is not None and read:
        row["over_fetch"] = read.value / (ideal_gb * 1e9)
        row["useful_bytes_per_second"] = _rate(ideal_gb * 1e9, read)
    is_same_run = read is not None and written is not None and read.run == written.run
    rates = [row["read_bytes_per_second"], row["write_bytes_per_second"] if is_same_run or not read else None]
    known_rates = [rate for rate in rates if rate is not None]
    useful = row.get("useful_bytes_per_second")
    share_column = "peak_share" if read and written else "peak_share_at_least"  # of one side alone
    row[share_column] = sum(known_rates) / peak if known_rates and peak else None
    if known_rates and peak and read and written and read.is_lower_bound:
        row["peak_share_at_most"] = (sum(known_rates) + (LARGEST_READ - 1) * (row["read_bytes_per_second"] or 0)) / peak
    row["useful_peak_share"] = useful / peak if useful is not None and peak else None
    return row


def _holding_cache(row: dict[str, Any], facts: gpus.Arch | None) -> int | None:
    """The Infinity Cache, where it can hold all that a dispatch reads and writes: it may serve that."""
    size = facts.product.infinity_cache_bytes if facts else None
    byte_count = (row["read_bytes_at_most"] or row["read_bytes_mean"] or 0) + (row["write_bytes_mean"] or 0)
    return size if size and byte_count <= size else None


def _times(name: str, captures: Sequence[CounterSet]) -> dict[str, Any]:
    """`dispatch_count` and `duration_ns_mean` of the run that has most dispatches of the kernel."""
    times: dict[str, Any] = {"dispatch_count": 0, "duration_ns_mean": None}
    for counters in captures:
        dispatches = counters.dispatches.filter(pl.col("kernel_name") == name)
        if dispatches.height > times["dispatch_count"]:
            duration_ns = (dispatches["end_ns"] - dispatches["start_ns"]).mean()
            times = {"dispatch_count": dispatches.height, "duration_ns_mean": duration_ns}
    return times


def _rate(amount: float, measurement: Measurement) -> float | None:
    return amount / measurement.duration_ns_mean * 1e9 if measurement.duration_ns_mean else None


def _caveats(measurements: list[Measurement]) -> list[str]:
    """Limits of the trust in the numbers."""
    notes = []
    if any(not m.same_pass for m in measurements):
        notes.append("some counters of one ratio were collected in different passes: small differences mean nothing")
    if any(m.duration_ns_mean is None for m in measurements):
        notes.append("timestamps are missing or make no sense: no bandwidth")
    if any(m.is_lower_bound for m in measurements):
        notes.append(
            "the sizes of reads were not counted: bytes read are at least 64 and at most 128 per request; collect "
            "TCC_BUBBLE_sum (MI300) or TCC_EA0_RDREQ_64B_sum and _128B_sum (MI350) with TCC_EA0_RDREQ_sum, "
            "or use --ea-channels 2"
        )
    for metric in ("hit_rate", "read_bytes"):
        for name in dict.fromkeys(m.kernel_name for m in measurements):
            several = [m for m in measurements if m.metric == metric and m.kernel_name == name]
            values = sorted(m.value for m in several)
            if values and values[0] < _AGREEING_FROM * values[-1]:
                where = ", ".join(short_path(m.file) for m in several[:_FILES_SHOWN])
                span = f"{values[0]:.4g} to {values[-1]:.4g}"
                notes.append(f"{name[:60]}: runs disagree about {metric} ({span}): {where}")
    return notes

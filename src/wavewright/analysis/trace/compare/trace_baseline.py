"""Measurements of thread traces, for a baseline: cycles of waves, kinds of instructions and lines, the median call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import sqrt

import polars as pl

from wavewright.analysis.common.gate.check import JudgedFinding
from wavewright.analysis.trace.code.wave_paths import wave_paths
from wavewright.analysis.trace.compare import main_kernel
from wavewright.analysis.trace.compare.spread import batches
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.costs.row_costs import entered_rows
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.base.shown import quoted
from wavewright.errors import UsageError
from wavewright.model.baseline import MeasuredCapture, Quantity
from wavewright.model.trace import ThreadTrace

_NORMAL_95 = 1.959964  #: 95 % of the values of a normal variable are within this many standard errors.
_MANY_DEGREES = 10**6  #: Of the error of a median, which has none: with so many, Student's t is the normal one.
_MOST_LINES = 1000  #: Lines of a baseline at most, those with the most exposed cycles.


def trace_baseline(trace: ThreadTrace, label: str, *, damages: Sequence[str] = ()) -> MeasuredCapture:
    """The measurements of one trace. Raises `UsageError` when no instruction was traced."""
    if not trace.instructions.height:
        what, where = "no instruction was traced here, so there is nothing to judge", trace.source.path
        raise UsageError(what, where=where, advice=f"wavewright coverage {quoted(where)} tells why")
    return MeasuredCapture(
        label=label,
        quantities=(_cycles(trace), *_kernel_time(trace), *_kinds(trace), *_lines(trace)),
        target=trace.source.target or "",
        software={trace.source.format: ""},
        kernel=main_kernel(trace),
        code=_code(trace),
        damages=tuple(damages),
    )


def trace_findings(trace: ThreadTrace) -> tuple[JudgedFinding, ...]:
    """The findings of the diagnosis, with the line that costs most of each."""
    findings = []
    for finding in diagnose(trace).findings:
        place = next((row for row in finding.evidence if row.file and row.line), None)
        file, line = (place.file or "", place.line or 0) if place else ("", 0)
        findings.append(JudgedFinding(finding.name, finding.verdict, finding.gain_share_max, file, line))
    return tuple(findings)


def _cycles(trace: ThreadTrace) -> Quantity:
    """The mean duration of a wave; its error is that of batches of neighbouring waves, which depend on each other."""
    lived = batches(trace).join(wave_paths(trace).select("wave", "duration_cycles"), on="wave")
    means = lived.group_by("batch", maintain_order=True).agg(pl.col("duration_cycles").mean())["duration_cycles"]
    values = [float(value) for value in means.to_list()]
    durations = [float(value) for value in lived["duration_cycles"].to_list()]
    count = len(values)
    batch_mean = sum(values) / max(count, 1)
    error = sqrt(sum((value - batch_mean) ** 2 for value in values) / (count - 1) / count) if count > 1 else None
    median = lived["duration_cycles"].median()
    mean, degrees = sum(durations) / max(len(durations), 1), None if error is None else count - 1
    median_cycles = float(median) if isinstance(median, float | int) else None
    return Quantity("cycles", "", "cycles", len(durations), mean, error, degrees, median=median_cycles)


def _kernel_time(trace: ThreadTrace) -> list[Quantity]:
    """The median call of the traced kernel in the run beside the trace, where there is one."""
    launch = trace.launch
    if launch is None or not launch.duration_ns_median:
        return []
    noise = launch.median_noise_ns
    error, degrees = (None, None) if noise is None else (noise / _NORMAL_95, _MANY_DEGREES)
    median = launch.duration_ns_median
    return [Quantity("kernel-time", "", "ns", launch.call_count, median, error, degrees, median=median)]


def _kinds(trace: ThreadTrace) -> list[Quantity]:
    waves = max(batches(trace).height, 1)
    units = hotspots(trace, by="kind").units.filter(pl.col("unit").is_not_null() & (pl.col("exposed_cycles_total") > 0))
    return [
        Quantity("kind", name, "cycles", hits, exposed / waves)
        for name, hits, exposed in units.select("unit", "hit_count", "exposed_cycles_total").rows()
    ]


def _lines(trace: ThreadTrace) -> list[Quantity]:
    waves = max(batches(trace).height, 1)
    units = hotspots(trace, by="line").units.filter(
        pl.col("file").is_not_null() & pl.col("line").is_not_null() & (pl.col("exposed_cycles_total") > 0)
    )
    return [
        Quantity("line", f"{file}:{line}", "cycles", hits, exposed_cycles / waves, file=file, line=line)
        for file, line, hits, exposed_cycles in units.select("file", "line", "hit_count", "exposed_cycles_total")
        .head(_MOST_LINES)
        .rows()
    ]


def _code(trace: ThreadTrace) -> str:
    """A hash of the kernel's name and of the instructions of what ran, in order."""
    rows = trace.code.join(entered_rows(trace).select("row"), on="row", how="semi", maintain_order="left")
    digest = hashlib.sha256(main_kernel(trace).encode())
    for text in rows["text"].fill_null(""):
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]

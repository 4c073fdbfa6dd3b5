"""Bytes requested of L2 per byte that it fetched; a hit rate cannot tell, because several requests share a line."""

from __future__ import annotations

from collections.abc import Mapping

from wavewright.analysis.counters.l2.traffic import Measurement

_HARDLY_READS = 0.01  #: Of the bytes written: a reuse of so little says nothing.
#: Reads of 128 bytes count as one of 64 where the counters do not tell sizes: fetched bytes are at most twice as many.
LARGEST_READ = 2.0


def reuse(measurements: Mapping[str, Measurement]) -> dict[str, float | None]:
    """`requested_bytes_mean`, `reuse_at_least` and `reuse_at_most` of one kernel, from its measurement of each metric.

    Only measurements of one run with equally many dispatches are divided.

    Examples
    --------
    >>> from wavewright.analysis.counters.l2.traffic import Measurement
    >>> def of(metric, value, **more):
    ...     return Measurement(0, "copy", metric, value, 1, None, "", same_pass=True, **more)
    >>> found = reuse({"requested_bytes": of("requested_bytes", 8e6), "read_bytes": of("read_bytes", 2e6)})
    >>> found["reuse_at_least"], found["reuse_at_most"]
    (4.0, 4.0)
    """
    requested, read, written = (measurements.get(name) for name in ("requested_bytes", "read_bytes", "write_bytes"))
    bounds = {
        "requested_bytes_mean": requested.value if requested else None,
        "reuse_at_least": None,
        "reuse_at_most": None,
    }
    if requested is None or read is None or not _belong(requested, read):
        return bounds
    if hardly_reads(read.value, written.value if written else None):
        return bounds
    if requested.is_upper_bound:  # of reads and writes
        if written is not None and _belong(requested, written) and read.value + written.value > 0:
            bounds["reuse_at_most"] = requested.value / (read.value + written.value)
        return bounds
    if read.value > 0:
        most = requested.value / read.value
        bounds |= {"reuse_at_least": most / (LARGEST_READ if read.is_lower_bound else 1.0), "reuse_at_most": most}
    return bounds


def hardly_reads(read_bytes: float | None, written_bytes: float | None) -> bool:
    """True if a kernel writes, and reads next to nothing.

    Examples
    --------
    >>> hardly_reads(15_730, 16_780_000), hardly_reads(8e6, 8e6), hardly_reads(None, 8e6)
    (True, False, False)
    """
    return read_bytes is not None and bool(written_bytes) and read_bytes < _HARDLY_READS * (written_bytes or 0)


def _belong(left: Measurement, right: Measurement) -> bool:
    return left.run == right.run and left.dispatch_count == right.dispatch_count

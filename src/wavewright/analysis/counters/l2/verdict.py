"""The decision tree about a kernel that waits for memory: four questions, each with its number and its meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wavewright.analysis.counters.l2.traffic import Measurement
from wavewright.base.words import amount, percent
from wavewright.model.findings import Finding, NumberEvidence

_STREAMING_BELOW = 0.05  #: Hit rate below which data is read once and not again.
#: Requested over fetched bytes: below the first every byte is used once, from the second on data is reused.
_USED_ONCE_BELOW, _REUSED_FROM = 1.1, 2.0
SCATTERED_FROM = 0.05  #: Share of 32-byte reads from which lines are wasted.
_FETCHES_TOO_MUCH_FROM, _FETCHES_TOO_LITTLE_BELOW = 1.1, 0.9  #: Bytes read over the bytes that had to be read.
#: Shares of the peak: clean streaming reaches 50 to 60 %, hardly anything more than 80 to 90 %.
HEALTHY_FROM, SATURATED_FROM = 0.5, 0.8
_HARDLY_READS = 0.01  #: A kernel that reads less than this share of what it writes has no reuse to judge.
#: Reads of 128 bytes count as one of 64 where the counters do not tell sizes: fetched bytes are at most twice as many.
LARGEST_READ = 2.0

#: Its name is the question, its verdict the answer, its kind the answer for programs.
L2Finding = Finding[NumberEvidence]


def findings(row: Mapping[str, Any]) -> tuple[L2Finding, ...]:
    """The questions in order, for a row of `L2.kernels`."""
    return (_reuse(row), _lines(row.get("read_32b_share")), _needed(row), _bandwidth(row))


def verdict(answers: Sequence[L2Finding]) -> str:
    """The conclusion from the answers, worst first."""
    kinds = {finding.kind for finding in answers}
    troubles = {
        "scattered": "scattered reads waste memory lines",
        "fetches too much": "reads more than it needs",
        "not bound": "memory bandwidth is not the limit",
    }
    problems = [text for kind, text in troubles.items() if kind in kinds]
    bases = {"streaming": "streaming", "little reuse": "little reuse in L2", "reuse": "data reused in L2"}
    base = next((text for kind, text in bases.items() if kind in kinds), "")
    if problems:
        return ", ".join([base, *problems] if base else problems)
    measured = [finding for finding in answers if finding.kind != "not measured"]
    if not measured:
        return "not measured"
    if kinds & {"healthy", "saturated"}:
        use = "nothing to fix" if "streaming" in kinds else "memory is well used"
        return f"{base}, {use}" if base else use
    return f"{base}; nothing to fix in what was measured" if base else "nothing to fix in what was measured"


def _answered(question: str, kind: str, answer: str, reason: str) -> L2Finding:
    return L2Finding(name=question, kind=kind, verdict=answer, reason=reason)


def _reuse(row: Mapping[str, Any]) -> L2Finding:
    question = "Is data reused in L2?"
    least, most, hit_rate = row.get("reuse_at_least"), row.get("reuse_at_most"), row.get("hit_rate")
    if hardly_reads(row.get("read_bytes_mean"), row.get("write_bytes_mean")):
        amounts = f"{amount(row['read_bytes_mean'])} read, {amount(row['write_bytes_mean'])} written"
        return _answered(question, "no reads", "there is hardly anything to reuse", amounts)
    if most is None:
        return _reuse_by_hits(question, hit_rate)
    hits = "" if hit_rate is None else f" ({percent(hit_rate)} of the requests hit)"
    if most < _USED_ONCE_BELOW:
        if hit_rate is not None and hit_rate >= _STREAMING_BELOW:
            hits = f"; the {percent(hit_rate)} of hits are further requests for parts of the same lines"
        counted = f"{amount(row['requested_bytes_mean'])} requested for {_fetched(row)}"
        return _answered(question, "streaming", "no, it streams", f"{counted}: every byte is used once{hits}")
    if least is None:
        counted = f"at most {most:.2f} bytes requested for each byte fetched{hits}"
        return _answered(question, "not measured", "unclear", f"{counted}: the sizes of requests were not counted")
    if least < most and not least >= _REUSED_FROM:
        counted = f"{least:.2f} to {most:.2f} bytes requested for each byte fetched{hits}"
        return _answered(question, "not measured", "unclear", f"{counted}: the sizes of reads were not counted")
    at_least = "at least " if least < most else ""
    counted = f"{at_least}{least:.2f} bytes requested for each byte fetched{hits}"
    if least >= _REUSED_FROM:
        return _answered(question, "reuse", "yes", counted)
    return _answered(question, "little reuse", "some", counted)


def _reuse_by_hits(question: str, hit_rate: float | None) -> L2Finding:
    """From the hit rate alone: few hits exclude reuse, many may be reuse or the rest of fetched lines."""
    needed = "TCP_TCC_READ_REQ_sum and the reads from memory"
    if hit_rate is None:
        return _unknown(question, "TCC_HIT_sum and TCC_MISS_sum (RDNA: GL2C_HIT_sum and GL2C_MISS_sum)")
    share = percent(hit_rate)
    if hit_rate < _STREAMING_BELOW:
        meaning = "every byte is read once; a better hit rate needs work that shares data, not another access pattern"
        return _answered(question, "streaming", "no, it streams", f"{share} of the requests hit: {meaning}")
    meaning = f"reuse, or further requests for parts of the same lines; collect {needed} to tell"
    return _answered(question, "not measured", "unclear", f"{share} of the requests hit: {meaning}")


def _fetched(row: Mapping[str, Any]) -> str:
    """The fetched bytes; of RDNA with the written ones, because requests are counted together."""
    if row.get("reuse_at_least") is None:
        return f"{amount(row['read_bytes_mean'] + row['write_bytes_mean'])} read and written"
    return f"{amount(row['read_bytes_mean'])} fetched"


def _lines(share: float | None) -> L2Finding:
    question = "Are memory lines read whole?"
    if share is None:
        return _unknown(question, "TCC_EA0_RDREQ_sum and TCC_EA0_RDREQ_32B_sum (RDNA: GL2C_EA_RDREQ_sum and its sizes)")
    if share < SCATTERED_FROM:
        return _answered(question, "whole lines", "yes", f"{percent(share)} of the reads are of 32 bytes only")
    meaning = "scattered or misaligned accesses: make neighbouring lanes read neighbouring bytes"
    return _answered(question, "scattered", "no", f"{percent(share)} of the reads are of 32 bytes only: {meaning}")


def _needed(row: Mapping[str, Any]) -> L2Finding:
    question = "Is only what is needed read?"
    factor, counted, counted_most = (row.get(name) for name in ("over_fetch", "read_bytes_mean", "read_bytes_at_most"))
    if factor is None:
        advice = "say with --ideal-gb how much a dispatch has to read"
        return _answered(question, "not measured", "not measured", advice)
    most = factor * (float(counted_most / counted) if counted and counted_most else 1.0)
    if most > factor and factor < _FETCHES_TOO_MUCH_FROM:
        times = f"{factor:.2f} to {most:.2f} times what is needed is read"
        return _answered(question, "not measured", "unclear", f"{times}: the sizes of reads were not counted")
    times = f"{factor:.2f} times what is needed is read"
    if factor >= _FETCHES_TOO_MUCH_FROM:
        meaning = "data is fetched again after it left L2, or in parts"
        return _answered(question, "fetches too much", "no", f"{times}: {meaning}")
    if factor < _FETCHES_TOO_LITTLE_BELOW:
        meaning = "part of it was in a cache already, --ideal-gb is too high, or request sizes were not counted"
        return _answered(question, "fetches too little", "more than that", f"{times}: {meaning}")
    return _answered(question, "needed only", "yes", times)


def known_peak_share(row: Mapping[str, Any]) -> float | None:
    """The share of the peak, or where one side of the traffic is not counted what it is at least."""
    share: float | None = row.get("peak_share")
    return row.get("peak_share_at_least") if share is None else share


def _bandwidth(row: Mapping[str, Any]) -> L2Finding:
    question = "Is the memory busy?"
    share = known_peak_share(row)
    if share is None:
        advice = "needs bytes, sound timestamps and a known GPU (--target)"
        return _answered(question, "not measured", "not measured", advice)
    uncounted = [side for side in ("read", "write") if row.get(f"{side}_bytes_mean", 0) is None]
    most = math.inf if uncounted else row.get("peak_share_at_most") or share
    if uncounted and share < HEALTHY_FROM:
        reason = f"at least {percent(share)} of the peak: the bytes of {uncounted[0]}s were not counted"
        return _answered(question, "not measured", "unclear", reason)
    useful = row.get("useful_peak_share")
    if useful is not None and most > share:  # what has to be read was read, even if the counters do not show its size
        share = max(share, useful)
    if most >= HEALTHY_FROM > share:
        reason = f"{percent(share)} to {percent(most)} of the peak: the sizes of reads were not counted"
        return _answered(question, "not measured", "unclear", reason)
    if share > 1:
        meaning = "more than the peak: served by a cache behind L2, or the wrong GPU"
        return _answered(question, "above peak", "more than possible", f"{_of_peak(share, None, most)}: {meaning}")
    if share >= HEALTHY_FROM and row.get("infinity_cache_bytes"):
        kind = "saturated" if share >= SATURATED_FROM else "healthy"
        cache = amount(row["infinity_cache_bytes"])
        remark = f"the Infinity Cache of {cache} can hold all of it, and may have served it"
        return _answered(question, kind, "yes, or the Infinity Cache is", f"{_of_peak(share, useful, most)}: {remark}")
    if share >= SATURATED_FROM:
        return _answered(question, "saturated", "yes", f"{_of_peak(share, useful, most)}: only reading less will help")
    if share >= HEALTHY_FROM:
        meaning = "50 to 60 % is what clean streaming reaches"
        return _answered(question, "healthy", "yes", f"{_of_peak(share, useful, most)}: {meaning}")
    meaning = "latency, occupancy or the L2 limit it: look at a thread trace"
    return _answered(question, "not bound", "no", f"{_of_peak(share, useful, most)}: {meaning}")


def _of_peak(share: float, useful: float | None, most: float) -> str:
    """The share of the peak in words; also the share that was needed, where that is known and another number."""
    moved = f"{percent(share)} of the peak"
    if most > share:
        bound = "" if most == math.inf else f", at most {percent(most)}"
        moved = f"at least {percent(share)}{bound} of the peak"
    return moved if useful is None or useful == share else f"{moved} ({percent(useful)} with the bytes that are needed)"


def _unknown(question: str, counters: str) -> L2Finding:
    return _answered(question, "not measured", "not measured", f"collect {counters} in one pass")


def reuse(measurements: Mapping[str, Measurement]) -> dict[str, float | None]:
    """`requested_bytes_mean`, `reuse_at_least` and `reuse_at_most` of one kernel, from its measurement of each metric.

    Only measurements of one run with equally many dispatches are divided.
    """
    requests, reads, writes = (measurements.get(name) for name in ("requested_bytes", "read_bytes", "write_bytes"))
    requested_bytes = requests.value if requests else None
    bounds = {"requested_bytes_mean": requested_bytes, "reuse_at_least": None, "reuse_at_most": None}
    if requests is None or reads is None or not _belong(requests, reads):
        return bounds
    if hardly_reads(reads.value, writes.value if writes else None):
        return bounds
    if requests.is_upper_bound:  # of reads and writes
        if writes is not None and _belong(requests, writes) and reads.value + writes.value > 0:
            bounds["reuse_at_most"] = requests.value / (reads.value + writes.value)
        return bounds
    if reads.value > 0:
        most = requests.value / reads.value
        bounds |= {"reuse_at_least": most / (LARGEST_READ if reads.is_lower_bound else 1.0), "reuse_at_most": most}
    return bounds


def hardly_reads(read_bytes: float | None, written_bytes: float | None) -> bool:
    """True if a kernel writes, and reads next to nothing.

    >>> hardly_reads(15_730, 16_780_000), hardly_reads(8e6, 8e6), hardly_reads(None, 8e6)
    (True, False, False)
    """
    return read_bytes is not None and bool(written_bytes) and read_bytes < _HARDLY_READS * (written_bytes or 0)


def _belong(left: Measurement, right: Measurement) -> bool:
    return left.run == right.run and left.dispatch_count == right.dispatch_count

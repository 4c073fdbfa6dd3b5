"""L2 and memory traffic: the conclusion, its reasons, and the numbers of every kernel and run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.counters.l2 import L2
from wavewright.base.shown import printable
from wavewright.base.words import amount, grouped, percent
from wavewright.model.blocks import AnyBlock, Sentence, Table, headline, sentence
from wavewright.words.kit.declared_tables import declared_table

_NOT_MEASURED = "?"
_MAX_NAME = 60  #: Characters of the name of a kernel.


def l2_report(answer: L2, *, limit: int) -> Iterator[AnyBlock]:
    """Blocks of the answer in order."""
    first = answer.kernels.row(0, named=True)
    yield headline(first["verdict"])
    yield Sentence(_subject(answer, first))
    for finding in answer.findings.filter(answer.findings["kernel_name"] == first["kernel_name"]).iter_rows(named=True):
        yield sentence((f"{finding['question']} ", "bold"), f"{finding['answer']}: {finding['reason']}")
    yield _kernel_table(answer.kernels, limit)
    if answer.measurements.select("run", "file").n_unique() > 1:
        yield declared_table("counters/l2/run", answer.measurements, limit=limit, value=_value)
    for note in answer.notes:
        yield Sentence(note, "note")


def _subject(answer: L2, row: dict[str, Any]) -> str:
    name = printable(row["kernel_name"])
    name = name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"
    if not answer.target:
        return name
    product = f" {answer.product}" if answer.product else ""
    peak = answer.memory_bytes_per_second_peak
    return f"{name} on {answer.target}{product}" + (f", peak {amount(peak)}/s" if peak else "")


def _kernel_table(kernels: pl.DataFrame, limit: int) -> Table:
    """The measurements of each kernel; metrics that no kernel has get no column."""
    return declared_table(
        "counters/l2/kernels",
        kernels,
        limit=limit,
        has_reuse=kernels["reuse_at_most"].count() > 0,
        has_read=kernels["read_bytes_mean"].count() > 0,
        has_over_fetch=kernels["over_fetch"].count() > 0,
        has_bandwidth=kernels["read_bytes_per_second"].count() > 0,
        has_peak=kernels["peak_share", "peak_share_at_least"].count().sum_horizontal().item() > 0,
        reuse=_reuse,
        read=_read,
        over_fetch=lambda row: _bounded(row, grouped(row["over_fetch"], 2, none=_NOT_MEASURED)),
        bandwidth=lambda row: _bounded(row, _bytes(row["read_bytes_per_second"])),
        of_peak=_of_peak,
    )


def _value(row: dict[str, Any]) -> str:
    if row["metric"].endswith("bytes"):
        bound = "≥ " if row["is_lower_bound"] else "≤ " if row["is_upper_bound"] else ""
        return bound + amount(row["value"])
    return f"{row['value']:,.0f}" if row["metric"] == "l1_read_requests" else percent(row["value"], none=_NOT_MEASURED)


def _read(row: dict[str, Any]) -> str:
    least, most = (_bytes(row[name]) for name in ("read_bytes_mean", "read_bytes_at_most"))
    if most == _NOT_MEASURED:
        return least
    return f"{least.split()[0] if least.split()[1] == most.split()[1] else least}-{most}"


def _bounded(row: dict[str, Any], words: str) -> str:
    """A number that follows from the bytes read, marked where these are a lower bound."""
    return f"≥ {words}" if row["read_bytes_at_most"] is not None and words != _NOT_MEASURED else words


def _of_peak(row: dict[str, Any]) -> str:
    if row["peak_share_at_least"] is not None:
        return f"≥ {percent(row['peak_share_at_least'])}"
    return _bounded(row, percent(row["peak_share"], none=_NOT_MEASURED))


def _reuse(row: dict[str, Any]) -> str:
    least, most = row["reuse_at_least"], row["reuse_at_most"]
    if most is None:
        return _NOT_MEASURED
    if least is None:
        return f"≤ {most:.2f}"
    return f"{most:.2f}" if least == most else f"{least:.2f}-{most:.2f}"


def _bytes(size: float | None) -> str:
    return amount(size, none=_NOT_MEASURED)

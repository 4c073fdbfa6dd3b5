"""Answers of the analyses, as they are: the page shows these numbers and makes none of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wavewright.analysis.trace.barriers import barriers
from wavewright.analysis.trace.costs.exposure import row_costs
from wavewright.analysis.trace.costs.sample_hotspots import sample_hotspots
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.memory_latency import memory_latency
from wavewright.analysis.trace.occupancy import occupancy
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.trust.coverage import coverage
from wavewright.analysis.trace.trust.verdicts import trust_of
from wavewright.analysis.trace.waits import waits
from wavewright.errors import UsageError
from wavewright.page.protocol.doubles import doubles
from wavewright.page.protocol.question import PageQuestion
from wavewright.page.protocol.serialize import serialize
from wavewright.page.trace.kernels import KERNEL, every_kernel, of_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    import polars as pl

    from wavewright.analysis.trace.stalls import Stalls
    from wavewright.model.document import Document

_MOST_ROWS = 2000  # rows of code: the page shows the costliest


def _kept(document: Document, key: tuple[Hashable, ...], make: Callable[[], Any]) -> Any:
    return document.kept(("answers", *key), lambda: serialize(make(), top=_MOST_ROWS))


def diagnosis(document: Document, *, kernel: int | None = None) -> Any:
    """The plan of `diagnose`: findings in the order of what to change first, and how far to trust them."""
    return _kept(document, ("diagnose", kernel), lambda: diagnose(of_kernel(document, kernel)))


def stalls_of(document: Document, *, kernel: int | None = None) -> Any:
    """Stall cycles by class; the rows of the classes are `stall_rows`."""
    return _kept(document, ("stalls", kernel), lambda: _without_rows(stalls(of_kernel(document, kernel))))


def stall_rows(document: Document, *, kernel: int | None = None) -> pl.DataFrame:
    """Stall cycles by code row and class, the largest first."""
    return doubles(stalls(of_kernel(document, kernel)).by_row.drop("address"))


def _without_rows(result: Stalls) -> dict[str, Any]:
    """The rows go as Arrow: there can be a row and class for every instruction of the code."""
    return {"definition": result.definition, **{name: part for name, part in vars(result).items() if name != "by_row"}}


def waits_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every executed wait with its exposed cycles, and its producers."""

    def make() -> Any:
        trace = of_kernel(document, kernel)
        result = waits(trace)
        stalls = row_costs(trace).select("row", "exposed_stall_cycles_total")
        return replace(result, waits=result.waits.join(stalls, on="row", how="left", maintain_order="left"))

    return _kept(document, ("waits", kernel), make)


def limits(document: Document) -> Any:
    """Number of waves that fit on a SIMD, those that were there, and the limit."""
    return _kept(document, ("occupancy",), lambda: occupancy(document.trace))


def latencies(document: Document, *, kernel: int | None = None) -> Any:
    """Duration of each memory operation."""
    return _kept(document, ("memory_latency", kernel), lambda: memory_latency(of_kernel(document, kernel)))


def barriers_of(document: Document, *, kernel: int | None = None) -> Any:
    """Every barrier with its meetings, who came last, and why."""
    return _kept(document, ("barriers", kernel), lambda: barriers(of_kernel(document, kernel)))


def coverage_of(document: Document) -> Any:
    """Traced part of the dispatch, the paths of its waves, and waves that are unlike the others."""

    def make() -> dict[str, Any]:
        result = coverage(document.trace)
        shares = {"executed_share": result.executed_share, "traced_share": result.traced_share}
        shares["is_same_short_path"] = result.is_same_short_path
        return {"definition": result.definition, **vars(result), **shares}

    return _kept(document, ("coverage",), make)


def trust(document: Document) -> Any:
    """Judgement about the use of the cycles and source lines of the trace, and every caveat."""
    return _kept(document, ("caveats",), lambda: trust_of(document.trace))


def sampled(document: Document) -> Any:
    """Rows at which PC samples met the waves, and the reasons of their stalls."""
    return _kept(document, ("sample_hotspots",), lambda: sample_hotspots(document.trace))


def _has_limits(document: Document) -> list[dict[str, Any]]:
    """Nothing where the GPU is not known: that is an error, and an exported page says that it has no answer."""
    try:
        limits(document)
    except UsageError:
        return []
    return [{}]


QUESTIONS = (
    PageQuestion("diagnose", "trace", diagnosis, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("stalls", "trace", stalls_of, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("stall_rows", "trace", stall_rows, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("waits", "trace", waits_of, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("occupancy_limits", "trace", limits, exported=_has_limits),
    PageQuestion("memory_latency", "trace", latencies, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("barriers", "trace", barriers_of, KERNEL, exported=every_kernel, is_of_time=True),
    PageQuestion("coverage", "trace", coverage_of),
    PageQuestion("caveats", "trace", trust),
    PageQuestion("sample_hotspots", "trace", sampled),
)

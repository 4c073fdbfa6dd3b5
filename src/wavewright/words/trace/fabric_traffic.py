"""Bytes between L2 and the fabric, and the orders of workgroups that save some, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.fabric import FabricTraffic
from wavewright.base.words import counted, grouped, percent, size
from wavewright.codeobj.kernel_arguments import worded_size
from wavewright.model.blocks import GAP, AnyBlock, Preformatted, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, table_below

_EVIDENCE = {"counter-proven": "proven by counters", "published": "published", "hypothesis": "a hypothesis"}
_AXES = "xyz"
_NO_TIME = "Bytes, not time: what fewer of them gain depends on the bandwidth that the kernel reaches already"


def traffic_report(answer: FabricTraffic, *, limit: int) -> Iterator[AnyBlock]:
    """A verdict, arrays, orders with the best one as a formula, instructions, and what is not known."""
    if answer.problem:
        yield headline(f"not known: {answer.problem}")
    else:
        yield from _verdict(answer)
        yield from table_below("trace/traffic/arrays", answer.arrays, limit=limit)
        yield from table_below("trace/traffic/mappings", answer.mappings, limit=None, change=_change)
        yield from _best(answer)
        yield from table_below("trace/traffic/rows", answer.rows, limit=min(limit, 10))
    if answer.reasons.height:
        yield GAP
        reasons = answer.reasons.group_by("reason", maintain_order=True).agg(
            pl.col("row").first(), pl.col("execution_count").sum()
        )
        yield declared_table("trace/traffic/reasons", reasons, limit=min(limit, 8))
    yield from table_below("trace/traffic/fits", answer.fits, limit=limit)
    for note in answer.notes:
        yield Sentence(note, "note")


def _verdict(answer: FabricTraffic) -> Iterator[AnyBlock]:
    least = "at least " if answer.known_share < 1 or not answer.xcd_count else ""
    causes = f"{size(answer.unavoidable_bytes)} unavoidable"
    if answer.xcd_count > 1:
        causes += f", {size(answer.replicated_bytes)} because several XCDs read the same lines"
    verdict = f"fabric reads {least}{size(answer.read_bytes)}: {causes}; writes {size(answer.write_bytes)}"
    yield sentence((verdict, "headline"))
    most_bytes = answer.mappings["most_bytes"][0]
    if answer.hit_rate is not None and most_bytes is not None:
        low, high = answer.hit_rate
        yield Sentence(
            f"read again after eviction: up to {size(most_bytes - answer.read_bytes)} in the orders of waves tried, "
            f"with a hit rate of L2 from {percent(low, 0)} to {percent(high, 0)} "
            f"({counted(answer.simulated_count, 'workgroups')} simulated)"
        )
    if answer.traced_read_requests is not None and answer.traced_hit_rate is not None:
        requests, rates = answer.traced_read_requests, answer.traced_hit_rate
        yield Sentence(
            f"in the traced order of waves ({counted(answer.traced_count, 'workgroups')}): "
            f"{_range(*requests, grouped)} reads of L2 by L1 in the whole dispatch, "
            f"with a hit rate of L2 {_range(*rates, lambda share: percent(share, 0))}"
        )
    yield Sentence(_hbm(answer))
    counts = worded_size(answer.counts)
    xcds = f"{counted(answer.xcd_count, 'XCDs')}, one by one" if answer.xcd_count > 1 else "one L2"
    yield Sentence(
        f"{counts} workgroups on {xcds}; {percent(answer.known_share, 0)} of the accesses known; "
        f"{counted(answer.evaluated_count, 'waves')} evaluated, {counted(answer.checked_count, 'workgroups')} drawn "
        f"at random (of long ones a wave each) agree with what follows from them; "
        f"caches of {answer.target}: {_EVIDENCE[answer.confidence]}"
    )
    if answer.read_request_count is not None:
        yield Sentence(
            f"requests of L1 to L2: {grouped(answer.read_request_count)} reads if waves share what they read between "
            f"two barriers, {grouped(answer.write_request_count)} writes"
        )


def _range(low: float, high: float, form: Callable[[float], str]) -> str:
    return f"from {form(low)} to {form(high)}" if form(low) != form(high) else f"of {form(low)}"


def _hbm(answer: FabricTraffic) -> str:
    least, most = answer.hbm_read_bytes
    if answer.fits_infinity_cache is None:
        return "HBM: there is no Infinity Cache, so the fabric reads are those of HBM"
    if answer.fits_infinity_cache:
        return f"HBM reads {size(least)} in any order, if it starts cold: everything fits in the Infinity Cache"
    above = "" if most is None else f", {size(most)} at most in the orders of waves tried"
    return f"HBM reads {size(least)} at least{above}: not everything fits in the Infinity Cache"


def _change(row: dict[str, Any]) -> str:
    return "" if abs(row["saved_share"]) < 0.0005 else percent(-row["saved_share"], sign=True)


def _best(answer: FabricTraffic) -> Iterator[AnyBlock]:
    yield GAP
    if not answer.best_mapping:
        yield Sentence("nothing to win: no order of workgroups that was tried reads 1 % fewer bytes than today's")
        return
    best = answer.mappings.filter(pl.col("mapping") == answer.best_mapping).row(0, named=True)
    gain = f"{best['mapping']}: {size(best['read_bytes'])} ({percent(-best['saved_share'], sign=True)}). {_NO_TIME}"
    yield Sentence(gain)
    if best["formula"] and best["mapping"] != "given":
        yield Preformatted(_code(best["formula"], answer.counts))


def _code(formula: str, counts: tuple[int, int, int]) -> str:
    """The code to write: the number of a workgroup as it is launched, its number in the new order, its ids in that."""
    x, y, _ = counts
    axes = [(axis, step) for axis, step, count in zip(range(3), (1, x, x * y), counts, strict=True) if count > 1]

    def launched(of_axis: Callable[[int], str]) -> str:
        return " + ".join(of_axis(axis) + (f" * {step}" if step > 1 else "") for axis, step in axes)

    lines = [
        f"// HIP, CK (map of blocks to tiles): id = {launched(lambda axis: f'blockIdx.{_AXES[axis]}')}",
        f"// Triton (and // for /): id = {launched(lambda axis: f'tl.program_id({axis})')}",
        *(f"{part.strip()};" for part in formula.split(";") if part.strip()),
    ]
    if not any(f"{axis} = " in formula for axis in _AXES):
        cuts = (f"id / {step}" if step > 1 else "id" for _, step in axes)
        ids = (
            f"{_AXES[axis]} = {digit}{f' % {counts[axis]}' if axis != axes[-1][0] else ''};"
            for (axis, _), digit in zip(axes, cuts, strict=True)
        )
        lines.append(" ".join(ids))
    return "\n".join(lines)

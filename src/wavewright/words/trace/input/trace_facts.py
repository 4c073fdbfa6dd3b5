"""Decoded traces in words: all dispatches of a folder, and the contents of one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from wavewright.analysis.trace.about.overview import Contents, launch_sentence, launch_source
from wavewright.base.shown import printable, quoted
from wavewright.base.words import counted, percent, shortened
from wavewright.facts.loader import packaged
from wavewright.model.blocks import AnyBlock, Grid, GridColumn, Labelled, Sentence, headline, sentence
from wavewright.words.kit.losses import loss_lines
from wavewright.words.trace.input.dispatches import chosen_line, dispatch_table

_MAX_KERNELS = 6  #: Kernels that are described; more are counted.

_MISSING: dict[str, str] = packaged("texts.toml", "wavewright.words.trace")["missing"]
#: Column of a kernel -> what its numbers count.
_RESOURCES: dict[str, str] = packaged("texts.toml", "wavewright.words.trace")["resources"]


def dispatches_report(what: str, rows: pl.DataFrame) -> Iterator[AnyBlock]:
    """All dispatches of a folder or archive, empty placeholders included."""
    yield headline(what)
    yield dispatch_table(rows.rename({"wave_count": "waves"}))
    yield from chosen_line(rows)


def contents_report(
    label: str, path: str, kind: str, facts: Contents, *, key: str = "", is_listed: bool = False
) -> Iterator[AnyBlock]:
    """Contents of one decoded trace, missing data, and the next commands.

    `path` is what commands about it are given, `key` what `--dispatch` takes for it. With `is_listed` the other
    dispatches need no note.
    """
    seen = facts.overview
    number = f", dispatch {printable(key)}" if key else ""
    yield sentence((label, "bold"), f": {kind}{number}")
    lines = [("GPU:", _gpu(facts))]
    lines += [("kernel:", _kernel(row)) for row in facts.kernels.head(_MAX_KERNELS).iter_rows(named=True)]
    if facts.kernels.height > _MAX_KERNELS:
        lines.append(("", f"and {counted(facts.kernels.height - _MAX_KERNELS, 'more kernels')}; --json has all"))
    if seen.launch is not None:
        lines.append(("call:", f"{launch_sentence(seen.launch)}; {launch_source(seen.launch)}"))
    holdings, missing = list(_holdings(facts)), _missing(facts)
    lines.append(("holds:", "; ".join(holdings) or "nothing"))
    if missing and holdings:
        lines.append(("lacks:", missing))
    yield Grid(tuple(lines), (GridColumn("bold", least_width=7), GridColumn()))
    yield from loss_lines([loss for loss in seen.losses if loss.kind != "other_dispatches" or not is_listed])
    for number_of_line, (command, why) in enumerate(_next_steps(path, facts, any_other=is_listed)):
        label = "next:   " if not number_of_line else "        "
        yield sentence((label, "bold"), f"{command}  ", (why, "dim"), style="advice")


def about_parts(facts: Contents, *, limit: int = _MAX_KERNELS) -> Iterator[AnyBlock]:
    """The trace for a report: no path and no commands."""
    seen = facts.overview
    yield headline("; ".join(_holdings(facts)) or "nothing was recorded")
    yield Labelled("GPU", _gpu(facts))
    for row in facts.kernels.head(limit).iter_rows(named=True):
        yield Labelled("kernel", _kernel(row))
    if facts.kernels.height > limit:
        yield Sentence(f"and {counted(facts.kernels.height - limit, 'more kernels')}")
    if seen.launch is not None:
        yield Labelled("call", f"{launch_sentence(seen.launch)}; {launch_source(seen.launch)}")
    if missing := _missing(facts):
        yield Labelled("not recorded", missing)


def _missing(facts: Contents) -> str:
    return "; ".join(
        _MISSING.get(name, name) for name in facts.missing if name != "source lines" or "code" not in facts.missing
    )


def _gpu(facts: Contents) -> str:
    seen = facts.overview
    generation = f"gfx{seen.gfxip}" if seen.gfxip else "unknown generation"
    name = seen.target or facts.inferred_gpu or f"{generation}, exact model not known"
    origin = f" (from {printable(facts.target_origin)})" if facts.target_origin else ""
    clock = f", shader clock {seen.clock_mhz:,.0f} MHz" if seen.clock_mhz else ""
    return f"{name}{origin}{clock}"


def _kernel(row: dict[str, Any]) -> str:
    name = shortened(printable(row["demangled"] or row["name"]))
    # tools write 0 bytes of LDS where they know nothing, or only the static part
    known = {column for column in _RESOURCES if row[column] or (row[column] == 0 and column != "lds_bytes")}
    resources = [f"{row[column]:,} {unit}" for column, unit in _RESOURCES.items() if column in known]
    origin = f" ({printable(row['resource_origin'])})" if resources and row["resource_origin"] else ""
    return f"{name}: {', '.join(resources)}{origin}" if resources else name


def _holdings(facts: Contents) -> Iterator[str]:
    seen = facts.overview
    engines = ", ".join(map(str, facts.shader_engines[:16]))
    if seen.waves:
        cut = seen.waves - seen.waves_complete
        yield counted(seen.waves, "waves") + f" of SE {engines}" + (f" ({cut:,} cut)" if cut else "")
        without = f" ({seen.unresolved:,} without PC)" if seen.unresolved else ""
        yield f"{counted(seen.instructions, 'instructions')}{without} in {counted(seen.span_cycles, 'cycles')}"
    if facts.pc_samples:
        dispatches = f" of {counted(facts.sampled_dispatches, 'dispatches')}" if facts.sampled_dispatches else ""
        yield f"{counted(facts.pc_samples, 'PC samples')} ({facts.sampling_method}){dispatches}"
    if facts.code_rows:
        share = percent(facts.rows_with_line / facts.code_rows, 0)
        mapped = f", {share} of them with source line" if facts.rows_with_line else ""
        yield f"{counted(facts.code_rows, 'code rows')}{mapped}"
    for count, name in (
        (facts.source_texts, "source files"),
        (seen.occupancy_events, "occupancy events"),
        (facts.counter_samples, "counter samples"),
        (facts.markers, "markers"),
        (facts.realtime_pairs, "wall clock pairs"),
    ):
        if count:
            yield counted(count, name)


def _next_steps(path: str, facts: Contents, *, any_other: bool) -> Iterator[tuple[str, str]]:
    seen, place = facts.overview, quoted(path)
    if facts.pc_samples and not seen.waves:
        yield f"wavewright diagnose {place}", "where waves were, and what that can mean"
        yield f"wavewright hotspots {place}", "which instructions were sampled"
        if facts.sampling_method == "stochastic":
            yield f"wavewright stalls {place}", "why they were not issued"
        return
    if not seen.waves:
        if seen.occupancy_events:
            yield f"wavewright occupancy {place}", "the waves of the other CUs; then trace one of these CUs"
        if any(loss.kind == "placeholder" for loss in seen.losses) and any_other:
            yield "--dispatch", "one of the dispatches above that is not a placeholder"
        else:
            yield "capture again", "--att-target-cu, --att-shader-engine-mask, or a larger grid"
        return
    if seen.damaged:
        yield f"wavewright coverage {place}", "what can be trusted in spite of the losses above"
    yield f"wavewright diagnose {place}", "what to change first; hotspots, stalls, waits, ... take the same path"

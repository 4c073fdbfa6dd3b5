"""A kernel as compiled, in words: registers, the curve of live ones, what one wave more needs, loops, waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from wavewright.analysis.code.kernel import KernelCode
from wavewright.analysis.code.mix import KINDS, kind_counts
from wavewright.base.shown import printable
from wavewright.base.words import counted, shortened
from wavewright.model.blocks import GAP, AnyBlock, Part, Sentence, Table, chart, headline, sentence
from wavewright.words.kit.declared_tables import declared_table
from wavewright.words.kit.frame_tables import Column, lines_of, place
from wavewright.words.kit.wait_checks import open_barrier_words, strict_wait_words
from wavewright.writers.terminal.texts import fitted

_KIND_TITLES = {"vgprs": "VGPR", "agprs": "AGPR", "sgprs": "SGPR"}
_WIDEST_CURVE = 160  #: Characters of the curve of live registers, at most.
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_CURVE, _LIMIT = "#56B4E9", "#E69F00"  #: Colours of the live registers and of the limits (Okabe-Ito).
_DEEPEST = 9  #: Loops around a row that one digit can say.
_WIDE_KINDS = ("scratch", "flat", "SMEM", "barrier", "branch", "other")  #: Shown where there is room.


def kernel_report(answer: KernelCode, resources: dict[str, Any], *, limit: int, width: int) -> Iterator[AnyBlock]:
    """All but the listing. `resources` is the kernel's row of the overview."""
    yield headline(_verdict(answer))
    yield sentence((_resources(resources), "dim"))
    has_agprs = any(answer.registers.filter(kind="agprs").select("allocated", "used").row(0))
    shown = answer.registers if has_agprs else answer.registers.filter(pl.col("kind") != "agprs")
    yield declared_table(
        "code/kernel/register", shown, kind=lambda row: _KIND_TITLES[row["kind"]], peak=_peak_cell(answer)
    )
    if answer.peak_row is not None:
        yield GAP
        yield from _curve(answer, width)
    yield GAP
    yield from _one_wave_more(answer)
    yield GAP
    yield _mix_table(answer, limit)
    yield from _spills(answer, limit)
    if answer.waits.height:
        yield GAP
        yield from _waits(answer, limit)
    yield from _judged_waits(answer, limit)
    for note in answer.notes:
        yield Sentence(note, "note")


def _spills(answer: KernelCode, limit: int) -> Iterator[AnyBlock]:
    """Registers that are kept in scratch, and the rows that move them."""
    if answer.spills.is_empty():
        return
    stores, reloads, in_loops = answer.spills.select("store_count", "reload_count", "loop_reload_count").sum().row(0)
    yield GAP
    yield sentence(
        ("scratch: ", "bold"),
        f"{counted(stores, 'stores')} and {counted(reloads, 'reloads')} of {counted(answer.spills.height, 'places')}, "
        f"{in_loops:,} of the reloads in loops",
    )
    addresses = dict(answer.rows.select("row", "address").iter_rows())

    def address(name: str) -> Callable[[dict[str, Any]], str]:
        return lambda row: "" if row[name] is None else f"{addresses[row[name]]:#x}"

    yield declared_table(
        "code/kernel/spills",
        answer.spills,
        limit=limit,
        place=lambda row: f"{row['base']} + {row['offset_bytes']:,}",
        store=address("store_row"),
        reload=address("reload_row"),
    )


def head_line(answer: KernelCode) -> Sentence:
    """Name, GPU and wave size."""
    lanes = f", waves of {answer.wave_size}" if answer.wave_size else ""
    title = f"{shortened(printable(answer.demangled), 90)} on {printable(answer.target or '?')}{lanes}"
    return sentence((title, "bold"))


def _verdict(answer: KernelCode) -> str:
    waves = answer.waves_per_simd_limit
    if waves is None:
        return "how many waves fit on a SIMD is not known"
    if waves == 0:
        return f"no workgroup fits, bound by {answer.bound_by}"
    bound = "the hardware" if answer.bound_by == "hardware" else answer.bound_by
    return f"{counted(waves, 'waves')} per SIMD {'fits' if waves == 1 else 'fit'}, bound by {bound}"


def _resources(row: dict[str, Any]) -> str:
    parts = []
    if row["workgroup_size_required"]:
        parts.append(f"workgroups of {row['workgroup_size_required']}")
    elif row["workgroup_size_max"]:
        parts.append(f"workgroups of at most {row['workgroup_size_max']:,}")
    for name, title in (("lds_bytes", "LDS"), ("scratch_bytes", "scratch"), ("kernarg_bytes", "kernarg")):
        if row[name] is not None:
            parts.append(f"{title} {row[name]:,} B")
    for name, title in (("vgpr_spills", "vector"), ("sgpr_spills", "scalar")):
        if row[name]:
            parts.append(f"{row[name]:,} {title} registers spilled")
    if row["dynamic_stack"]:
        parts.append("dynamic stack")
    return ", ".join([*parts, f"code {row['code_bytes']:,} B"])


def _peak_cell(answer: KernelCode) -> Callable[[dict[str, Any]], str]:
    """The cell that says where most registers of a kind are live."""
    rows = answer.rows

    def where(row: dict[str, Any]) -> str:
        if row["first_row"] is None or not row["peak"]:
            return ""
        first = rows.row(row["first_row"], named=True)
        parts = [f"{first['address']:#x}", place(first["file"], first["line"])]
        loop = "" if first["loop"] is None else f"in loop {first['loop']}"
        more = f"and {row['row_count'] - 1:,} more rows" if row["row_count"] > 1 else ""
        return " ".join(printable(part) for part in (*parts, loop, more) if part)

    return where


def _curve(answer: KernelCode, width: int) -> Iterator[AnyBlock]:
    reached = answer.rows.filter("is_reached")
    limits = {
        row["vgprs_at_most"]: f"{row['waves_per_simd']} waves"
        for row in answer.steps.iter_rows(named=True)
        if row["vgprs_at_most"] is not None
    }
    if answer.waves_per_simd_limit and answer.bound_by == "VGPR":
        allocated = answer.registers.filter(pl.col("kind") != "sgprs")["allocated"].sum()
        limits[int(allocated)] = f"{answer.waves_per_simd_limit} waves"
    live, depths = reached["live_vectors"].to_list(), reached["depth"].to_list()
    title = f"live vector registers over {counted(reached.height, 'rows')}; waves fit below their lines"
    yield chart(live_curve(live, depths, limits, width=min(width, _WIDEST_CURVE)), title)
    if answer.peak_registers:
        yield sentence((f"live before the peak: {answer.peak_registers}", "dim"))


def live_curve(
    live: Sequence[int], depths: Sequence[int], limits: Mapping[int, str], *, width: int, height: int = 8
) -> list[Sentence]:
    """One column per group of rows, as high as the most live registers in it; `limits`: registers -> a word.

    Below it stands how many loops are around the rows of a column.

    >>> for line in live_curve([1, 4, 8, 2], [0, 1, 1, 0], {8: "4 waves"}, width=24, height=2):
    ...     print(line.text)
      8 ┤╌╌█╌╌╌╌╌╌╌ 4 waves
      4 ┤▂██▄
    loops 11
    """
    top = max([*live, *limits, 1])
    labels = {level: word for level, word in limits.items() if level <= top}
    room = max([0, *map(len, labels.values())])
    digits = max(3, len(f"{top:,}"))
    cells = max(8, width - digits - 3 - room - 1)
    values = _largest(live, cells)
    lines = []
    # line of characters, from the bottom -> the limit that is drawn there: the line in which it ends
    rows_of_limits = {min(height - 1, max(0, -(-level * height // top) - 1)): level for level in sorted(labels)}
    for level in reversed(range(height)):
        limit = rows_of_limits.get(level)
        mark = limit if limit is not None else round((level + 1) * top / height)
        parts: list[Part] = [(f"{mark:>{digits},} ┤", "dim")]
        for value in values:
            eighths = max(0, min(8, round(8 * (value * height / top - level))))
            if value and level == 0:
                eighths = max(1, eighths)  # one live register is seen, too
            empty = (" ", "") if limit is None else ("╌", _LIMIT)
            parts.append((_EIGHTHS[eighths], _CURVE) if eighths else empty)
        if limit is not None:
            parts.append(("╌" * (cells - len(values)) + f" {labels[limit]}", _LIMIT))
        lines.append(fitted(sentence(*parts), width))
    deep = _largest(depths, cells)
    if any(deep):
        marks = "".join(str(min(_DEEPEST, depth)) if depth else " " for depth in deep)
        lines.append(sentence((f"{'loops':<{digits + 2}}{marks}".rstrip(), "dim")))
    return lines


def _largest(values: Sequence[int], cells: int) -> list[int]:
    """The most of each of at most `cells` equal parts."""
    if len(values) <= cells:
        return list(values)
    edges = [len(values) * cell // cells for cell in range(cells + 1)]
    return [max(values[begin:end]) for begin, end in pairwise(edges)]


def _one_wave_more(answer: KernelCode) -> Iterator[AnyBlock]:
    if answer.waves_per_simd_limit is None:
        return
    if not answer.steps.height:
        reason = "no more fit on this hardware" if answer.bound_by == "hardware" else "needs another workgroup size"
        yield sentence(("one wave more: ", "bold"), reason)
        return
    yield sentence(("one wave more: ", "bold"), _step_words(answer.steps.row(0, named=True)))
    if answer.steps.height > 1:
        yield declared_table(
            "code/kernel/steps",
            answer.steps,
            peak_above=lambda row: "-" if row["peak_above"] is None else f"{max(0, row['peak_above']):,}",
        )


def _step_words(step: dict[str, Any]) -> str:
    needs = []
    if step["vgprs_at_most"] is not None:
        fewer = f", {step['vgprs_to_free']:,} fewer than it names" if step["vgprs_to_free"] else ""
        needs.append(f"at most {step['vgprs_at_most']:,} vector registers{fewer}")
    if step["sgprs_at_most"] is not None:
        needs.append(f"at most {step['sgprs_at_most']:,} scalar registers")
    if step["lds_bytes_at_most"] is not None:
        needs.append(f"at most {step['lds_bytes_at_most']:,} bytes of LDS per workgroup")
    text = f"{counted(step['waves_per_simd'], 'waves')} per SIMD need {' and '.join(needs)}"
    above = step["peak_above"]
    if above is None:
        return text
    if above > 0:
        inside = f", {step['loop_rows_above']:,} of them in loops" if step["loop_rows_above"] else ""
        rows = counted(step["rows_above"], "rows")
        return f"{text}. In this order of instructions {rows} have more live{inside}, the peak {above:,} more"
    return (
        f"{text}. No row has more live, so the values fit; whether registers do depends on how they are assigned:"
        " tuples lie side by side, and some at even numbers"
    )


def _mix_table(answer: KernelCode, limit: int) -> Table:
    """The kernel and each of its loops in a row."""
    counts = {loop: kind_counts(answer.mix, loop) for loop in (None, *answer.loops["loop"].to_list())}
    columns = [name for name in answer.loops.columns if name != "parent"]
    whole = pl.DataFrame([_whole_row(answer)], schema={name: answer.loops.schema[name] for name in columns})
    return declared_table(
        "code/kernel/mix",
        pl.concat([whole, answer.loops.select(columns)]),
        limit=limit + 1,
        loop=_loop_title,
        kinds=[_kind_column(kind, counts) for kind in KINDS if kind in counts[None]],
        source=lines_of,
    )


def _kind_column(kind: str, counts: dict[int | None, dict[str, int]]) -> Column:
    return Column(kind, lambda row: f"{counts[row['loop']].get(kind, 0):,}", is_wide=kind in _WIDE_KINDS)


def _whole_row(answer: KernelCode) -> dict[str, Any]:
    reached = answer.rows.filter("is_reached")
    return {
        "loop": None,
        "depth": 0,
        "address": reached["address"][0] if reached.height else None,
        "row_count": reached.height,
        "live_vgprs_max": reached["live_vgprs"].max(),
        "live_agprs_max": reached["live_agprs"].max(),
        "file": None,
        "first_line": None,
        "last_line": None,
    }


def _loop_title(row: dict[str, Any]) -> str:
    return "kernel" if row["loop"] is None else "  " * min(row["depth"], 8) + f"loop {row['loop']}"


def _waits(answer: KernelCode, limit: int) -> Iterator[AnyBlock]:
    rows = answer.rows.select("row", "address", "text", "depth")
    waited = (
        answer.waits.filter(pl.col("producer_count") > 0)
        .join(rows, left_on="wait_row", right_on="row", how="left")
        .join(
            rows.select("row", producer="text", producer_address="address"),
            left_on="producer_row",
            right_on="row",
            how="left",
        )
        .sort("depth", "distance_rows", "wait_row", descending=[True, False, False])
    )
    idle = answer.waits.height - waited.height
    more = f"; {idle:,} have nothing to wait for on the straight way" if idle else ""
    yield declared_table(
        "code/kernel/waits",
        waited,
        limit=limit,
        loops=lambda row: str(row["depth"] or ""),
        counter=lambda row: f"{row['counter']}({row['value']})",
        operations=lambda row: f"{row['producer_count']:,}" + ("" if row["is_certain"] else "?"),
        between=lambda row: f"{row['distance_rows']:,}" + "*" * row["is_around_loop"],
        operation=lambda row: (row["producer"] or "").split(" offset")[0],
    )
    around = ", * in the iteration before" if waited["is_around_loop"].any() else ""
    unsure = "; ? they may complete in any order" if not waited["is_certain"].all() else ""
    words = f"between: instructions from the latest operation that is waited for{around} to the wait{unsure}{more}"
    yield sentence((words, "dim"))


def _judged_waits(answer: KernelCode, limit: int) -> Iterator[AnyBlock]:
    """Waits of loops that are stricter than needed, and barriers that LDS writes in flight may reach."""
    for rows in (strict_wait_words(answer.strict_waits), open_barrier_words(answer.open_barriers)):
        for text in rows[:limit]:
            yield Sentence(text, "note")
        if len(rows) > limit:
            yield sentence((f"... and {len(rows) - limit:,} more like these", "dim"))


def descriptor_report(answer: KernelCode) -> Iterator[AnyBlock]:
    """The fields of the kernel descriptor, by name."""
    if not answer.descriptor:
        yield Sentence("the kernel has no descriptor")
        return
    fields = pl.DataFrame({"field": list(answer.descriptor), "value": list(answer.descriptor.values())})
    yield declared_table("code/kernel/descriptor", fields)
    yield GAP

"""A kernel as compiled, in words: registers, the curve of live ones, what one wave more needs, loops, waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from wavewright.analysis.code.mix import KINDS, kind_counts
from wavewright.base.shown import printable
from wavewright.base.words import counted, grouped, shortened
from wavewright.model.blocks import GAP, AnyBlock, Sentence, Table, chart, headline, sentence
from wavewright.words.code.curve import live_curve
from wavewright.words.kit.frame_tables import Column, frame_table, hexadecimal, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.code.kernel import KernelCode

_KIND_TITLES = {"vgprs": "VGPR", "agprs": "AGPR", "sgprs": "SGPR"}
_WIDEST_CURVE = 160
_WIDE_KINDS = ("scratch", "flat", "SMEM", "barrier", "branch", "other")  #: Shown where there is room.


def kernel_report(answer: KernelCode, resources: dict[str, Any], *, limit: int, width: int) -> Iterator[AnyBlock]:
    """All but the listing. `resources` is the kernel's row of the overview."""
    yield headline(_verdict(answer))
    yield sentence((_resources(resources), "dim"))
    has_agprs = any(answer.registers.filter(kind="agprs").select("allocated", "used").row(0))
    shown = answer.registers if has_agprs else answer.registers.filter(pl.col("kind") != "agprs")
    yield frame_table(shown, _register_columns(answer), limit=None, what="kinds of registers")
    if answer.peak_row is not None:
        yield GAP
        yield from _curve(answer, width)
    yield GAP
    yield from _one_wave_more(answer)
    yield GAP
    yield _mix_table(answer, limit)
    if answer.waits.height:
        yield GAP
        yield from _waits(answer, limit)
    for note in answer.notes:
        yield Sentence(note, "note")


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


def _register_columns(answer: KernelCode) -> tuple[Column, ...]:
    rows = answer.rows

    def where(row: dict[str, Any]) -> str:
        if row["first_row"] is None or not row["peak"]:
            return ""
        at = rows.row(row["first_row"], named=True)
        parts = [f"{at['address']:#x}", place(at["file"], at["line"])]
        loop = "" if at["loop"] is None else f"in loop {at['loop']}"
        more = f"and {row['row_count'] - 1:,} more rows" if row["row_count"] > 1 else ""
        return " ".join(printable(part) for part in (*parts, loop, more) if part)

    return (
        Column("", lambda row: _KIND_TITLES[row["kind"]], is_text=True, is_fixed=True),
        Column("allocated", _number("allocated")),
        Column("compiler", _number("compiler")),
        Column("named", _number("used")),
        Column("live at the peak", _number("peak")),
        Column("where", where, takes_rest=True, is_text=True),
    )


def _number(name: str) -> Any:
    return lambda row: grouped(row[name])


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


def _one_wave_more(answer: KernelCode) -> Iterator[AnyBlock]:
    if answer.waves_per_simd_limit is None:
        return
    if not answer.steps.height:
        reason = "no more fit on this hardware" if answer.bound_by == "hardware" else "needs another workgroup size"
        yield sentence(("one wave more: ", "bold"), reason)
        return
    yield sentence(("one wave more: ", "bold"), _step_words(answer.steps.row(0, named=True)))
    if answer.steps.height > 1:
        yield frame_table(answer.steps, _STEPS, limit=None, what="steps")


def _step_words(step: dict[str, Any]) -> str:
    needs = []
    if step["vgprs_at_most"] is not None:
        needs.append(f"at most {step['vgprs_at_most']:,} vector registers{_fewer(step)}")
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


def _fewer(step: dict[str, Any]) -> str:
    return f", {step['vgprs_to_free']:,} fewer than it names" if step["vgprs_to_free"] else ""


_STEPS = (
    Column("waves/SIMD", lambda row: str(row["waves_per_simd"])),
    Column("VGPR ≤", _number("vgprs_at_most")),
    Column("to free", _number("vgprs_to_free")),
    Column("rows above", _number("rows_above")),
    Column("in loops", _number("loop_rows_above")),
    Column("peak above", lambda row: "-" if row["peak_above"] is None else f"{max(0, row['peak_above']):,}"),
    Column("SGPR ≤", lambda row: grouped(row["sgprs_at_most"], none=""), is_text=True, is_fixed=True),
    Column("LDS ≤", lambda row: grouped(row["lds_bytes_at_most"], none=""), is_text=True, is_fixed=True),
)


def _mix_table(answer: KernelCode, limit: int) -> Table:
    """The kernel and each of its loops in a row."""
    counts = {loop: kind_counts(answer.mix, loop) for loop in (None, *answer.loops["loop"].to_list())}
    columns = [name for name in answer.loops.columns if name != "parent"]
    whole = pl.DataFrame([_whole_row(answer)], schema={name: answer.loops.schema[name] for name in columns})
    return frame_table(
        pl.concat([whole, answer.loops.select(columns)]),
        (
            Column("", _loop_title, is_text=True, is_fixed=True),
            Column("from", lambda row: hexadecimal(row["address"])),
            Column("rows", lambda row: f"{row['row_count']:,}"),
            *(_kind_column(kind, counts) for kind in KINDS if kind in counts[None]),
            Column("live VGPR", _number("live_vgprs_max")),
            Column("AGPR", lambda row: grouped(row["live_agprs_max"] or None, none=""), is_text=True, is_fixed=True),
            Column("source", _lines, is_text=True, is_fixed=True, takes_rest=True),
        ),
        limit=limit + 1,
        what="rows",
        title="instructions of the kernel and its loops",
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


def _lines(row: dict[str, Any]) -> str:
    name = place(row["file"], row["first_line"])
    return f"{name}-{row['last_line']}" if name and row["last_line"] != row["first_line"] else name


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
    yield frame_table(waited, _WAITS, limit=limit, what="waits", title="deepest loops and shortest distances first")
    around = ", * in the iteration before" if waited["is_around_loop"].any() else ""
    unsure = "; ? they may complete in any order" if not waited["is_certain"].all() else ""
    words = f"between: instructions from the latest operation that is waited for{around} to the wait{unsure}{more}"
    yield sentence((words, "dim"))


def _between(row: dict[str, Any]) -> str:
    return f"{row['distance_rows']:,}" + ("*" if row["is_around_loop"] else "")


_WAITS = (
    Column("wait", lambda row: hexadecimal(row["address"])),
    Column("loops", lambda row: str(row["depth"] or "")),
    Column("for", lambda row: f"{row['counter']}({row['value']})", is_text=True, is_fixed=True),
    Column("operations", lambda row: f"{row['producer_count']:,}" + ("" if row["is_certain"] else "?")),
    Column("between", _between),
    Column("latest", lambda row: hexadecimal(row["producer_address"])),
    # Without offsets: words that end with a colon and a number are taken for places in source, and cut in front.
    Column("operation", lambda row: (row["producer"] or "").split(" offset")[0], is_text=True, takes_rest=True),
)


def descriptor_report(answer: KernelCode) -> Iterator[AnyBlock]:
    """The fields of the kernel descriptor, by name."""
    if not answer.descriptor:
        yield Sentence("the kernel has no descriptor")
        return
    fields = pl.DataFrame({"field": list(answer.descriptor), "value": list(answer.descriptor.values())})
    columns = (
        Column("field", lambda row: row["field"], is_text=True, is_fixed=True),
        Column("value", lambda row: f"{row['value']:,}"),
    )
    yield frame_table(fields, columns, limit=None, what="fields", title="kernel descriptor")
    yield GAP

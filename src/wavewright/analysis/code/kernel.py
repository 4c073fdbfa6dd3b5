"""A kernel as compiled: its listing, live registers, loops, instruction mix, waits, and what one wave more needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from wavewright.analysis.code.edits.kernel_rows import KernelRows, kernel_rows
from wavewright.analysis.code.edits.wait_audit import OPEN_BARRIERS, STRICT_WAITS, open_barriers, strict_waits
from wavewright.analysis.code.flow import flow_rows, innermost_loops, loop_spans, rows_with_starts
from wavewright.analysis.code.live import (
    COUNTS,
    LiveRegisters,
    given_registers,
    live_at,
    live_registers,
    used_registers,
)
from wavewright.analysis.code.machine_code import MachineCode, machine_code, register_ranges
from wavewright.analysis.code.mix import instruction_mix
from wavewright.analysis.code.object_overview import facts_of, fitting_waves, uses_wgp_mode
from wavewright.analysis.code.static_waits import WAITS, static_waits
from wavewright.analysis.common.occupancy.limits import Resources, combined_vgprs, ladder, resources_of
from wavewright.codeobj.classes import classify_frame
from wavewright.codeobj.code_object import CodeObject, Kernel
from wavewright.codeobj.lines import line_table
from wavewright.codeobj.names import demangle
from wavewright.codeobj.operands import with_operands
from wavewright.codeobj.targets import family_of
from wavewright.facts.gpus.facts import Arch
from wavewright.model.answer import Answer
from wavewright.model.losses import Loss
from wavewright.model.schema import TableSpec, frame_of, packaged_spec

ROWS = packaged_spec(__package__, "rows")
REGISTERS = packaged_spec(__package__, "registers")
STEPS = packaged_spec(__package__, "steps")
SPILLS = packaged_spec(__package__, "spills")
_LOOPS = packaged_spec(__package__, "loops")
#: An access to scratch: the register, and the base of its address.
_SCRATCH_ACCESS = r"^scratch_(load|store)_\w+ (?:off, )?(?P<data>[va]\d+|[va]\[\d+:\d+\])(?:, off)?, (?P<base>off|s\d+)"
_OFFSET = r"\boffset:(-?\d+)"


def listing_rows(
    code_object: CodeObject, code: MachineCode, live: LiveRegisters | None, flow: pl.DataFrame, spans: pl.DataFrame
) -> pl.DataFrame:
    """The rows of machine code (`ROWS`) with what is known about each."""
    loops = innermost_loops(spans, code.rows.height)
    names = pl.Series([function.name for function in code.functions], dtype=pl.String)
    depths = dict(spans.select("loop", pl.col("depth") + 1).iter_rows())
    rows = classify_frame(code.rows, code.target).with_columns(
        *(live.rows.select(COUNTS) if live else [pl.lit(None, pl.UInt16).alias(name) for name in COUNTS]),
        *_source_columns(code_object, code.rows["address"].to_list()),
        function=names.gather(code.rows["function"]),
        is_reached=live.rows["is_reached"] if live else pl.lit(value=True),
        loop=pl.Series(loops, dtype=pl.UInt32),
        depth=pl.Series([depths.get(loop, 0) for loop in loops], dtype=pl.UInt32),
        target_row=pl.when(flow["target_row"] >= 0).then(flow["target_row"]),
    )
    return rows.select(pl.col(name).cast(dtype) for name, dtype in ROWS.dtypes.items())


def _source_columns(code_object: CodeObject, addresses: list[int]) -> pl.DataFrame:
    table = line_table(code_object)
    files: list[str | None] = []
    lines: list[int | None] = []
    chains: list[str | None] = []
    for address in addresses:
        chain = table.chain_at(address) if len(table) else ()
        files.append(chain[0].file if chain else None)
        lines.append(chain[0].line or None if chain else None)
        chains.append(" -> ".join(map(str, chain)) if chain else None)
    schema = {"file": pl.String, "line": pl.UInt32, "inline_chain": pl.String}
    return pl.DataFrame({"file": files, "line": lines, "inline_chain": chains}, schema=schema)


def spills(rows: pl.DataFrame) -> pl.DataFrame:
    """The places of scratch (`SPILLS`) that rows of a kernel store to or load from, the most reloaded in loops first.

    `rows` has `row`, `text`, `is_reached`, `depth`.
    """
    places = (
        rows.filter(pl.col("is_reached") & pl.col("text").str.contains(_SCRATCH_ACCESS))
        .with_columns(
            register=pl.col("text").str.extract(_SCRATCH_ACCESS, 2),
            base=pl.col("text").str.extract(_SCRATCH_ACCESS, 3),
            offset_bytes=pl.col("text").str.extract(_OFFSET, 1).cast(pl.Int64).fill_null(0),
            is_store=pl.col("text").str.starts_with("scratch_store"),
            is_in_loop=pl.col("depth").fill_null(0) > 0,
        )
        .sort("row")
    )
    stores, loads = pl.col("is_store"), ~pl.col("is_store")
    return (
        places.group_by("base", "offset_bytes", maintain_order=True)
        .agg(
            registers=pl.col("register").unique(maintain_order=True).str.join(", "),
            store_count=stores.sum(),
            reload_count=loads.sum(),
            loop_store_count=(stores & pl.col("is_in_loop")).sum(),
            loop_reload_count=(loads & pl.col("is_in_loop")).sum(),
            store_row=pl.col("row").filter(stores).first(),
            reload_row=pl.col("row").filter(loads).first(),
        )
        .sort("loop_reload_count", "reload_count", "base", "offset_bytes", descending=[True, True, False, False])
        .select(pl.col(name).cast(dtype) for name, dtype in SPILLS.dtypes.items())
    )


@dataclass(frozen=True)
class KernelCode(Answer, package=__package__):
    """One kernel, looked at without running it."""

    tables: ClassVar[Mapping[str, TableSpec]] = {
        **{
            name: packaged_spec(__package__, name) for name in ("registers", "steps", "loops", "mix", "spills", "waits")
        },
        "strict_waits": STRICT_WAITS,
        "open_barriers": OPEN_BARRIERS,
        "rows": ROWS,
    }

    kernel: str  #: Symbol.
    demangled: str
    target: str
    disassembled_by: str
    wave_size: int | None
    waves_per_simd_limit: int | None
    bound_by: str | None
    registers: pl.DataFrame
    steps: pl.DataFrame
    loops: pl.DataFrame
    mix: pl.DataFrame
    spills: pl.DataFrame
    waits: pl.DataFrame
    strict_waits: pl.DataFrame
    open_barriers: pl.DataFrame
    peak_row: int | None  #: First row with the most live vector registers.
    peak_registers: str  #: Registers whose values are live before that row.
    rows: pl.DataFrame
    descriptor: dict[str, int]  #: Fields of the kernel descriptor.
    notes: tuple[str, ...]  #: What to know before trusting the numbers.
    losses: tuple[Loss, ...]


def kernel_code(code_object: CodeObject, kernel: Kernel, *, override: Resources | None = None) -> KernelCode:
    """Look at one kernel of a code object; `override` are resources that are better than the metadata's."""
    code = machine_code(code_object, kernel)
    notes: list[str] = []
    losses = list(code.losses)
    if not code.rows.height:
        losses.append(Loss("disassembly_incomplete", detail="the file does not hold the code of this kernel"))
    live = live_registers(code)
    if live is None:
        losses.append(_not_followed(code))
    flow = live.flow if live else flow_rows(code)
    # Where registers could not be followed, every row counts as reached.
    is_reached = live.rows["is_reached"] if live else pl.repeat(value=True, n=code.rows.height, eager=True)
    spans = loop_spans(code, flow, is_reached)
    rows = listing_rows(code_object, code, live, flow, spans)
    arch, family = facts_of(code.target), family_of(code.target)
    fitting = fitting_waves(arch, kernel, override or Resources(), notes)
    used = used_registers(code, live) if live else None
    registers = register_rows(code, rows, used)
    steps = step_rows(arch, kernel, override or Resources(), rows, used) if arch and fitting else frame_of(STEPS, [])
    hottest = rows.filter("is_reached").sort("live_vectors", "row", descending=[True, False])["row"]
    peak = hottest[0] if live and hottest.len() else None
    followed = compiled_rows(code) if live else None
    if live and used is not None:
        notes += _notes(code, live, used)
    return KernelCode(
        kernel=kernel.name,
        demangled=demangle(kernel.name),
        target=code.target,
        disassembled_by=code.backend,
        wave_size=kernel.wave_size,
        waves_per_simd_limit=fitting.waves_per_simd if fitting else None,
        bound_by=fitting.bound_by if fitting else None,
        registers=registers,
        steps=steps,
        loops=_loops(rows, spans),
        mix=instruction_mix(rows, spans),
        spills=spills(rows),
        waits=static_waits(code.rows["text"].to_list(), flow, spans, family) if family else frame_of(WAITS, []),
        strict_waits=strict_waits(followed) if followed else frame_of(STRICT_WAITS, []),
        open_barriers=open_barriers(followed) if followed else frame_of(OPEN_BARRIERS, []),
        peak_row=peak,
        peak_registers=register_ranges(live_at(code, live, peak)) if live and peak is not None else "",
        rows=rows,
        descriptor=dict(kernel.descriptor.fields) if kernel.descriptor else {},
        notes=tuple(dict.fromkeys(notes)),
        losses=tuple(losses),
    )


def _not_followed(code: MachineCode) -> Loss:
    if not code.has_operands:
        return Loss("registers_not_followed", detail=f"the tables have no operands of {code.target or 'this GPU'}")
    return Loss("registers_not_followed", detail="its branches are too tangled")


def _notes(code: MachineCode, live: LiveRegisters, used: dict[str, int]) -> list[str]:
    notes = []
    if live.jumps_anywhere:
        notes.append("it jumps to an address that is computed while it runs: there all registers count as live")
    if live.calls:
        others = len(code.functions) - 1
        notes.append(
            f"it calls functions: the {others:,} of the code object that are not kernels follow its own rows; a call"
            " whose target is not in the code may go to any of them"
        )
    if live.unwritten:
        notes.append(f"read before anything has written them: {register_ranges(list(live.unwritten))}")
    words = code.rows.filter(live.rows["is_reached"])["text"].str.starts_with(".long").sum()
    if words:
        notes.append(f"{words:,} words on the way are not instructions: what they read and write is not known")
    return notes + _excess(code.kernel, used)


def _excess(kernel: Kernel, used: dict[str, int]) -> list[str]:
    """Registers that the code names and the descriptor does not give."""
    notes = []
    for name, title in (("vgprs", "vector"), ("agprs", "accumulation"), ("sgprs", "scalar")):
        allocated = getattr(kernel, name)
        if allocated is None or used[name] <= allocated:
            continue
        split = f" and {kernel.agprs:,} accumulation registers after them" if name == "vgprs" and kernel.agprs else ""
        notes.append(f"the code names {used[name]:,} {title} registers, the descriptor gives {allocated:,}{split}")
    return notes


def _loops(rows: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    table: list[dict[str, Any]] = []
    for span in spans.iter_rows(named=True):
        inside = rows.slice(span["first_row"], span["last_row"] - span["first_row"] + 1)
        lines = inside.drop_nulls(["file", "line"])
        files = lines["file"].value_counts(sort=True)["file"]
        file = files[0] if files.len() else None
        numbers = lines.filter(pl.col("file") == pl.lit(file, pl.String))["line"]
        row = {"address": inside["address"][0], "row_count": int(inside["is_reached"].sum())}
        row |= {"file": file, "first_line": numbers.min(), "last_line": numbers.max()}
        row |= {f"live_{kind}_max": inside[f"live_{kind}"].max() for kind in ("vgprs", "agprs", "sgprs")}
        table.append(span | row)
    return frame_of(_LOOPS, table)


def compiled_rows(code: MachineCode) -> KernelRows | None:
    """Rows of a kernel and of the functions that it may call; None for GPUs whose operands are not known."""
    family = family_of(code.target)
    if family is None or not code.has_operands or not code.rows.height:
        return None
    numbered_rows = rows_with_starts(code).with_columns(pl.col("function").cast(pl.String))
    wide = [str(number) for number in range(len(code.functions))] if code.kernel.wave_size != 32 else []
    code_frame = with_operands(classify_frame(numbered_rows, code.target), code.target, wide)
    return kernel_rows(code_frame, code.target, family, given_registers(code))


def register_rows(code: MachineCode, rows: pl.DataFrame, used: dict[str, int] | None) -> pl.DataFrame:
    """Registers of each kind (`REGISTERS`)."""
    kernel = code.kernel
    reached = rows.filter("is_reached")
    table: list[dict[str, Any]] = []
    for kind in ("vgprs", "agprs", "sgprs"):
        row = {"kind": kind, "allocated": getattr(kernel, kind), "compiler": getattr(kernel, f"{kind}_used")}
        row["used"] = used[kind] if used is not None else None
        if used is not None and reached.height:
            column = reached[f"live_{kind}"]
            at_peak = reached.filter(column == column.max())["row"]
            row |= {
                "peak": column.max(),
                "row_count": at_peak.len(),
                "first_row": at_peak[0] if at_peak.len() else None,
            }
        table.append(row)
    return frame_of(REGISTERS, table)


def step_rows(
    arch: Arch, kernel: Kernel, override: Resources, rows: pl.DataFrame, used: dict[str, int] | None
) -> pl.DataFrame:
    """Needs of each wave more on a SIMD (`STEPS`), with the rows that stand in the way.

    Live registers are those of this order of instructions: rows above the limit have to be changed, but if there are
    none the compiler may still need more, because values must lie side by side and at even registers.
    """
    needed = rows.filter("is_reached").select(
        "depth",
        needed=pl.col("live_vectors")
        if arch.accumulation == "unified"
        else pl.max_horizontal("live_vgprs", "live_agprs"),
    )
    named = combined_vgprs(arch, used["vgprs"], used["agprs"]) if used is not None else kernel.vgprs_used
    table: list[dict[str, Any]] = []
    for rung in ladder(arch, resources_of(kernel, override), wgp_mode=uses_wgp_mode(kernel)):
        most = rung.vgprs_at_most
        row: dict[str, Any] = {
            "waves_per_simd": rung.waves_per_simd,
            "vgprs_at_most": most,
            "sgprs_at_most": rung.sgprs_at_most,
            "lds_bytes_at_most": rung.lds_bytes_at_most,
        }
        if most is not None:
            row["vgprs_to_free"] = max(0, named - most) if named is not None else None
        if most is not None and used is not None and needed.height:
            above = needed.filter(pl.col("needed") > most)
            row["peak_above"] = int(needed["needed"].max()) - most  # type: ignore[arg-type]
            row["rows_above"] = above.height
            row["loop_rows_above"] = above.filter(pl.col("depth") > 0).height
        table.append(row)
    return frame_of(STEPS, table)

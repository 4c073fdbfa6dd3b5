"""Registers that a kernel has, uses and needs at its peak; and what each wave more on a SIMD needs."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.code.machine_code import MachineCode
from wavewright.analysis.code.object_overview import uses_wgp_mode
from wavewright.analysis.common.occupancy.limits import Resources, combined_vgprs, ladder, resources_of
from wavewright.codeobj.code_object import Kernel
from wavewright.facts.gpus.facts import Arch
from wavewright.model.schema import frame_of, packaged_spec

REGISTERS = packaged_spec(__package__, "registers")
STEPS = packaged_spec(__package__, "steps")


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

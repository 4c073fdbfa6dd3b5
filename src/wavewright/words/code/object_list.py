"""Code objects of a file and their kernels in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.code.object_overview import CodeOverview
from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.declared_tables import declared_table, legend


def overview_report(answer: CodeOverview, *, limit: int) -> Iterator[AnyBlock]:
    """The code objects, where there are several, and the kernels."""
    targets = sorted({target for target in answer.objects["target"].to_list() if target})
    of_whom = f" for {', '.join(map(printable, targets))}" if targets else ""
    objects, kernels = counted(answer.objects.height, "code objects"), counted(answer.kernels.height, "kernels")
    yield headline(f"{kernels} in {objects}{of_whom}")
    if answer.objects.height > 1 or answer.objects["packing"].drop_nulls().len():
        yield declared_table("code/object_list/objects", answer.objects, limit=limit)
        yield GAP
    if answer.kernels.height:
        yield declared_table(
            "code/object_list/kernels",
            answer.kernels,
            limit=limit,
            has_many=answer.objects.height > 1,
            vgpr=lambda row: register_cell(row, "vgprs"),
            agpr=lambda row: register_cell(row, "agprs") if row["agprs"] else "",
            sgpr=lambda row: register_cell(row, "sgprs"),
            spills=_spills,
            workgroup=_workgroup_size,
        )
        yield legend("code/object_list/kernels")
        yield sentence(("--kernel NAME shows the code of one, its live registers, and what one wave more needs", "dim"))
    for note in answer.notes:
        yield Sentence(note, "note")


def register_cell(row: dict[str, Any], kind: str) -> str:
    """Registers as `used/allocated`; without accumulation registers."""
    used, allocated = row[f"{kind}_used"], row[kind]
    if kind == "vgprs" and used is not None and row["agprs"] and row["agprs_used"] is not None:
        # one register file holds both kinds, but for gfx908
        used = max(0, used - row["agprs_used"]) if row["target"] != "gfx908" else used
    if allocated is None:
        return "-"
    return f"{allocated:,}" if used is None else f"{used:,}/{allocated:,}"


def _spills(row: dict[str, Any]) -> str:
    parts = [f"{row[name]} {letter}" for name, letter in (("vgpr_spills", "v"), ("sgpr_spills", "s")) if row[name]]
    return " ".join(parts)


def _workgroup_size(row: dict[str, Any]) -> str:
    """The size that the kernel requires, else the largest that it was compiled for."""
    largest = f"≤ {row['workgroup_size_max']:,}" if row["workgroup_size_max"] else ""
    return row["workgroup_size_required"] or largest

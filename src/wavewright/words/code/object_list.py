"""Code objects of a file and their kernels in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.base.shown import printable
from wavewright.base.words import counted, grouped, size
from wavewright.model.blocks import GAP, AnyBlock, Sentence, headline, sentence
from wavewright.words.kit.frame_tables import Column, frame_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.code.object_overview import CodeOverview

_LEGEND = (
    "VGPR, AGPR, SGPR: used by the compiler's count / allocated; waves: how many fit on a SIMD, and what limits them"
)


def overview_report(answer: CodeOverview, *, limit: int) -> Iterator[AnyBlock]:
    """The code objects, where there are several, and the kernels."""
    targets = sorted({target for target in answer.objects["target"].to_list() if target})
    of_whom = f" for {', '.join(map(printable, targets))}" if targets else ""
    objects, kernels = counted(answer.objects.height, "code objects"), counted(answer.kernels.height, "kernels")
    yield headline(f"{kernels} in {objects}{of_whom}")
    if answer.objects.height > 1 or answer.objects["packing"].drop_nulls().len():
        yield frame_table(answer.objects, _OBJECTS, limit=limit, what="code objects")
        yield GAP
    if answer.kernels.height:
        has_many = answer.objects.height > 1
        columns = [column for column in _KERNELS if has_many or column.heading != "object"]
        yield frame_table(answer.kernels, columns, limit=limit, what="kernels")
        yield sentence((_LEGEND, "dim"))
        yield sentence(("--kernel NAME shows the code of one, its live registers, and what one wave more needs", "dim"))
    for note in answer.notes:
        yield Sentence(note, "note")


def register_cell(row: dict[str, Any], kind: str) -> str:
    """Registers as `used/allocated`; without accumulation registers."""
    used, allocated = row[f"{kind}_used"], row[kind]
    if kind == "vgprs" and used is not None and row["agprs"] and row["agprs_used"] is not None:
        used = max(0, used - row["agprs_used"]) if row["target"] != "gfx908" else used
    if allocated is None:
        return "-"
    return f"{allocated:,}" if used is None else f"{used:,}/{allocated:,}"


def _number(name: str) -> Any:
    return lambda row: grouped(row[name])


def _spills(row: dict[str, Any]) -> str:
    parts = [f"{row[name]} {letter}" for name, letter in (("vgpr_spills", "v"), ("sgpr_spills", "s")) if row[name]]
    return " ".join(parts)


def _waves(row: dict[str, Any]) -> str:
    return "-" if row["waves_per_simd_limit"] is None else f"{row['waves_per_simd_limit']}"


_OBJECTS = (
    Column("object", lambda row: str(row["object"])),
    Column("target", lambda row: row["target"] or "?", is_text=True, is_fixed=True),
    Column("kernels", _number("kernel_count")),
    Column("code", lambda row: size(row["code_bytes"])),
    Column("size", lambda row: size(row["size"])),
    Column("packed", lambda row: row["packing"] or "", is_text=True, is_fixed=True),
    Column("where", lambda row: row["place"] or "", is_text=True, is_fixed=True, takes_rest=True),
)
_KERNELS = (
    Column("object", lambda row: str(row["object"])),
    Column("waves", _waves),
    Column("limit", lambda row: row["bound_by"] or "", is_text=True, is_fixed=True),
    Column("VGPR", lambda row: register_cell(row, "vgprs")),
    Column("AGPR", lambda row: register_cell(row, "agprs") if row["agprs"] else "", is_text=True, is_fixed=True),
    Column("SGPR", lambda row: register_cell(row, "sgprs")),
    Column("spills", _spills, is_text=True, is_fixed=True),
    Column("LDS", lambda row: f"{row['lds_bytes']:,}" if row["lds_bytes"] else "-"),
    Column("scratch", lambda row: f"{row['scratch_bytes']:,}" if row["scratch_bytes"] else "-"),
    Column("kernarg", _number("kernarg_bytes"), is_wide=True),
    Column("workgroup", lambda row: row["workgroup_size_required"] or _most(row), is_text=True, is_fixed=True),
    Column("lanes", _number("wave_size"), is_wide=True),
    Column("code", lambda row: f"{row['code_bytes']:,}"),
    Column("kernel", lambda row: row["demangled"], takes_rest=True, is_text=True),
)


def _most(row: dict[str, Any]) -> str:
    return f"≤ {row['workgroup_size_max']:,}" if row["workgroup_size_max"] else ""

"""Records that LLVM's disassembler picks although another of the same bits says more about the registers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tools.isa.model import Isa, Record


def corrected(isa: Isa) -> Isa:
    """Tables in which the LDS instructions of gfx9 do not read M0.

    The disassembler looks into gfx8's table before gfx9's, so it takes `DS_READ_B32_vi`, which reads M0 as gfx8 must.
    The compiler uses `DS_READ_B32_vi_gfx9`, which has the same bits and the same text, and no M0.
    """
    newer = {_bits(record): record for record in isa.records if record.decoder_namespace == "GFX9"}
    return replace(isa, records=tuple(_with_uses_of(record, newer.get(_bits(record))) for record in isa.records))


def _bits(record: Record) -> tuple[int, int, int]:
    return record.size_bytes, record.mask, record.value


def _with_uses_of(record: Record, newer: Record | None) -> Record:
    if newer is None or record.decoder_namespace != "GFX8" or not set(record.targets) <= set(newer.targets):
        return record
    return replace(record, implicit_uses=newer.implicit_uses, implicit_defs=newer.implicit_defs)

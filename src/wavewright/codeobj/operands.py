"""Registers, memory and counters that instructions use: columns of the `code` table, from the tables of the core.

The texts are read, not the bytes: so listings of captures, decoded directories and our disassembly go one way, and the
core is asked once for each distinct text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import polars as pl

from wavewright import _core
from wavewright.codeobj.classes import classify
from wavewright.codeobj.registers import HIGH_HALF, IMPLICIT, LOW_HALF, NULL, READS, TIED, WRITES, spelled
from wavewright.codeobj.targets import FAMILIES, family_of

# cpp/include/wavewright/isa.hpp: Fact.
_LOADS, _STORES, _ATOMIC, _RETURNS = (1 << bit for bit in range(4))
_TO_LDS = 1 << 11
_COUNTED = 1 << 12 | 1 << 13 | 1 << 15 | 1 << 16  # vm, lgkm, tensor, async
_NO_RECORD: Final = 0xFFFF
#: Registers that an instruction uses -> (bits of the role that it must have, bits that it must not have).
_ROLES: Final = {
    "writes": (WRITES, IMPLICIT),
    "reads": (READS, IMPLICIT),
    "implicit_writes": (WRITES | IMPLICIT, 0),
    "implicit_reads": (READS | IMPLICIT, 0),
    "tied": (TIED, IMPLICIT),
}
OPERAND_COLUMNS: Final = (*_ROLES, "access", "counters")  #: What `with_operands` adds to a code table.


def with_operands(code: pl.DataFrame, target: str | None, wave64: Collection[str] = ()) -> pl.DataFrame:
    """A frame with `text`, `class` and `function`, and with the columns `OPERAND_COLUMNS` added to it.

    `target` is the GPU or its generation (`gfx11-generic`); None tries the generations one after the other. `wave64`
    are functions of RDNA code that run in waves of 64: what they do with VCC and EXEC is twice as wide.
    """
    family = family_of(target) if target else None
    is_wide = pl.lit(value=True) if family in ("gfx9", None) else pl.col("function").is_in(list(wave64))
    keyed_code = code.drop(OPERAND_COLUMNS, strict=False).with_columns(is_wide=is_wide.fill_null(value=False))
    distinct = keyed_code.select("text", "is_wide").drop_nulls().unique(maintain_order=True)
    parts = [
        read_texts(texts["text"], columns_for(target), wave64=wide)
        .with_columns(texts["text"])
        .with_columns(is_wide=pl.lit(wide))
        for wide in (False, True)
        if (texts := distinct.filter(pl.col("is_wide") == wide)).height
    ]
    if not parts:
        return code.with_columns(pl.lit(None, pl.String).alias(name) for name in OPERAND_COLUMNS)
    frame = keyed_code.join(pl.concat(parts), on=["text", "is_wide"], how="left", maintain_order="left")
    return frame.drop("is_wide").with_columns(_counters(code, family))


def read_texts(texts: pl.Series, columns: Sequence[str], *, wave64: bool) -> pl.DataFrame:
    """Registers and access of each text: `OPERAND_COLUMNS` without the counters, null where no table has the mnemonic.

    `columns` are names of `_core.isa_targets`; what the first does not have is looked up in the next.
    """
    unread_texts = texts.to_frame("text").with_row_index("at")
    schema = {"at": unread_texts["at"].dtype, **dict.fromkeys((*_ROLES, "access"), pl.String())}
    frames = [pl.DataFrame(schema=schema)]
    for column in columns:
        answer = _core.read_instruction_texts(unread_texts["text"].to_list(), column, wave64)
        rows = pl.DataFrame(answer.rows).select("record", "facts")
        registers = _registers(pl.DataFrame(answer.operands), rows.height)
        described_texts = pl.concat([unread_texts, rows, registers], how="horizontal").with_columns(_access())
        is_read = rows["record"] != _NO_RECORD
        frames.append(described_texts.filter(is_read).select(list(schema)))
        unread_texts = unread_texts.filter(~is_read)
        if not unread_texts.height:
            break
    at = texts.to_frame("text").with_row_index("at").select("at")
    return at.join(pl.concat(frames), on="at", how="left", maintain_order="left").drop("at")


def columns_for(target: str | None) -> tuple[str, ...]:
    """The tables for a target; those of its generation, the newest first, where only that is known."""
    nearest = _core.isa_nearest(target) if target and "generic" not in target else None
    if nearest:
        return (nearest[0],)
    family = family_of(target) if target else None
    families = (family,) if family else FAMILIES
    # Directories say gfx12 of gfx1250 too: a newer instruction is looked up where it is.
    families = (*families, "gfx1250") if family == "gfx12" else families
    newest_first = _core.isa_targets()[::-1]
    return tuple(column for name in families for column in newest_first if family_of(column) == name)


def _registers(operands: pl.DataFrame, height: int) -> pl.DataFrame:
    """The columns of `_ROLES` for `height` rows; each list in the order of the operands, nothing twice."""
    half = pl.col("role") & (LOW_HALF | HIGH_HALF)
    key = (pl.col("register").cast(pl.UInt32) * 256 + pl.col("count")) * 256 + half
    operands = operands.filter(pl.col("register") != NULL).with_columns(key=key)
    keys = operands["key"].unique()
    words = pl.Series([spelled(key >> 16, key >> 8 & 0xFF, key & 0xFF) for key in keys], dtype=pl.String)
    names = pl.DataFrame({"key": keys, "word": words})
    operands = operands.join(names, on="key", how="left", maintain_order="left")
    columns = []
    for name, (bits, excluded_bits) in _ROLES.items():
        of_role = operands.filter((pl.col("role") & (bits | excluded_bits)) == bits)
        distinct = of_role.unique(["row", "key"], keep="first", maintain_order=True)
        lists = distinct.group_by("row", maintain_order=True).agg("word")
        register_texts = lists["word"].list.join(" ")
        columns.append(pl.Series(name, [""], pl.String).new_from_index(0, height).scatter(lists["row"], register_texts))
    return pl.DataFrame(columns)


def _access() -> pl.Expr:
    """Kind of access to memory of a row, from its `facts` and `text`.

    LLVM says of everything that must stay in order with accesses that it may load and store: of waits, prefetches and
    exports too. What moves data adds to one of these counters.
    """
    gives_back = pl.when(((pl.col("facts") & _RETURNS) != 0) | (pl.col("writes") != ""))
    has = {fact: (pl.col("facts") & fact) != 0 for fact in (_LOADS, _STORES, _ATOMIC, _TO_LDS, _COUNTED)}
    of_lds = pl.col("text").str.starts_with("ds_")
    return (
        pl.when(has[_LOADS] & ~has[_STORES])
        .then(pl.lit("load"))
        .when(~has[_COUNTED] | pl.col("text").str.starts_with("ds_gws"))
        .then(None)
        .when(has[_TO_LDS])
        .then(pl.lit("load_to_lds"))
        .when(has[_LOADS] & has[_STORES] & (has[_ATOMIC] | of_lds))
        .then(gives_back.then(pl.lit("atomic_return")).otherwise(pl.lit("atomic")))
        .when(has[_STORES])
        .then(pl.lit("store"))
        .alias("access")
    )


def _counters(code: pl.DataFrame, family: str | None) -> pl.Expr:
    """The counters of each row by its class, which says them with the names of the generation."""
    examples = code.drop_nulls("text").group_by("class").agg(pl.col("text").first()).rows()
    newer = (family, "gfx1250") if family == "gfx12" else (family,)
    names = {}
    for name, text in examples:
        answers = (classify(text, tried) for tried in newer)
        counters = next((answer.counters for answer in answers if answer.name == name), ())
        names[name] = " ".join(counters) or None
    return pl.col("class").replace_strict(names, default=None, return_dtype=pl.String).alias("counters")

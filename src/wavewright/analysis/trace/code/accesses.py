"""Data that every instruction moves: the memory it touches, the direction and the bytes per lane, from its text.

`accesses.toml` has the mnemonics. The width stands in the name; where it depends on a descriptor or on a register
(`format`, images, blocks, tensors) the bytes are null, never a guess.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.answer import once_per_trace
from wavewright.model.schema import packaged_spec
from wavewright.model.trace import ThreadTrace

LOAD, STORE, ATOMIC, LOAD_TO_LDS = "load", "store", "atomic", "load to LDS"

ACCESSES: Final = packaged_spec(__package__, "accesses")


class Access(NamedTuple):
    """Data that one execution of an instruction moves."""

    space: str  #: memory, flat, scratch, lds or scalar.
    direction: str  #: load, store, atomic or load to LDS.
    #: Bytes of one active lane, of the wave where `space` is scalar; None where the text does not say it.
    bytes_per_lane: int | None


_TABLES: Final = packaged("accesses.toml", __package__)
_OPERATIONS: Final = tuple((re.compile(pattern), *access) for pattern, *access in _TABLES["operations"])
_WIDTH_ELSEWHERE: Final = frozenset(_TABLES["width_elsewhere"])
_UNTYPED_ATOMICS: Final = frozenset(_TABLES["untyped_atomics"])
_WIDTHS: Final[dict[str, int]] = _TABLES["widths"]
#: Loads of these go to LDS where the text has the modifier `lds`.
_LDS_MODIFIER: Final = ("buffer_", "global_", "scratch_")
_PACKED_ATOMIC_BYTES = 4  #: Bytes per lane of atomics on two 16-bit values (`pk`).
_UNTYPED_ATOMIC_BYTES = 4  #: Bytes per lane of atomics whose mnemonic names no type (`untyped_atomics`).
_TWO_ADDRESSES = re.compile(r"ds_(read|write|wrxchg)2(st64)?_|_2addr_")
#: The transposing loads of gfx12 give a lane of a wave of 64 half of what the name says: the registers decide.
_TRANSPOSED_BY_WAVE_SIZE = re.compile(r"global_load_tr_b(64|128)$")
_FIRST_REGISTERS = re.compile(r"\s*v(?:\[(?P<first>\d{1,4}):(?P<last>\d{1,4})\]|\d{1,4}\b)")
_REGISTER_BYTES = 4
_MAY_ACCESS = r"^(global|cluster|flat|scratch|t?buffer|ds|lds|image|tensor|s_(buffer_|scratch_)?(load|store|atomic))_"
_CACHED_TEXTS = 1 << 16  #: Most instruction texts whose access `access_of` caches.


@lru_cache(maxsize=_CACHED_TEXTS)
def access_of(text: str) -> Access | None:
    """Data that an instruction moves; None for one that moves nothing.

    >>> access_of("global_load_ushort v1, v0, s[0:1]")
    Access(space='memory', direction='load', bytes_per_lane=2)
    >>> access_of("buffer_load_dwordx4 v3, s[4:7], 0 offen lds")
    Access(space='memory', direction='load to LDS', bytes_per_lane=16)
    >>> access_of("v_add_f32_e32 v0, v1, v2") is None
    True
    """
    mnemonic, _, operands = text.strip().partition(" ")
    words = operands.replace(",", " ").split()
    operation = next((access for pattern, *access in _OPERATIONS if pattern.match(mnemonic)), None)
    if operation is None or "gds" in words:
        return None  # GDS is none of these spaces
    space, direction = operation
    if direction == LOAD and mnemonic.startswith(_LDS_MODIFIER) and "lds" in words:
        direction = LOAD_TO_LDS
    return Access(space, direction, _bytes_per_lane(mnemonic, operands, direction))


def accesses(code: pl.DataFrame) -> pl.DataFrame:
    """The rows of `code` (columns `row` and `text`) that touch memory, in the order of `code`; columns `ACCESSES`."""
    rows = code.filter(pl.col("text").str.strip_chars_start().str.contains(_MAY_ACCESS)).select("row", "text")
    texts = rows["text"].unique(maintain_order=True).to_list()
    moving = [(text, *access, text.split(maxsplit=1)[0]) for text in texts if (access := access_of(text)) is not None]
    schema = {"text": pl.String(), **{name: dtype for name, dtype in ACCESSES.dtypes.items() if name != "row"}}
    joined = rows.join(pl.DataFrame(moving, schema=schema, orient="row"), on="text", how="inner", maintain_order="left")
    return joined.select(ACCESSES.casts)


def _bytes_per_lane(mnemonic: str, operands: str, direction: str) -> int | None:
    parts = mnemonic.split("_")
    if not _WIDTH_ELSEWHERE.isdisjoint(parts):
        return None
    if _TRANSPOSED_BY_WAVE_SIZE.match(mnemonic):
        registers = _FIRST_REGISTERS.match(operands)
        if registers is None:
            return None
        count = int(registers["last"]) - int(registers["first"]) + 1 if registers["first"] else 1
        return _REGISTER_BYTES * count if count > 0 else None
    if direction == ATOMIC and "pk" in parts:
        return _PACKED_ATOMIC_BYTES
    width = next((_WIDTHS[part] for part in parts if part in _WIDTHS), None)
    if width is None and direction == ATOMIC and parts[-1] in _UNTYPED_ATOMICS:
        return _UNTYPED_ATOMIC_BYTES
    return 2 * width if width is not None and _TWO_ADDRESSES.search(mnemonic) else width


def lanes_per_wave(trace: ThreadTrace) -> int | None:
    """Lanes of a wave: 64 on gfx9, on RDNA what the code objects of all kernels say; None = not known, or mixed."""
    if trace.gfxip == 9:
        return 64
    sizes = trace.kernels["wave_size"].unique().to_list()
    return sizes[0] if len(sizes) == 1 else None


@once_per_trace
def requested_bytes(trace: ThreadTrace) -> pl.DataFrame:
    """The columns of `accesses` for every code row that touches memory, and `requested_bytes` (Int64).

    That is what one execution requests at most: all lanes active. Null = the text does not tell the width, or the
    trace not the lanes of a wave.
    """
    lanes = pl.when(pl.col("space") == "scalar").then(1).otherwise(pl.lit(lanes_per_wave(trace), pl.Int64))
    return accesses(trace.code).with_columns(requested_bytes=pl.col("bytes_per_lane").cast(pl.Int64) * lanes)

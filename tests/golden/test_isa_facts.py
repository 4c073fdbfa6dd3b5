"""What the readers take from the texts of instructions, against LLVM's records in the core's tables.

One instruction of every record of ten GPUs (../shared/data/isa/vectors.tsv, made with LLVM's disassembler).
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise

import polars as pl
import pytest

from tests.conftest import SHARED
from wavewright import _core

FILE = SHARED / "data" / "isa" / "vectors.tsv"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="../shared/data/isa is not here")
TARGETS = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250")
# Facts of cpp/include/wavewright/isa.hpp.
VM, LGKM, TENSOR, ASYNC = 1 << 12, 1 << 13, 1 << 15, 1 << 16


@lru_cache(maxsize=1)
def vectors() -> dict[str, list[tuple[bytes, str]]]:
    """Bytes and text of one instruction of every record, by GPU."""
    lines = (line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    rows: dict[str, list[tuple[bytes, str]]] = defaultdict(list)
    for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        rows[row["target"]].append((bytes.fromhex(row["hex"]), row["text"]))
    return rows


def is_wave64(target: str) -> bool:
    return target.startswith("gfx9")


@lru_cache(maxsize=len(TARGETS))
def decoded(target: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows and operands of the vectors, decoded from their bytes."""
    ends, code = [0], b""
    for content, _ in vectors()[target]:
        code += content
        ends.append(len(code))
    chunks = [(first, first, last, is_wave64(target)) for first, last in pairwise(ends)]
    answer = _core.disassemble(code, chunks, target)
    return pl.DataFrame(answer.rows), pl.DataFrame(answer.operands)


@lru_cache(maxsize=len(TARGETS))
def facts(target: str) -> pl.DataFrame:
    """`text`, `mnemonic` and `facts` of the vectors."""
    rows, _ = decoded(target)
    texts = pl.Series("text", [text for _, text in vectors()[target]])
    return rows.select("facts").with_columns(texts, mnemonic=texts.str.extract(r"^(\S+)"))


def operands_by_row(operands: pl.DataFrame) -> dict[int, list[tuple[int, ...]]]:
    rows: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for row, *operand in operands.select("row", "register", "count", "role").iter_rows():
        rows[row].append(tuple(operand))
    return {row: sorted(listed) for row, listed in rows.items()}


#: gfx12: LLVM prints the same for a cascading atomic of a buffer with and without a result.
UNSAID = re.compile(r"buffer_atomic_.*TH_ATOMIC_CASCADE")


@pytest.mark.some_cases(5)
@pytest.mark.parametrize("target", TARGETS)
def test_texts_say_what_bytes_say(target: str) -> None:
    rows, operands = decoded(target)
    texts = [text for _, text in vectors()[target]]
    answer = _core.read_instruction_texts(texts, target, is_wave64(target))
    read = operands_by_row(pl.DataFrame(answer.operands))
    expected = operands_by_row(operands)
    wrong = [text for row, text in enumerate(texts) if read.get(row) != expected.get(row) and not UNSAID.match(text)]
    assert not wrong, (len(wrong), wrong[:20])
    facts_read = pl.DataFrame(answer.rows)["facts"]
    other = [text for text, a, b in zip(texts, facts_read, rows["facts"], strict=True) if a != b]
    assert not [text for text in other if not UNSAID.match(text)]


#: Instructions that a record says count on these counters, and AMD's rules pass over (docs/explanation/waits.md).
UNCOUNTED = re.compile(r"s_(buffer|scratch|atc|dcache|atomic|gl1|mem(real)?time|get_waveid)|cluster_load|image_")
#: Instructions that AMD's rules count although LLVM has no flag of these counters for them: messages, exports.
COUNTED = re.compile(r"s_sendmsg|ds_(direct|param)_load")


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("target", TARGETS)
def test_every_instruction_that_counts_is_awaited(target: str) -> None:
    gfxip = int(target[3:-2])
    waits = {
        9: ["s_waitcnt vmcnt(0) lgkmcnt(0)"],
        12: [
            f"s_wait_{name}cnt 0x0" for name in ("load", "store", "sample", "bvh", "ds", "km", "exp", "async", "tensor")
        ],
    }.get(gfxip, ["s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt_vscnt null, 0x0"])
    rows = facts(target)
    wrong = set()
    for text, mnemonic, bits in rows.select("text", "mnemonic", "facts").iter_rows():
        run = pl.Series([0, *range(1, 1 + len(waits))], dtype=pl.Int32)
        waves = pl.Series([0] * len(run), dtype=pl.UInt32)
        producers = pl.DataFrame(_core.match_waits([text, *waits], gfxip, waves, run))["producer"].to_list()
        counts = bool(bits & (VM | LGKM | TENSOR | ASYNC))
        if counts != (0 in producers) and not (UNCOUNTED if counts else COUNTED).match(mnemonic):
            wrong.add((mnemonic, counts))
    assert not wrong

"""Live vector registers of real matrix kernels, against a textbook liveness over the text of their disassembly.

The kernels never write EXEC, so every vector write reaches all lanes, and the textbook is right about them.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

import wavewright
from wavewright.analysis.code.kernel import kernel_code
from wavewright.analysis.trace.code.live import live_rows
from wavewright.codeobj.code_object import CodeObject

_VECTOR = re.compile(r"\bv(?:\[(\d+):(\d+)\]|(\d+)\b)")
_NO_RESULT = re.compile(r"^(global_store|buffer_store|flat_store|ds_write|v_cmp|s_|v_readfirstlane|v_readlane)")
_ADDS_TO_ITS_RESULT = re.compile(r"^v_(fmac|mac|pk_fmac|dot\w+c_)|d16")  # v_fmac reads its result, d16 leaves a half


def _registers(text: str) -> set[int]:
    spans = [(int(a or c), int(b or c)) for a, b, c in _VECTOR.findall(text)]
    return {number for first, last in spans for number in range(first, last + 1)}


def _parts(text: str) -> tuple[set[int], set[int]]:
    """Vector registers that an instruction reads and writes."""
    name, _, rest = text.partition(" ")
    if _NO_RESULT.match(name):
        return _registers(rest), set()
    result, _, operands = rest.partition(",")
    reads = _registers(operands) | (_registers(result) if _ADDS_TO_ITS_RESULT.search(name) else set())
    return reads, _registers(result)


def _textbook(code: pl.DataFrame) -> list[int]:
    """Live registers of every row: the larger of those before it, and those behind it with its results."""
    texts, addresses = code["text"].to_list(), code["address"].to_list()
    place = {address: row for row, address in enumerate(addresses)}
    after: list[list[int]] = []
    for row, text in enumerate(texts):
        jump = re.match(r"s_(c?branch)\S* (\d+)$", text)
        offset = int(jump[2]) if jump else 0
        target = place[addresses[row] + 4 + 4 * (offset - 0x10000 if offset >= 0x8000 else offset)] if jump else -1
        falls = not text.startswith(("s_endpgm", "s_branch")) and row + 1 < len(texts)
        after.append([target] * bool(jump) + [row + 1] * falls)
    parts = [_parts(text) for text in texts]
    before: list[set[int]] = [set() for _ in texts]
    changed = True
    while changed:
        changed = False
        for row in reversed(range(len(texts))):
            behind = set().union(*(before[there] for there in after[row]))
            now = parts[row][0] | (behind - parts[row][1])
            changed |= now != before[row]
            before[row] = now
    written: list[set[int]] = [set() for _ in texts]  # on some way to the row; the ids of work-items are in v0
    written[0], waiting = {0}, [0]
    while waiting:
        row = waiting.pop()
        for there in after[row]:
            more = written[row] | parts[row][1]
            if not more <= written[there]:
                written[there] |= more
                waiting.append(there)
    return [
        max(
            len(before[row] & written[row]),
            len(set().union(*(before[there] for there in after[row])) & (written[row] | parts[row][1]) | parts[row][1]),
        )
        for row in range(len(texts))
    ]


def _is_matrix_kernel(texts: pl.Series) -> bool:
    return bool(texts.str.contains("mfma").any()) and not texts.str.contains(r"\bexec|saveexec|v_cmpx").any()


@pytest.mark.parametrize("capture", ["c04", "c02", "c12"])
def test_traced_matrix_kernels_equal_the_textbook(shared: Path, capture: str) -> None:
    trace = wavewright.decode(shared / "data" / "att-mi300x-bmm" / capture / "raw", dispatch=3)
    code = trace.code.sort("row").filter(pl.col("function").is_in(trace.kernels["name"].implode()))
    assert _is_matrix_kernel(code["text"])
    ours = code.join(live_rows(trace), on="row", how="left", maintain_order="left")["live_vgprs"]
    is_reached = ours.is_not_null()
    book = pl.Series(_textbook(code), dtype=pl.UInt16)
    assert ours.filter(is_reached).to_list() == book.filter(is_reached).to_list()


def test_matrix_kernels_of_a_code_object_rise_and_fall(shared: Path) -> None:
    """Values of registers die between the matrix instructions of a loop; a pass that kept them was flat at 92."""
    checked = 0
    for path in sorted((shared / "data" / "att-mi300x-bmm" / "c02" / "raw").glob("*.out")):
        code_object = CodeObject.from_bytes(path.read_bytes())
        for kernel in code_object.kernels:
            rows = kernel_code(code_object, kernel).rows
            if _is_matrix_kernel(rows["text"]):
                book = pl.Series(_textbook(rows), dtype=pl.UInt16)
                assert rows.filter("is_reached")["live_vgprs"].to_list() == book.filter(rows["is_reached"]).to_list()
                checked += 1
    assert checked == 2

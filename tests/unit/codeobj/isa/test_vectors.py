"""The disassembler in the core on one instruction of every record, as LLVM 22 prints it; needs no LLVM."""

from __future__ import annotations

from itertools import groupby

import pytest

from tools.isa.judge_cases import Vector, vectors
from tools.isa.judge_compare import ALLOWED, Case, ours
from tools.isa.judge_llvm import WINDOW_BYTES, Answer, wave_sizes
from wavewright import _core

COLUMNS = (
    *("gfx900", "gfx904", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1013"),
    *("gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250", "gfx1251"),
)


def _of(column: str) -> list[list[Vector]]:
    """The vectors of a column, by wave size."""
    return [list(group) for _, group in groupby((v for v in vectors() if v.column == column), lambda v: v.wave64)]


def test_the_core_has_the_columns_of_the_vectors() -> None:
    assert sorted(_core.isa_targets()) == sorted(COLUMNS)
    assert {vector.column for vector in vectors()} == set(COLUMNS)
    assert len(vectors()) > 55_000


@pytest.mark.parametrize("column", COLUMNS)
def test_every_vector_has_the_text_and_size_of_llvm(column: str) -> None:
    groups = _of(column)
    assert [group[0].wave64 for group in groups] == list(wave_sizes(column))
    for group in groups:
        wave64 = group[0].wave64
        windows = b"".join(vector.code.ljust(WINDOW_BYTES, b"\0") for vector in group)
        answers = ours(column, windows, wave64=wave64)
        wrong = [
            Case(column, wave64, vector.code, answer, expected)
            for vector, answer in zip(group, answers, strict=True)
            if answer != (expected := Answer(len(vector.code), vector.text))
        ]
        unnamed = [case for case in wrong if not any(difference.holds(case) for difference in ALLOWED)]
        assert unnamed == [], "\n".join(map(str, unnamed[:20]))
        assert len(wrong) <= 3


@pytest.mark.parametrize("column", COLUMNS)
def test_an_instruction_is_cut_where_the_code_ends(column: str) -> None:
    """Of an instruction whose last word is missing nothing is taken that is not there."""
    for vector in [vector for group in _of(column) for vector in group][::7]:
        if len(vector.code) == 4:
            continue
        code = vector.code[:-4]
        rows = _core.disassemble(code, [(0, 0, len(code), vector.wave64)], column, True)
        assert len(rows.rows) <= len(code) // 4
        assert sum(int(line.split(b"\t")[1]) for line in rows.tsv.splitlines()) == len(code)

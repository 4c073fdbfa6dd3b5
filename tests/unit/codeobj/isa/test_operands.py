"""Registers read and written, against the operands and implicit registers of LLVM's decoded instructions."""

from __future__ import annotations

import pytest

from tests.unit.codeobj.isa.test_vectors import COLUMNS, _of
from tools.isa.judge_registers import comparable, expected, words_of_core
from wavewright import _core


def _ties(words: str) -> set[str]:
    return {word[1:] for word in words.split() if word[0] == "t"}


def _results(words: str) -> set[str]:
    return {word[1:] for word in words.split() if word[0] in "dD"}


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("column", COLUMNS)
def test_registers_of_every_vector(column: str) -> None:
    for group in _of(column):
        code = b"".join(vector.code for vector in group)
        chunks, at = [], 0
        for vector in group:
            chunks.append((at, at, at + len(vector.code), vector.wave64))
            at += len(vector.code)
        words = words_of_core(_core.disassemble(code, chunks, column, True), len(group))
        assert all(_ties(line) <= _results(line) for line in words)
        wrong = [
            f"{vector.text}: {ours}, not {theirs}"
            for vector, ours in zip(group, words, strict=True)
            if comparable(ours) != comparable(theirs := expected(vector))
        ]
        assert wrong == [], "\n".join(wrong[:20])

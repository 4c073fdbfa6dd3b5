"""The disassembler in the core beside LLVM 22, on instructions that nobody chose; skips where LLVM is absent."""

from __future__ import annotations

import pytest

from tests.unit.codeobj.isa.test_vectors import COLUMNS
from tools.isa import judge_cases
from tools.isa.judge_compare import compare
from tools.isa.judge_llvm import UnavailableError, ask, wave_sizes

WAVES = [(column, wave64) for column in COLUMNS for wave64 in wave_sizes(column)]
SHORT = 400  # windows of a short run


@pytest.fixture(scope="module")
def judge() -> None:
    try:
        ask("gfx942", bytes(20))
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.mark.some_cases(4)
@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_records_with_random_bits(column: str, wave64: bool) -> None:
    every = list(judge_cases.fills(column, 1, seed=17))
    verdict = compare(column, every[:: max(1, len(every) // SHORT)], wave64=wave64)
    assert verdict.differences == [], verdict.examples()
    assert verdict.equal > SHORT / 2


@pytest.mark.some_cases(4)
@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_records_with_literals_like_constants(column: str, wave64: bool) -> None:
    every = list(judge_cases.edges(column, 4, seed=17))
    verdict = compare(column, every[:: max(1, len(every) // SHORT) | 1], wave64=wave64)  # odd: all of the four kinds
    assert verdict.differences == [], verdict.examples()
    assert verdict.equal > SHORT / 2


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_random_windows(column: str, wave64: bool) -> None:
    verdict = compare(column, judge_cases.windows(column, SHORT, seed=17), wave64=wave64)
    assert verdict.differences == [], verdict.examples()
    assert verdict.none > SHORT / 10


@pytest.mark.slow
@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_every_record_with_random_bits_twenty_times(column: str, wave64: bool) -> None:
    verdict = compare(column, judge_cases.fills(column, 20, seed=1), wave64=wave64)
    assert verdict.differences == [], verdict.examples()
    assert verdict.total >= 20 * 2800


@pytest.mark.slow
@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_every_record_with_literals_like_constants(column: str, wave64: bool) -> None:
    verdict = compare(column, judge_cases.edges(column, 20), wave64=wave64)
    assert verdict.differences == [], verdict.examples()


@pytest.mark.slow
@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize(("column", "wave64"), WAVES)
def test_many_random_windows(column: str, wave64: bool) -> None:
    verdict = compare(column, judge_cases.windows(column, 50_000), wave64=wave64)
    assert verdict.differences == [], verdict.examples()

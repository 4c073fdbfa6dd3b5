"""Every record of every golden trace equals the reference's."""

from __future__ import annotations

import pytest

from tests.golden import oracle

FAMILIES = ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250")
REAL = ("gfx950", "gfx1100", "gfx1200")

pytestmark = pytest.mark.skipif(not oracle.GOLDEN.is_dir(), reason="../shared/golden is not here")


def _cases() -> list[oracle.Case]:
    if not oracle.GOLDEN.is_dir():
        return []
    synthetic = [case for family in FAMILIES for case in oracle.synthetic_cases(family)]
    return synthetic + [case for gpu in REAL for case in oracle.real_cases(gpu)]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_records_equal_the_reference(case: oracle.Case) -> None:
    assert oracle.differences(case) == []

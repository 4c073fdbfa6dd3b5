"""Names and addresses that mean rows."""

from __future__ import annotations

import polars as pl
import pytest

from tests.kit.together import together
from wavewright.analysis.trace.listing.places import rows_at, rows_of_function
from wavewright.errors import UsageError

CODE = pl.DataFrame(
    {
        "row": [0, 1, 2],
        "address": pl.Series([0x1700, 0x1708, (1 << 64) - 8], dtype=pl.UInt64),
        "size": pl.Series([8, 4, 8], dtype=pl.UInt16),
        "function": ["gemm", "gemm", None],
    }
)


@together("place, rows", [("2", [2]), ("0x1700", [0]), ("0x1707", [0]), ("5896", [1]), ("0xffffffffffffffff", [2])])
def test_a_place_is_a_row_or_an_address(place: str, rows: list[int]) -> None:
    assert rows_at(CODE, place) == rows


@together("place", ["abc", "3", "0x1", "-1", "0x1" + "0" * 40, "", "1e3"])
def test_a_place_that_is_nothing_says_what_there_is(place: str) -> None:
    with pytest.raises(UsageError) as caught:
        rows_at(CODE, place)
    assert "row" in caught.value.advice


def test_functions_by_a_part_of_their_name() -> None:
    assert rows_of_function(CODE, "em").to_list() == [0, 1]
    with pytest.raises(UsageError, match="gemm"):
        rows_of_function(CODE, "g.m")

"""Which LDS accesses of a block may change places: addresses worked out by hand."""

from __future__ import annotations

import pytest

from tests.kit.small_traces import small_trace
from wavewright.analysis.trace.waits.wait_checks import rows_of_kernels
from wavewright.analysis.trace.what_if.lds_apart import lds_apart

#: v1 = 4 * the number of the work-item: one wave touches bytes 0 to 255.
ADDRESS = ("v_and_b32_e32 v0, 0x3ff, v0", "v_lshlrev_b32_e32 v1, 2, v0")
WRITE, SECOND = 2, 3  #: Rows of the two accesses.


def pairs_apart(*accesses: str) -> frozenset[tuple[int, int]]:
    texts = [*ADDRESS, *accesses, "s_endpgm"]
    trace = small_trace(texts, [(row, "VALU", 8 * row, 0, 4) for row in range(len(texts))])
    code = rows_of_kernels(trace)
    assert code is not None
    return lds_apart(trace, code.rows)


@pytest.mark.parametrize(
    ("second", "is_apart"),
    [
        ("ds_read_b32 v2, v1", False),  # the bytes that were written
        ("ds_read_b32 v2, v1 offset:252", False),  # the first lane reads what the last one wrote
        ("ds_read_b32 v2, v1 offset:256", True),  # right behind them
        ("ds_read_b64 v[2:3], v1 offset:248", False),  # 8 bytes from 248: two dwords of the last lanes
    ],
)
def test_only_accesses_without_a_common_byte_may_change_places(second: str, is_apart: bool) -> None:
    assert pairs_apart("ds_write_b32 v1, v0", second) == (frozenset({(WRITE, SECOND)}) if is_apart else frozenset())


def test_an_address_that_was_loaded_proves_nothing() -> None:
    loaded = ("ds_read_b32 v4, v1 offset:1024", "ds_write_b32 v4, v0", "ds_read_b32 v2, v1 offset:4096")
    assert pairs_apart(*loaded) == frozenset({(2, 4)})

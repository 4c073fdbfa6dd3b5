"""Values of a block in another order: lane by lane the addresses and integer registers of the order of the code."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.conftest import SHARED
from tests.unit.analysis.code.edits.order_cases import random_order
from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder
from wavewright.analysis.code.edits.code_rows import VGPR_BITS, numbers_in
from wavewright.analysis.code.edits.dependences import first_of_all
from wavewright.analysis.code.edits.kernel_rows import blocks_of, live_behind
from wavewright.analysis.trace.lanes.evaluated import LaneOptions, executions
from wavewright.analysis.trace.waits.wait_checks import rows_of_kernels
from wavewright.analysis.trace.what_if.edit_language import places_of
from wavewright.analysis.trace.what_if.lds_apart import lds_apart
from wavewright.codeobj.registers import FIRST_VECTOR
from wavewright.model.trace import ThreadTrace
from wavewright.readers.opening import open_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wavewright.analysis.code.edits.code_rows import CodeRow

REAL = SHARED / "data/att-mi300x-bmm"
_UNUSED = 255  #: A vector register that these kernels do not name.


class Interpreted:
    """One loop of a trace, executed by the lane evaluator with its rows in any order.

    Rows without their waits fill the places of the block; probes, writes to LDS whose address is a register, take the
    places that the waits leave before its branch. A place keeps its address, so branches lead where they did.
    """

    def __init__(self, capture: str) -> None:
        if not REAL.exists():
            pytest.skip("no shared/data")
        trace = open_trace(next((REAL / capture).glob("ui_output_agent_*_dispatch_3")))
        code = rows_of_kernels(trace)
        assert code is not None
        self.block = max((each for each in blocks_of(code) if each.is_loop), key=lambda each: len(each.rows))
        apart = lds_apart(trace, [code.rows[number] for number in self.block.rows])
        self.orders = BlockOrders(code, self.block, apart=apart)
        waves = trace.waves.filter(pl.col("instruction_count") > 0).head(1)
        rows = trace.instructions.filter(pl.col("wave") == waves["wave"][0])
        self._tables = {name: getattr(trace, name) for name in ("shader_engines", "kernels", "dispatches")}
        self._tables |= {"waves": waves, "instructions": rows}
        self._code, self._source = trace.code.sort("row"), trace.source

    def live_integers(self) -> Iterator[list[str]]:
        """Probes of the registers that the block writes and that are read behind it, as many as fit at a time."""
        live = live_behind(self.orders.code, self.block) or 0
        written = 0
        for row in self.orders.core:
            written |= 0 if row.counters or row.is_matrix else row.writes
        probes = [[f"ds_write_b32 v{number - FIRST_VECTOR}, v0"] for number in numbers_in(written & live & VGPR_BITS)]
        probes += [
            [f"v_mov_b32_e32 v{_UNUSED}, s{number}", f"ds_write_b32 v{_UNUSED}, v0"]
            for number in numbers_in(written & live)
            if number < 100
        ]
        room = len(self.orders.written) - len(self.orders.core)
        part: list[str] = []
        for probe in probes:
            if len(part) + len(probe) > room:
                yield part
                part = []
            part = [*part, *probe]
        if part:
            yield part

    def values(self, order: Sequence[CodeRow], probes: Sequence[str]) -> dict[tuple[object, ...], list[object]]:
        """Addresses of all lanes by row (probes by their text), place in the workgroup and part, one per execution."""
        core = [row for row in order if not row.is_derived]
        room = len(self.orders.written) - len(core)
        padding = ["s_nop 0"] * (room - len(probes))
        texts = [*(row.text for row in core[:-1]), *padding, *probes, core[-1].text]
        names = [*(row.row for row in core[:-1]), *padding, *(f"{at} {text}" for at, text in enumerate(probes)), -1]
        text_of, name_of = (
            dict(zip(self.block.rows, texts, strict=True)),
            dict(zip(self.block.rows, names, strict=True)),
        )
        rows, old = self._code["row"].to_list(), self._code["text"].to_list()
        code = self._code.with_columns(
            text=pl.Series([text_of.get(row, text) for row, text in zip(rows, old, strict=True)])
        )
        trace = ThreadTrace({**self._tables, "code": code}, self._source)
        executed = self._tables["instructions"]["row"].to_list()
        answer: dict[tuple[object, ...], list[object]] = {}
        columns = ("instruction", "place_in_workgroup", "place", "is_known", "active", "has_base", "address")
        for at, where, part, *value in executions(trace, LaneOptions()).select(columns).iter_rows():
            answer.setdefault((name_of.get(executed[at], executed[at]), where, part), []).append(tuple(map(str, value)))
        return answer


@pytest.mark.parametrize(
    "capture", [pytest.param("c04", marks=pytest.mark.slow), "c06", pytest.param("c08", marks=pytest.mark.slow)]
)
def test_addresses_and_integers_are_those_of_the_code(capture: str) -> None:
    """Of every memory access in every iteration and behind the loop, and of the registers that leave the loop."""
    run = Interpreted(capture)
    orders = run.orders
    start = list(range(len(orders.core)))
    tried = [first_of_all(orders.dependences, start, places_of(orders, kind)) for kind in ("lds", "loads")]
    tried += [random_order(orders, Random(seed)) for seed in range(3)]
    legal_orders = [orders.legal(order) for order in tried]
    known = known_probes = compared = 0
    for probes in run.live_integers():
        before = run.values(orders.core, probes)
        for legal in legal_orders:
            assert isinstance(legal, LegalOrder)
            after = run.values(legal.rows, probes)
            assert before == after
            compared += len(after)
            known += sum(value[0] == "True" for values in after.values() for value in values)
            known_probes += sum(
                "ds_write" in str(name) for (name, *_), values in after.items() if values[0][0] == "True"
            )
    assert compared > 100
    assert known > 500
    assert known_probes >= 10


def test_another_value_is_noticed() -> None:
    """Rows that depend on each other, swapped: some address differs."""
    run = Interpreted("c06")
    rows = list(run.orders.core)
    at = next(at for at, row in enumerate(rows) if row.text.startswith("s_xor_b32"))
    probes = next(run.live_integers())
    assert run.values(rows, probes) == run.values(rows, probes)
    rows[at - 1], rows[at] = rows[at], rows[at - 1]  # s_mov_b32 s12, s7 behind s_xor_b32 s7, s7, 1
    assert run.values(run.orders.core, probes) != run.values(rows, probes)

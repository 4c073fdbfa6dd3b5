"""Orders of blocks: legal ones are safe and as weak as they can be, illegal ones are refused with the reason."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import polars as pl
import pytest

from synth.kernels import GFX1250_KERNELS, KERNELS, LANE_KERNELS, kernel_path
from tests.conftest import SHARED
from tests.kit.judges import llvm_program
from tests.unit.analysis.code.edits.order_cases import block_orders, kernels_of, random_order
from tests.unit.analysis.code.edits.spelled_out_orders import operands, problems, reads_by_row
from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.code_rows import EXEC_BITS, CodeRow, code_rows
from wavewright.analysis.code.edits.derived_waits import derive, surroundings, unmet_need
from wavewright.analysis.code.edits.in_flight import State, issued, outside
from wavewright.analysis.code.edits.kernel_rows import blocks_of, rows_before, rows_behind, states_before
from wavewright.analysis.code.edits.wait_audit import open_barriers, strict_waits
from wavewright.analysis.code.edits.wait_forms import wait_texts
from wavewright.analysis.code.edits.webs import webs
from wavewright.codeobj.registers import FIRST_VECTOR

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx1250")
LOOPS = ("tiled_gemm", "tiled_gemm_prefetch", "matrix_core", "reduction")
REAL = SHARED / "data/att-mi300x-bmm"


def _waits(rows: object) -> list[str]:
    return [row.text for row in rows if row.is_wait]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kernel", "target"),
    [
        *((kernel, target) for kernel in LOOPS for target in TARGETS[:-1]),
        *((kernel, "gfx1250") for kernel in GFX1250_KERNELS),
    ],
)
@pytest.mark.some_cases(4)
def test_waits_derived_for_the_order_of_the_code_are_those_of_the_compiler(kernel: str, target: str) -> None:
    """Of gfx1250 with waits for the translation of addresses, in all blocks."""
    for _, code in kernels_of(kernel_path(kernel, target)):
        states = states_before(code, blocks_of(code))
        for block in blocks_of(code):
            entry = states.get(block.first)
            if not (block.is_loop or target == "gfx1250") or entry is None:
                continue
            rows = [code.rows[number] for number in block.rows]
            around = surroundings(
                rows,
                code.family,
                is_loop=block.is_loop,
                entry=entry,
                before=rows_before(code, block),
                behind=rows_behind(code, block),
            )
            assert not unmet_need(rows, around)  # what the compiler wrote is enough
            derived = derive([row for row in rows if not row.is_derived], around)
            # async_copy waits for its copies by hand, in front of what the compiler waits for.
            in_order = sorted if kernel == "async_copy" else list
            assert in_order(_waits(derived.rows)) == in_order(_waits(rows))
            assert derived.hazard is None


def test_waits_of_real_kernels_are_least_or_named_as_stricter() -> None:
    if not REAL.exists():
        pytest.skip("no shared/data")
    found = {}
    for capture in ("c04", "c05", "c08"):
        for path in sorted((REAL / capture / "raw").glob("*code_object_id_2.out")):
            for name, code in kernels_of(path):
                strict = [(code.rows[row].row, counter) for row, counter, *_ in strict_waits(code).rows()]
                found[capture, name[:6], len(code.rows)] = (strict, open_barriers(code)["row"].to_list())
    # c05 waits again behind its barrier for what it waited for before it; c08's barriers follow LDS writes.
    assert {key: value for key, value in found.items() if value != ([], [])} == {
        ("c05", "_Z57ba", 850): ([(254, "lgkmcnt")], []),
        ("c05", "_Z52ba", 878): ([(225, "lgkmcnt")], []),
        ("c08", "_Z57ba", 806): ([], [56, 168]),
        ("c08", "_Z52ba", 903): ([], [91, 312]),
    }


def _judged(orders: BlockOrders, rng: Random) -> LegalOrder | None:
    """One random order, judged by the texts alone; None where wait states of RDNA are not known."""
    order = random_order(orders, rng)
    answer = orders.legal(order)
    if isinstance(answer, Refused):
        assert answer.edge is None, answer.reason
        assert orders.code.family != "gfx9", answer.reason
        return None
    texts = [row.text for row in answer.rows]
    is_loop, family = orders.block.is_loop, orders.code.family
    before = problems([row.text for row in orders.written], family, is_loop=is_loop)
    assert len(problems(texts, family, is_loop=is_loop)) <= len(before)
    written = [(row.row, row.text) for row in orders.core]
    now = [(row.row, row.text) for row in answer.rows if not row.is_derived]
    assert reads_by_row(now, is_loop=is_loop) == reads_by_row(written, is_loop=is_loop)
    return answer


def _relaxed_is_caught(orders: BlockOrders, answer: LegalOrder) -> int:
    """Each derived wait, one weaker, leaves something unmet; the number of those tried."""
    tried = 0
    for place, row in enumerate(answer.rows):
        for counter, value in row.waits:
            weaker = tuple((name, number + (name == counter)) for name, number in row.waits)
            rows = [*answer.rows[:place], replace(row, waits=weaker), *answer.rows[place + 1 :]]
            assert unmet_need(rows, orders.around), (row.text, counter, value)
            tried += 1
    return tried


def _paths(targets: tuple[str, ...] = TARGETS) -> list[Path]:
    kernels = (*LOOPS, "vector_add", "saxpy", "divergent")
    paths = [kernel_path(kernel, target) for target in targets for kernel in (*kernels, "async_copy")]
    return [path for path in paths if path.exists()]


@pytest.mark.slow
def test_random_orders_are_safe_and_least() -> None:
    rng = Random(5)
    relaxed = judged = 0
    for path in _paths(("gfx942", "gfx1100", "gfx1201", "gfx1250")):
        for orders in block_orders(path, loops_only=True):
            for _ in range(2):
                answer = _judged(orders, rng)
                if answer is not None:
                    judged += 1
                    relaxed += _relaxed_is_caught(orders, answer)
    assert judged > 10
    assert relaxed > 50


def _loop(*texts: tuple[str, str, str], family: str = "gfx9") -> list[CodeRow]:
    columns = ("text", "reads", "writes")
    rows = [dict(zip(columns, each, strict=True), row=row, size=8) for row, each in enumerate(texts)]
    empty = dict.fromkeys(("implicit_reads", "tied", "implicit_writes"), "")
    return code_rows(pl.DataFrame([row | empty for row in rows]), family)


def test_the_results_of_two_operations_at_once_are_no_operands() -> None:
    """v_dual names two results; the first stands where other rows have their only one."""
    pair, dual = _loop(
        ("v_pk_mul_f32 v[14:15], v[2:3], v[2:3]", "v2 v3", "v14 v15"),
        ("v_dual_mov_b32 v14, v31 :: v_dual_add_f32 v9, v9, v15", "v31 v9 v15", "v14 v9"),
    )
    renamed = webs([pair, dual], 0).rows[1]
    assert renamed.read_webs == {FIRST_VECTOR + 15: 0}
    assert renamed.written_webs == {}
    # Where it adds to what it overwrites, the text has one word for both.
    adding = _loop(("v_dual_mov_b32 v14, v31 :: v_dual_add_f32 v15, v9, v15", "v31 v9 v15", "v14 v15"))
    assert webs([pair, *adding], 0).registers == {}


@pytest.mark.parametrize(
    ("between", "is_safe"), [("v_mov_b32_e32 v9, v8", True), ("s_add_i32 s4, s4, 1", False)], ids=["vector", "scalar"]
)
def test_rdna_counts_the_kind_of_rows_that_was_between(between: str, is_safe: bool) -> None:
    """gfx11 reads a transcendental result too early behind fewer than six vector rows; scalar rows do not count."""
    rows = _loop(
        ("v_exp_f32_e32 v1, v0", "v0", "v1"),
        ("v_mov_b32_e32 v9, v8", "v8", "v9"),
        ("v_mov_b32_e32 v9, v8", "v8", "v9"),
        ("v_add_f32_e32 v2, v1, v1", "v1", "v2"),
        (between, "", ""),
        family="gfx11",
    )
    order = [rows[0], rows[1], rows[4], rows[3], rows[2]]
    assert (derive(order, surroundings(rows, "gfx11", is_loop=False, entry={})).hazard is None) == is_safe


def test_a_wait_that_comes_to_be_stricter_makes_a_later_one_needless() -> None:
    loads = [(f"global_load_dword v{at}, v[2:3], off", "v2 v3", f"v{at}") for at in (0, 1)]
    before = _loop(*loads)
    rows = _loop(
        ("s_waitcnt vmcnt(1)", "", ""),
        ("v_add_u32_e32 v4, v4, v0", "v4 v0", "v4"),
        ("s_waitcnt vmcnt(0)", "", ""),
        ("v_add_u32_e32 v4, v4, v1", "v4 v1", "v4"),
        *loads,
        ("s_cbranch_scc0 65530", "scc", ""),
    )
    entry: State = {}
    for row in before:
        issued(entry, row)
    around = surroundings(rows, "gfx9", is_loop=True, entry=outside(entry))
    core = [row for row in rows if not row.is_derived]
    assert _waits(derive(core, around).rows) == ["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"]
    # Where the loop loads v1 first, v0 is the younger one of each next iteration, and nothing is left to wait for.
    core[2:4] = reversed(core[2:4])
    assert _waits(derive(core, around).rows) == ["s_waitcnt vmcnt(0)"]


@pytest.mark.parametrize("target", ["gfx942", pytest.param("gfx1100", marks=pytest.mark.slow)])
def test_blocks_that_switch_lanes_on_and_off_keep_the_lanes_of_each_row(target: str) -> None:
    """Vector rows stay between the two writes of exec that they stand between; scalar rows need not."""
    rng = Random(7)
    orders_tried = moved_scalars = 0
    for kernel in (*KERNELS, *LANE_KERNELS):
        for orders in block_orders(kernel_path(kernel, target), least_rows=4):
            if not any(row.writes & EXEC_BITS for row in orders.core):
                continue
            assert orders.webs.registers == {}
            for _ in range(3):
                answer = _judged(orders, rng)
                if answer is None:
                    continue
                orders_tried += 1
                assert _masks(answer.rows) == _masks(orders.core)
                moved_scalars += _masks(answer.rows, is_scalar=True) != _masks(orders.core, is_scalar=True)
    assert orders_tried > 40
    assert moved_scalars > 5


def _masks(rows: Sequence[CodeRow], *, is_scalar: bool = False) -> dict[int, int]:
    """Row that wrote exec before each row that lanes matter to (or of all others), by the texts."""
    writer, answer = -1, {}
    for row in rows:
        _, read, written = operands(row.text)
        if not row.is_derived and ("exec" not in read) == is_scalar:
            answer[row.row] = writer
        writer = row.row if "exec" in written else writer
    return answer


@pytest.mark.parametrize(
    ("targets", "each"), [(("gfx942",), 20), pytest.param(TARGETS, 2_000, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_a_reversed_edge_is_refused_and_named(targets: tuple[str, ...], each: int) -> None:
    rng = Random(6)
    count = 0
    for orders in (orders for path in _paths(targets) for orders in block_orders(path)):
        edges = [(before, at) for at, found in enumerate(orders.dependences.edges) for before in found]
        for before, at in rng.sample(edges, min(each, len(edges))):
            order = list(range(len(orders.core)))
            order.remove(before)
            order.insert(order.index(at) + 1, before)
            answer = orders.legal(order)
            assert isinstance(answer, Refused)
            assert answer.edge is not None
            assert answer.edge.words
            count += 1
    assert count > (9_000 if len(targets) > 1 else 60)


@pytest.mark.slow
def test_ten_thousand_orders_over_all_families() -> None:
    rng = Random(20261118)
    blocks = [(target, orders) for target in TARGETS for path in _paths((target,)) for orders in block_orders(path)]
    legal, refused, relaxed = 0, 0, 0
    assembled: dict[str, list[str]] = {}
    while legal < 10_000:
        target, orders = rng.choice(blocks)
        answer = _judged(orders, rng)
        if answer is None:
            refused += 1
            continue
        legal += 1
        if legal % 10 == 0:
            relaxed += _relaxed_is_caught(orders, answer)
        if legal % 20 == 0:
            assembled.setdefault(target, []).append("\n".join(row.text for row in answer.rows))
    assert refused < legal
    assert relaxed > 1_000
    assert sum(map(len, assembled.values())) >= 500
    for target, listings in assembled.items():
        _assembles(target, listings)


def _assembles(target: str, listings: list[str]) -> None:
    program = llvm_program("llvm-mc")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "orders.s"
        source.write_text("\n".join(listings) + "\n", encoding="utf-8")
        done = subprocess.run(
            [program, "-triple=amdgcn-amd-amdhsa", f"-mcpu={target}", "-filetype=obj", "-o", "/dev/null", source],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize(
    ("values", "family", "texts"),
    [
        ({"vmcnt": 63, "lgkmcnt": 15}, "gfx9", ["s_waitcnt vmcnt(63) lgkmcnt(15)"]),
        ({"vmcnt": 0, "vscnt": 2}, "gfx11", ["s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x2"]),
        ({"storecnt": 1, "dscnt": 2}, "gfx12", ["s_wait_storecnt_dscnt 0x102"]),
        ({"samplecnt": 99}, "gfx12", ["s_wait_samplecnt 0x3f"]),
        ({"loadcnt": 1, "xcnt": 0}, "gfx1250", ["s_wait_loadcnt 0x1", "s_wait_xcnt 0x0"]),
    ],
)
def test_waits_are_written_as_the_family_writes_them(values: dict[str, int], family: str, texts: list[str]) -> None:
    assert wait_texts(values, family) == texts

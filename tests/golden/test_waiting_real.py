"""Stalls, waits and classic types of real directories against figures that others published about them."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import wavewright
from tests.conftest import SHARED
from wavewright.analysis.trace.costs.row_costs import row_totals
from wavewright.analysis.trace.stalls import stalls
from wavewright.analysis.trace.stalls.classic import Classic, classic
from wavewright.analysis.trace.waits.wait_producers import resolve
from wavewright.base.words import short
from wavewright.model.trace import ThreadTrace

FOLDER = SHARED / "data" / "uiout-mi350x-flydsl"
BIG = {"moe_reduce", "softmax"}
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data is not here")


@lru_cache(maxsize=2)
def opened(kernel: str, dispatch: str = "") -> ThreadTrace:
    folder = FOLDER / kernel / "big"
    return wavewright.open(next(path for path in sorted(folder.iterdir()) if dispatch in path.name))


def kernels(names: list[str]) -> list[object]:
    """Parameters; the largest traces are slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if name in BIG else []) for name in names]


# rcv_features.md 3.3 names -> ours. "VALU" there has the matrix and transcendental instructions in it.
CLASSES = {
    "wait DMA": ("wait load to LDS",),
    "VALU": ("VALU issue", "transcendental issue", "matrix dependency", "VALU pipe busy", "matrix pipe busy"),
    "wait LDS": ("wait LDS",),
    "s_nop": ("s_nop",),
    "FLAT": ("FLAT issue",),
    "VMEM": ("VMEM issue",),
    "LDS": ("LDS issue",),
    "barrier": ("barrier",),
    "wait VMEM": ("wait vector load",),
    "wait SMEM": ("wait scalar load",),
}
SHARES: dict[tuple[str, str], dict[str, float]] = {
    ("flash_attn_func", "38430"): {
        "wait DMA": 25.7,
        "VALU": 23.9,
        "wait LDS": 13.8,
        "s_nop": 13.3,
        "FLAT": 6.7,
        "VMEM": 4.9,
        "barrier": 4.0,
    },
    ("preshuffle_gemm", ""): {
        "wait VMEM": 27.6,
        "wait LDS": 24.9,
        "VALU": 15.1,
        "LDS": 11.8,
        "VMEM": 9.9,
        "barrier": 6.9,
    },
    ("moe_gemm", ""): {"wait VMEM": 53.2, "VMEM": 15.1, "barrier": 13.0, "VALU": 11.7},
    ("fused_rope_cache", ""): {"wait SMEM": 77.7},
    ("layernorm", ""): {"wait SMEM": 47.2},
}
# Published of the 300 waves that a file system listed first; of all waves it is the second figure.
SHARES_OF_300 = {
    "vec_add": ("wait VMEM", 82.0, 82.3),
    "softmax": ("VMEM", 60.7, 60.5),
    "moe_reduce": ("VMEM", 72.3, 72.8),
}


def share_of(trace: ThreadTrace, name: str) -> float:
    classes = dict(stalls(trace).classes.select("class", "stall_share").iter_rows())
    return round(100 * sum(classes.get(part, 0.0) for part in CLASSES[name]), 1)


@pytest.mark.first_case
@pytest.mark.parametrize("which", list(SHARES), ids=lambda which: which[0])
def test_shares_by_producer(which: tuple[str, str]) -> None:
    trace = opened(*which)
    assert {name: share_of(trace, name) for name in SHARES[which]} == SHARES[which]
    assert stalls(trace).unresolved_wait_count == 0


@pytest.mark.parametrize("kernel", kernels(list(SHARES_OF_300)))
def test_shares_of_traces_published_in_part(kernel: str) -> None:
    name, of_300, of_all = SHARES_OF_300[kernel]
    found = share_of(opened(kernel), name)
    assert found == of_all
    assert found == pytest.approx(of_300, abs=0.6)


@pytest.mark.first_case
@pytest.mark.parametrize("kernel", kernels(sorted(folder.name for folder in FOLDER.glob("*"))))
def test_every_cycle_once(kernel: str) -> None:
    """Stalls, latencies and idle cycles by class add up to what the files state."""
    trace = opened(kernel)
    answer, totals = stalls(trace), row_totals(trace)
    for name in ("stall", "latency", "idle"):
        found = getattr(answer, f"{name}_cycles_total")
        assert found == totals[f"{name}_cycles_total"].sum() == trace.stored_totals[f"{name}_cycles_total"].sum()
    assert answer.classes["stall_cycles_total"].sum() == answer.stall_cycles_total
    assert answer.classes["exposed_stall_cycles_total"].sum() == answer.exposed_stall_cycles_total


class Printed(NamedTuple):
    """The figures of a report of the classic analyzer."""

    instruction_count: int
    totals: tuple[str, str, str]
    types: list[tuple[str, str, str]]
    lines: list[tuple[str, str, str, str, str]]
    instructions: list[tuple[str, str, str, str, str]]


TYPE = r"(\S+)"
BAR = r"\[[█░]+\]"
LINE = re.compile(rf"^ +\d+ +(\S+) +([\d.]+)% +{BAR} +([\d.]+)% +{TYPE} +(.+?) *$", re.M)
INSTRUCTION = re.compile(rf"^ +\d+ +(\S+) +([\d.]+)%  {TYPE} +(.{{48}})  (.+?) *$", re.M)
TYPE_ROW = re.compile(rf"^  {TYPE} +(\S+)  {BAR} +([\d.]+)%$", re.M)


def printed(text: str) -> Printed:
    count = re.search(r"Instructions: +(\d+)", text)
    cycles = re.search(r"Total cycles: +(\S+)", text)
    stall = re.search(r"Total stalls: +(\S+) +\(([\d.]+)%", text)
    assert count
    assert cycles
    assert stall
    lines, instructions = text.split("Hotspot Source Lines")[1].split("Hotspot Instructions")
    return Printed(
        int(count[1]),
        (cycles[1], stall[1], stall[2]),
        TYPE_ROW.findall(text.split("Stall Breakdown")[1].split("Hotspot")[0]),
        LINE.findall(lines),
        [(a, b, c, d.rstrip(), e) for a, b, c, d, e in INSTRUCTION.findall(instructions)],
    )


def cut(text: str) -> str:
    """An instruction as the report prints it."""
    return text if len(text) <= 48 else text[:47] + "…"


def ours(answer: Classic) -> Printed:
    """The same figures from our answer."""
    lines = answer.lines.head(15).iter_rows(named=True)
    rows = answer.instructions.head(15).iter_rows(named=True)
    return Printed(
        answer.instruction_count,
        (short(answer.latency_cycles_total), short(answer.stall_cycles_total), f"{100 * answer.stall_share:.1f}"),
        [(name, short(stall), f"{100 * share:.1f}") for name, stall, share in answer.types.iter_rows()],
        [
            (
                short(line["stall_cycles_total"]),
                f"{100 * line['stall_share']:.2f}",
                f"{100 * line['stalled_share']:.1f}",
                line["type"],
                line["source"][-48:],
            )
            for line in lines
        ],
        [
            (
                short(row["stall_cycles_total"]),
                f"{100 * row['stall_share']:.2f}",
                row["type"],
                cut(row["text"]).rstrip(),
                row["source"][-38:],
            )
            for row in rows
        ],
    )


@pytest.mark.first_case
@pytest.mark.parametrize("kernel", kernels(sorted(path.parent.parent.name for path in FOLDER.glob("*/expected/*.txt"))))
def test_classic_report(kernel: str) -> None:
    expected = printed((FOLDER / kernel / "expected" / "hotspot_output.txt").read_text(encoding="utf-8"))
    assert expected.types
    assert expected.lines
    assert expected.instructions
    found = ours(classic(opened(kernel)))
    for field, theirs in expected._asdict().items():
        assert getattr(found, field) == theirs, field


def test_classic_figures_of_flash_attention() -> None:
    answer = classic(opened("flash_attn_func", "38430"))
    assert (answer.latency_cycles_total, answer.stall_cycles_total) == (2_855_224, 1_677_652)
    types = {name: short(stall) for name, stall, _ in answer.types.iter_rows()}
    assert (types["other"], types["VMEM-wait"], types["LDS/SMEM-wait"]) == ("492.9K", "490.6K", "274.0K")
    top = answer.instructions.row(0, named=True)
    assert (top["address"], top["text"], top["hit_count"]) == (11448, "s_waitcnt vmcnt(0)", 248)
    assert short(top["stall_cycles_total"]) == "142.9K"


@pytest.mark.first_case
@pytest.mark.parametrize("kernel", kernels(sorted(folder.name for folder in FOLDER.glob("*"))))
def test_producers_are_those_of_amds_matching(kernel: str) -> None:
    """None of these kernels needs more than AMD's rules; where those say enough, both say the same."""
    assert_same_producers(opened(kernel))


@pytest.mark.first_case
@pytest.mark.parametrize("capture", sorted((SHARED / "data" / "att-mi300x-bmm").glob("c*")), ids=lambda path: path.name)
def test_producers_on_mi300x(capture: Path) -> None:
    for directory in capture.glob("ui_output_*"):
        assert_same_producers(wavewright.open(directory))


def assert_same_producers(trace: ThreadTrace) -> None:
    columns = ["row", "producer_row", "counter"]
    theirs = trace.waits.group_by(columns).agg(count=pl.len().cast(pl.Int64)).sort(columns)
    found = resolve(trace).edges
    assert found["candidate_count"].sum() == 0
    assert_frame_equal(found.select(*columns, "count").sort(columns), theirs)

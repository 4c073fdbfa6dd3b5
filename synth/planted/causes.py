"""Kernels with one planted cause, and their twins without it, in three sizes.

A builder gives the launch of the cause or of its twin; everything else about the two is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from synth.planted.execution import Launch
from synth.planted.program import Assembler
from synth.planted.units import Conditions
from synth.planted.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from synth.planted.machine import Machine
    from synth.planted.program import Program
    from synth.planted.vocabulary import Vocabulary

SIZES = ("small", "medium", "large")
"""About 2, 10 and 50 thousand traced instructions."""

_GROW = {"small": 1, "medium": 4, "large": 20}
_WAVES = 4  # of a workgroup: one per SIMD
Body = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Parameters of a builder."""

    machine: Machine
    size: str
    planted: bool

    @property
    def words(self) -> Vocabulary:
        """The target's instructions."""
        return VOCABULARIES[self.machine.target]

    @property
    def trips(self) -> int:
        """Iterations in all, over the rounds; a trace of one SIMD needs more of them for its size."""
        return _GROW[self.size] * (4 if len(self.machine.traced_simds) > 1 else 16)

    @property
    def rounds(self) -> int:
        """Workgroups that follow each other in one place."""
        return {"small": 1, "medium": 2, "large": 4}[self.size]

    def loop(self, name: str, body: Body, trips: int | None = None) -> Program:
        """A kernel that runs `body` so often, and stores a result."""
        words, code = self.words, Assembler(self.machine.target)
        code.add(*words.begin).label("loop").add(*body)
        code.loop("loop", trips or max(self.trips // self.rounds, 1))
        return code.add(*words.stores(1), "s_endpgm").build(name)

    def launch(
        self, program: Program, *, slots: int = 1, rounds: int | None = None, conditions: Conditions | None = None
    ) -> Launch:
        """A grid that fills the shader engine evenly."""
        groups = self.machine.cus * slots * (rounds or self.rounds)
        return Launch(program, groups, _WAVES, slots, conditions or Conditions())


def bandwidth(case: Case) -> Launch:
    """A stream of 16-byte loads and stores by many waves; twin: few 4-byte loads by one wave per SIMD."""
    words = case.words
    rounds = {"small": 2, "medium": 6, "large": 30}[case.size]
    if case.planted:
        # long enough that the launch, which no wave shows, is a small part of the time
        return stream(case, rounds * (1 if len(case.machine.traced_simds) > 1 else 4))
    body = (*words.loads(1), words.wait_memory, *words.work(100))
    return case.launch(case.loop("stream", body, 4), rounds=rounds)


def stream(case: Case, rounds: int, *, is_shared: bool = False) -> Launch:
    """Bytes that every workgroup has for itself; `is_shared`: all of them move the same ones."""
    words, code = case.words, Assembler(case.machine.target)
    code.add(*words.begin, *words.stream_begin, *(() if is_shared else words.stream_own))
    code.label("loop").add(*words.stream()).loop("loop", 2)
    return case.launch(code.add("s_endpgm").build("stream"), slots=8, rounds=rounds)


def load_latency(case: Case) -> Launch:
    """Loads one iteration ahead that come too late; twin: they come from nearby."""
    words = case.words
    body = (*words.loads(1), *words.work(120), words.wait_memory)
    latency = 1100 if case.machine.family == "gfx9" else 400
    conditions = Conditions(load_latency_cycles=latency if case.planted else 40)
    return case.launch(case.loop("gather", body), conditions=conditions)


def lds_conflicts(case: Case) -> Launch:
    """LDS reads that take several turns; twin: one turn each."""
    words = case.words
    body = (*words.lds_reads(8), *words.work(110), words.wait_lds)
    turns = 5 if case.machine.family == "gfx9" else 8
    return case.launch(case.loop("transpose", body), conditions=Conditions(lds_conflicts=turns if case.planted else 1))


def barrier_imbalance(case: Case) -> Launch:
    """In each iteration another wave has most of the work; twin: each has a quarter of it."""
    words, code = case.words, Assembler(case.machine.target)
    share = 150 if case.machine.family == "gfx9" else 450
    code.add(*words.begin).label("loop").add(*words.work(share // 5 if case.planted else share))
    if case.planted:
        code.branch("meet", lambda _workgroup, wave, count: wave != count % _WAVES)
        code.add(*words.work(_WAVES * (share - share // 5))).label("meet")
    trips = _WAVES * {"small": 1, "medium": 3, "large": 12}[case.size]
    code.add(*words.barrier).loop("loop", trips)
    return case.launch(code.add(*words.stores(1), "s_endpgm").build("uneven"), rounds=1)


def store_drain(case: Case) -> Launch:
    """Short workgroups that end with stores; twin: they store first and work meanwhile."""
    words, code = case.words, Assembler(case.machine.target)
    fast = case.machine.family != "gfx9"
    work, stores = words.work(900 if fast else 300), words.stores(1)
    code.add(*words.begin, *(work + stores if case.planted else stores + work), "s_endpgm")
    rounds = {"small": 2, "medium": 8, "large": 40}[case.size]
    return case.launch(code.build("scatter"), rounds=rounds, conditions=Conditions(store_latency_cycles=700))


def cold_fetch(case: Case) -> Launch:
    """A long kernel that runs for the first time; twin: it ran before."""
    words = case.words
    fast = case.machine.family != "gfx9"
    trips = {"small": 2, "medium": 4, "large": 4}[case.size] * (2 if fast else 1)
    lines = {"small": 10, "medium": 20, "large": 60}[case.size]
    program = case.loop("first_call", words.work(16 * lines), trips * 4)
    return case.launch(program, rounds=1, conditions=Conditions(cold_code=case.planted))


def matrix_bound(case: Case) -> Launch:
    """Matrix instructions back to back; twin: few of them between other work."""
    words = case.words
    body = words.matrices(16) if case.planted else (*words.matrices(1), *words.work(60))
    return case.launch(case.loop("gemm", body, 4 * case.trips // case.rounds), slots=2 if case.planted else 1)


def valu_bound(case: Case) -> Launch:
    """Vector instructions from many waves; twin: a quarter of them between loads."""
    words = case.words
    latency = 900 if case.machine.family == "gfx9" else 500
    body = words.work(100) if case.planted else (*words.loads(1), words.wait_memory, *words.work(25))
    conditions = Conditions(load_latency_cycles=latency)
    return case.launch(case.loop("polynomial", body), slots=4 if case.planted else 1, conditions=conditions)


def padding(case: Case) -> Launch:
    """s_nop between vector instructions; twin: none."""
    body: list[str] = []
    for text in case.words.work(60):
        body += (text, "s_nop 1") if case.planted else (text,)
    return case.launch(case.loop("padded", tuple(body)))


def spills(case: Case) -> Launch:
    """Registers that do not fit go to scratch memory and back; twin: they fit."""
    words = case.words
    fast = case.machine.family != "gfx9"
    before, after = words.work(200 if fast else 60), words.work(60)
    body = (*before, *(words.spills(2) if case.planted else ()), *after)
    trips = case.trips // case.rounds // (2 if fast else 1)
    return case.launch(case.loop("spilling", body, trips))


def tail(case: Case) -> Launch:
    """One workgroup more than fits on two CUs; twin: the same work in smaller workgroups that divide evenly."""
    cus = case.machine.cus
    full = {"small": 1, "medium": 2, "large": 2}[case.size]
    return _grid(case, full * cus + 2)


def idle_cus(case: Case) -> Launch:
    """Fewer workgroups than CUs; twin: the same work in smaller workgroups on all CUs."""
    return _grid(case, {"small": 4, "medium": 2, "large": 6}[case.size])


def _grid(case: Case, workgroups: int) -> Launch:
    words, cus = case.words, case.machine.cus
    split = next(parts for parts in range(1, 99) if workgroups * parts % cus == 0)
    trips = {"small": 4, "medium": 4, "large": 16}[case.size] * split * (1 if case.machine.family == "gfx9" else 2)
    program = case.loop("grid", words.matrices(40), trips if case.planted else trips // split)
    # Two waves per SIMD keep each CU that has work busy; one workgroup holds both.
    return Launch(program, workgroups * (1 if case.planted else split), 2 * _WAVES, 2)


CAUSES: dict[str, Callable[[Case], Launch]] = {
    "bandwidth": bandwidth,
    "load latency": load_latency,
    "LDS conflicts": lds_conflicts,
    "barrier imbalance": barrier_imbalance,
    "tail": tail,
    "idle CUs": idle_cus,
    "cold fetch": cold_fetch,
    "store drain": store_drain,
    "matrix-bound": matrix_bound,
    "VALU-bound": valu_bound,
    "s_nop": padding,
    "spills": spills,
}
"""Builders by name."""

GRID_CAUSES = ("tail", "idle CUs")
"""Those whose gain is one of the dispatch, not of the traced SIMDs."""

ROOFS = ("bandwidth", "matrix-bound", "VALU-bound")
"""Those that nothing in the code can remove."""

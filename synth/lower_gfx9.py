"""A plan as the ordered list of what gfx9 hardware reports: the common ground of encoder and ground truth.

One act is a tuple (key, index, step, value); the key orders acts by time, then rank, then SIMD:

| rank | index into | step | value |
|---|---|---|---|
| HAPPENING | plan.happenings | - | - |
| START, END | plan.waves | - | - |
| ISSUE | plan.waves | number of the step | IssueState |
| REPORT | plan.waves | number of the step | InstType |
| NEW_PC | plan.waves | number of the step | ELF address |
| DATA | plan.waves | number of the step | s_ttracedata's value |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.gfx9_tokens import InstType, IssueState
from synth.isa import Kind
from synth.random_numbers import seeded

if TYPE_CHECKING:
    from synth.isa import CodeRow
    from synth.plan import EnginePlan
    from synth.timing import Step

Act = tuple[int, int, int, int]

HAPPENING, START, ISSUE, REPORT, NEW_PC, DATA, END = range(7)
KEY_BITS = 5  # of a key below the time: 3 for the rank, 2 for the SIMD

# What the hardware reports about an issued instruction (spec_gfx9 2.6, 5.7).
TYPE_OF = {
    Kind.SALU: InstType.SALU_32,
    Kind.SALU_EXEC: InstType.SALU_32,
    Kind.SALU_FLOAT: InstType.SALU_32,
    Kind.SMEM: InstType.SMEM_RD,
    Kind.GLOBAL_LOAD: InstType.FLAT_RD,
    Kind.GLOBAL_STORE: InstType.FLAT_WR,
    Kind.BUFFER_LOAD: InstType.VMEM_RD,
    Kind.BUFFER_STORE: InstType.VMEM_WR,
    Kind.FLAT_LOAD: InstType.FLAT_RD,
    Kind.FLAT_STORE: InstType.FLAT_WR,
    Kind.LDS_LOAD: InstType.LDS,
    Kind.LDS_STORE: InstType.LDS,
    Kind.VALU: InstType.VALU_32,
    Kind.VALU_WIDE: InstType.VALU_64,
    Kind.TRANSCENDENTAL: InstType.VALU_32,
    Kind.DOUBLE: InstType.VALU_64,
    Kind.MATRIX: InstType.VALU_MATRIX,
    Kind.MATRIX_SCALE: InstType.VALU_MATRIX,
    Kind.JUMP: InstType.JUMP,
    Kind.REGISTER_JUMP: InstType.PC,
    Kind.BARRIER: InstType.MESSAGE,
    Kind.MESSAGE: InstType.MESSAGE,
    Kind.END: InstType.MESSAGE,
}

# Cycles from issue to report: at least, and how many 4-cycle steps more it may be.
REPORT_LAG: dict[Kind, tuple[int, int]] = {
    Kind.SALU: (4, 2),
    Kind.SMEM: (4, 3),
    Kind.GLOBAL_LOAD: (8, 6),
    Kind.GLOBAL_STORE: (8, 6),
    Kind.BUFFER_LOAD: (8, 6),
    Kind.BUFFER_STORE: (8, 6),
    Kind.FLAT_LOAD: (8, 6),
    Kind.FLAT_STORE: (8, 6),
    Kind.LDS_LOAD: (4, 4),
    Kind.LDS_STORE: (4, 4),
    Kind.TRANSCENDENTAL: (12, 3),
    Kind.DOUBLE: (12, 3),
    Kind.MATRIX: (12, 5),
    Kind.MATRIX_SCALE: (12, 5),
}
_DEFAULT_LAG = (0, 3)


# How a step is reported: by an IMMED issue state only, the same with a value, by a type, by a type that depends on the
# branch, with the new PC behind it, or as a barrier.
_IMMED, _IMMED_DATA, _TYPED, _BRANCH, _NEW_PC, _BARRIER = range(6)
_MODE_OF = {
    Kind.WAIT: _IMMED,
    Kind.IMMED: _IMMED,
    Kind.SHADER_DATA: _IMMED_DATA,
    Kind.BRANCH: _BRANCH,
    Kind.REGISTER_JUMP: _NEW_PC,
    Kind.BARRIER: _BARRIER,
}


def lower(plan: EnginePlan) -> list[Act]:
    """Everything of the plan in stream order."""
    acts: list[Act] = [(h.time << KEY_BITS, index, 0, 0) for index, h in enumerate(plan.happenings)]
    rng = seeded(plan.seed, "lag")
    lags = [rng.random() for _ in range(1021)]
    steady = plan.steady_reports
    reports = {loaded.id: [_report_of(row, steady=steady) for row in loaded.code.rows] for loaded in plan.code_objects}
    for index, wave in enumerate(plan.waves):
        if not wave.start_lost:
            acts.append((wave.begin << KEY_BITS | START << 2 | wave.simd, index, 0, 0))
        if not wave.end_lost:
            acts.append((wave.end << KEY_BITS | END << 2 | wave.simd, index, 0, 0))
        if wave.run is not None:
            _lower_steps(wave.run.steps, wave.simd, index, reports[wave.code_object.id], lags, acts)
    acts.sort()
    return acts


def _report_of(code: CodeRow, *, steady: bool) -> tuple[int, int, int, int]:
    """(mode, type, cycles from issue to report at least, 4-cycle steps it may take longer)."""
    least, more = (0, 0) if steady else REPORT_LAG.get(code.kind, _DEFAULT_LAG)
    return _MODE_OF.get(code.kind, _TYPED), int(TYPE_OF.get(code.kind, InstType.NEXT)), least, more


def _lower_steps(
    steps: list[Step], simd: int, index: int, reports: list[tuple[int, int, int, int]], lags: list[float],
    acts: list[Act],
) -> None:  # fmt: skip
    add = acts.append
    issue_key, report_key = ISSUE << 2 | simd, REPORT << 2 | simd
    stall, inst, immed = int(IssueState.STALL), int(IssueState.INST), int(IssueState.IMMED)
    reported = 0
    for number, (row, ready, issue, extra) in enumerate(steps):
        mode, type_, least, more = reports[row]
        if mode <= _IMMED_DATA:
            add((issue << KEY_BITS | issue_key, index, number, immed))
            if mode == _IMMED_DATA:
                add((issue << KEY_BITS | DATA << 2 | simd, index, number, extra))
            continue
        if issue > ready:
            add((ready << KEY_BITS | issue_key, index, number, stall))
        add((issue << KEY_BITS | issue_key, index, number, inst))
        report = issue + least + 4 * int(more * lags[(number + index) % 1021])
        if report > reported:  # reports come in the order of issue
            reported = report
        if mode == _BRANCH and extra:
            type_ = int(InstType.JUMP)
        add((reported << KEY_BITS | report_key, index, number, type_))
        if mode == _NEW_PC:
            add((reported << KEY_BITS | NEW_PC << 2 | simd, index, number, extra))
        elif mode == _BARRIER and extra:
            add((extra << KEY_BITS | issue_key, index, number, immed))

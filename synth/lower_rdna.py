"""A plan as the ordered list of what RDNA hardware reports: the common ground of encoder and ground truth.

One act is a tuple (key, index, step, value); the key orders acts by time, then rank:

| rank | index into | step | value |
|---|---|---|---|
| HAPPENING | plan.happenings | - | - |
| START, END | plan.waves | - | - |
| VALU, IMMEDIATE | plan.waves | number of the step | - |
| INST | plan.waves | number of the step | op code |
| NEW_PC | plan.waves | number of the step | ELF address |
| DATA | plan.waves | number of the step | value, bit 32 set for the immediate form |
| READY | plan.waves | number of the step | - |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from synth.isa import Kind
from synth.rdna_ops import BARRIER_CODE, TAKEN, op_of
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from synth.isa import CodeRow
    from synth.plan import EnginePlan
    from synth.timing import Step

Act = tuple[int, int, int, int]

HAPPENING, START, VALU, INST, IMMEDIATE, NEW_PC, DATA, READY, END = range(9)
KEY_BITS = 4
IMMEDIATE_FORM = 1 << 32
LATE_READY_VERSIONS = (1, 2, 3)  # these report WAVE_READY one cycle late
NEW_PC_CYCLES = 6  # from a register jump to the report of its target


# How a step is reported: not at all, as an immediate, the same with a value or a short value, by the vector token, by
# an op code, by one of two, or by an op code with the new PC behind it.
_NOTHING, _IMMEDIATE, _DATA, _SHORT_DATA, _VALU, _OP, _BRANCH, _NEW_PC = range(8)
_MODE_OF = {
    Kind.END: _NOTHING,  # the wave's end stands for it
    Kind.SKIP: _NOTHING,
    Kind.WAIT: _IMMEDIATE,
    Kind.IMMED: _IMMEDIATE,
    Kind.SHADER_DATA: _DATA,
    Kind.BRANCH: _BRANCH,
    Kind.REGISTER_JUMP: _NEW_PC,
}


def lower(plan: EnginePlan) -> list[Act]:
    """Everything of the plan in stream order; UsageError for instructions that the version has no token for."""
    acts: list[Act] = [(h.time << KEY_BITS, index, 0, 0) for index, h in enumerate(plan.happenings)]
    reports = {
        loaded.id: [_report_of(row, plan.stream_version) for row in loaded.code.rows] for loaded in plan.code_objects
    }
    late = int(plan.stream_version in LATE_READY_VERSIONS)
    for index, wave in enumerate(plan.waves):
        if not wave.start_lost:
            acts.append((wave.begin << KEY_BITS | START, index, 0, 0))
        if not wave.end_lost:
            acts.append((wave.end << KEY_BITS | END, index, 0, 0))
        if wave.run is not None:
            _lower_steps(wave.run.steps, index, reports[wave.code_object.id], late, acts)
    acts.sort()
    return acts


def _report_of(code: CodeRow, version: int) -> tuple[int, int]:
    """(mode, op code); op code -1: the version has none."""
    if is_plain_valu(code):
        return _VALU, 0
    mode = _MODE_OF.get(code.kind, _OP)
    if mode == _DATA and "_imm" in code.text:
        mode = _SHORT_DATA
    if mode < _VALU:
        return mode, 0
    op = op_of(code.kind, version, is_taken=0)
    return mode, -1 if op is None else op.code


def _lower_steps(steps: list[Step], index: int, reports: list[tuple[int, int]], late: int, acts: list[Act]) -> None:
    add = acts.append
    for number, (row, ready, issue, extra) in enumerate(steps):
        mode, code = reports[row]
        if mode < _VALU:
            if mode == _NOTHING:
                continue
            add((issue << KEY_BITS | IMMEDIATE, index, number, 0))
            if mode != _IMMEDIATE:
                form = IMMEDIATE_FORM if mode == _SHORT_DATA else 0
                add((issue << KEY_BITS | DATA, index, number, extra | form))
            continue
        if issue > ready and code != BARRIER_CODE:
            add(((ready + late) << KEY_BITS | READY, index, number, 0))
        if mode == _VALU:
            add((issue << KEY_BITS | VALU, index, number, 0))
            continue
        if code < 0:
            problem = f"step {number} of wave {index} has no token in this stream version"
            raise UsageError(problem, advice="use a kernel of the scenario's family")
        if mode == _BRANCH and extra:
            code = TAKEN.code
        add((issue << KEY_BITS | INST, index, number, code))
        if mode == _NEW_PC:
            add(((issue + NEW_PC_CYCLES) << KEY_BITS | NEW_PC, index, number, extra))


def is_plain_valu(code: CodeRow) -> bool:
    """True if an instruction is reported by the short vector token."""
    return code.kind == Kind.VALU or code.text.startswith("v_mov_b64")

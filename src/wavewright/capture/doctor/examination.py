"""All checks, one after the other: those that explain others first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.capture.doctor.check import Answer, Check, Level, Status
from wavewright.capture.doctor.rules import RULES
from wavewright.capture.doctor.sight import Request, Sight

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.capture.doctor.rules import Rule
    from wavewright.capture.machines.machine import Machine

_STATUSES = {Level.ERROR: Status.ERROR, Level.WARNING: Status.WARNING, Level.NOTE: Status.OK}


def examine(
    machine: Machine, *, output: str = "", asks_gpu: bool = False, trial: Callable[[Sight], Answer] | None = None
) -> tuple[Check, ...]:
    """Look at everything between a machine and a good capture; nothing on it is changed.

    Parameters
    ----------
    output
        Absolute folder on the machine into which captures would go; empty = the home folder.
    asks_gpu
        Whether rocprofv3-avail may open the GPUs.
    trial
        Runs a program on a GPU, end to end (`tiny_program.tried` with a runner); None = nothing is run.

    Returns
    -------
    tuple[Check, ...]
        In the order of the declared table.
    """
    sight = Sight(machine, Request(output=output, asks_gpu=asks_gpu, trial=trial))
    checks: dict[str, Check] = {}
    reasons = {rule.name: rule.otherwise for rule in RULES}
    for rule in RULES:
        failed = next((checks[name] for name in rule.needs if not _is_passed(checks[name])), None)
        if failed is None:
            checks[rule.name] = _check(rule, rule.look(sight))
        else:
            reason = reasons[failed.name] if failed.status is Status.ERROR else failed.finding
            checks[rule.name] = _check(rule, Answer(reason, is_healthy=None))
    return tuple(checks.values())


def _is_passed(check: Check) -> bool:
    return check.status in (Status.OK, Status.WARNING)


def _check(rule: Rule, answer: Answer) -> Check:
    level = answer.level or rule.level
    status = Status.OK if answer.is_healthy else _STATUSES[level]
    if answer.is_healthy is None:
        status = Status.NOT_CHECKED
    return Check(
        number=rule.number,
        name=rule.name,
        title=rule.title,
        area=rule.area,
        level=level,
        status=status,
        finding=answer.finding,
        why=rule.why,
        remedy=answer.remedy,
        commands=answer.commands,
        details=answer.details,
    )

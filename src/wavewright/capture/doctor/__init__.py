"""Everything between a machine and a good capture: a declared table of checks (checks.toml), and what they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wavewright.capture.doctor import driver, gpus, rocm, system
from wavewright.capture.doctor.check import Area as Area
from wavewright.capture.doctor.check import Check as Check
from wavewright.capture.doctor.check import Level as Level
from wavewright.capture.doctor.check import Outcome, Rule
from wavewright.capture.doctor.check import Status as Status
from wavewright.capture.doctor.facts import machine_facts as machine_facts
from wavewright.capture.doctor.view import MachineView
from wavewright.capture.machines.machine import Machine
from wavewright.facts.loader import packaged

_MODULES = {module.__name__.rpartition(".")[2]: module for module in (driver, gpus, rocm, system)}


def _rule(name: str, row: dict[str, Any]) -> Rule:
    module, _, function = row.pop("look").partition(".")
    area, level, needs = Area[row.pop("area")], Level[row.pop("level")], tuple(row.pop("needs", ()))
    return Rule(name=name, area=area, level=level, needs=needs, look=getattr(_MODULES[module], function), **row)


#: The declared table of checks, in the order in which they are made: those that explain others first.
RULES: tuple[Rule, ...] = tuple(_rule(name, dict(row)) for name, row in packaged("checks.toml", __package__).items())


def examine(
    machine: Machine, *, output: str = "", asks_gpu: bool = False, trial: Callable[[MachineView], Outcome] | None = None
) -> tuple[Check, ...]:
    """Look at everything between a machine and a good capture, in the order of the table; nothing on it is changed.

    The options are the other fields of a `MachineView`.
    """
    view = MachineView(machine, output, asks_gpu, trial)
    checks: dict[str, Check] = {}
    reasons = {rule.name: rule.otherwise for rule in RULES}
    for rule in RULES:
        needed = (checks[name] for name in rule.needs)
        failed = next((check for check in needed if check.status not in (Status.OK, Status.WARNING)), None)
        if failed is None:
            checks[rule.name] = rule.check(rule.look(view))
        else:
            reason = reasons[failed.name] if failed.status is Status.ERROR else failed.finding
            checks[rule.name] = rule.check(Outcome("", is_healthy=None), finding=reason)
    return tuple(checks.values())

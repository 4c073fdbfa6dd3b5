"""The declared table of checks (rules.toml), in the order in which they are made: those that explain others first."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavewright.capture.doctor import driver, gpus, limits, rocm, surroundings, system, trying
from wavewright.capture.doctor.check import Area, Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.capture.doctor.check import Answer
    from wavewright.capture.doctor.sight import Sight

_MODULES = {
    module.__name__.rpartition(".")[2]: module for module in (driver, gpus, limits, rocm, surroundings, system, trying)
}


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What is known of a check before anything is looked at, and the function that looks."""

    number: int  #: Place in the list of checks that the documentation describes.
    name: str  #: The word that names it in JSON.
    title: str
    area: Area
    level: Level
    reads: str  #: Files, variables and commands, for the documentation.
    healthy: str  #: The healthy value, for the documentation.
    remedy: str  #: What helps in general, for the documentation.
    why: str  #: Why it matters.
    needs: tuple[str, ...] = ()  #: Names of checks without which this one says nothing.
    otherwise: str = ""  #: The reason that checks give which need this one, when it fails.
    look: Callable[[Sight], Answer]


def _rule(name: str, row: dict[str, Any]) -> Rule:
    module, _, function = row.pop("look").partition(".")
    area, level, needs = Area[row.pop("area")], Level[row.pop("level")], tuple(row.pop("needs", ()))
    return Rule(name=name, area=area, level=level, needs=needs, look=getattr(_MODULES[module], function), **row)


RULES: tuple[Rule, ...] = tuple(
    _rule(name, row)
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
)

"""The folders of TOML files beside this: one per family of GPUs that share their panels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from wavewright.facts.loader import packaged

_FOLDER = Path(__file__).parent
_FAMILIES: dict[str, list[str]] = packaged("metrics/targets.toml")
#: Targets that have panels of metrics.
METRIC_TARGETS: tuple[str, ...] = tuple(target for targets in _FAMILIES.values() for target in targets)


@dataclass(frozen=True)
class Family:
    """The declarations of one family, as read."""

    common: dict[str, Any] = field(hash=False)  #: common.toml: groups of targets, named sub-expressions, sources.
    panels: tuple[dict[str, Any], ...] = field(hash=False)  #: One per NN_word.toml, in order.
    formulas: dict[str, Any] = field(hash=False)  #: formulas.toml: auxiliary formulas by name.

    @property
    def named(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Named formulas: auxiliary formulas and sub-expressions."""
        return self.formulas, self.common["expressions"]

    def sets_of(self, target: str) -> tuple[str, ...]:
        """The groups that hold the target, the widest first, and the target itself: what overrides a declaration.

        >>> family_of("gfx940").sets_of("gfx940")[-1]
        'gfx940'
        """
        groups = [name for name, members in self.common.get("groups", {}).items() if target in members]
        groups.sort(key=lambda name: -len(self.common["groups"][name]))
        return (*groups, target)


def for_target(declared: Any, sets: tuple[str, ...]) -> Any:
    """What a declaration says for a target: itself, or of a table the entry of the narrowest set; None = nothing.

    >>> for_target({"gfx94x": "a", "gfx942": "b"}, ("gfx94x", "gfx942")), for_target("c", ("gfx942",))
    ('b', 'c')
    """
    if not isinstance(declared, dict):
        return declared
    entries = [declared[name] for name in sets if name in declared]
    return entries[-1] if entries else None


def family_of(target: str) -> Family | None:
    """The family whose panels a target has; None when none are declared for it."""
    return next((_read(folder) for folder, targets in _FAMILIES.items() if target in targets), None)


def families() -> tuple[Family, ...]:
    """All of them, read."""
    return tuple(_read(folder) for folder in _FAMILIES)


def target_groups() -> dict[str, tuple[str, ...]]:
    """Groups of targets that have a common name, such as gfx94x, over all families: name -> members."""
    groups = [item for family in families() for item in family.common["groups"].items()]
    return {name: tuple(members) for name, members in groups if name.startswith("gfx") and "_" not in name}


@cache
def _read(folder: str) -> Family:
    files = sorted((_FOLDER / folder).glob("*.toml"))
    read = {file.name: packaged(f"metrics/{folder}/{file.name}") for file in files}
    panels = tuple(table for name, table in read.items() if name[:1].isdigit())
    return Family(read["common.toml"], panels, read.get("formulas.toml", {}))

"""Records that a target can decode: its features and LLVM's predicates."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.isa.records import Dag, TableRecord

#: The targets whose records the tables have exactly, a column each; the others are served by the nearest column.
COLUMNS = (
    *("gfx900", "gfx904", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"),
    *("gfx1010", "gfx1011", "gfx1013", "gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250", "gfx1251"),
)
#: Generations that wavewright reads; LLVM has older ones.
_TARGET = re.compile(r"gfx(9\d|9-|9\w\w|1[0-2])")
#: The tables that AMDGPUDisassembler::getInstruction tries, by family of targets.
_NAMESPACES = {
    "gfx9": {"GFX8", "GFX9", "GFX9_DL", "GFX90A", "GFX940", "GFX950", "GFX80_UNPACKED", "AMDGPU"},
    "gfx10": {"GFX9_DL", "GFX10", "GFX10_B", "AMDGPU"},
    "gfx11": {"GFX9_DL", "GFX11", "GFX11_FAKE16", "GFX11W64", "AMDGPU"},
    "gfx12": {"GFX9_DL", "GFX12", "GFX12_FAKE16", "GFX12W64", "AMDGPU"},
    "gfx125": {"GFX9_DL", "GFX12", "GFX1250", "GFX12_FAKE16", "GFX1250_FAKE16", "GFX12W64", "AMDGPU"},
}
#: Without this feature it passes over a table, whatever the predicates of the records say.
_TABLE_FEATURES = {
    "GFX10_B": "FeatureGFX10_BEncoding",
    "GFX80_UNPACKED": "FeatureUnpackedD16VMem",
    "GFX90A": "FeatureGFX90AInsts",
    "GFX940": "FeatureGFX940Insts",
    "GFX950": "FeatureGFX950Insts",
    "GFX9_DL": "FeatureFmaMixInsts",
}
_WAVE_SIZE = "FeatureWavefrontSize"
_CLASSES = ("Processor", "SubtargetFeature", "Predicate")


def family(target: str) -> str:
    """The key of the decoder tables that a target uses.

    Examples
    --------
    >>> [family(target) for target in ("gfx90a", "gfx9-4-generic", "gfx1030", "gfx1251")]
    ['gfx9', 'gfx9', 'gfx10', 'gfx125']
    """
    if target.startswith(("gfx125", "gfx12-5")):
        return "gfx125"
    return "gfx9" if target.startswith("gfx9") else target[:5]


@dataclass
class Subtargets:
    """LLVM's processors and predicates; fill it with `add`, then ask it."""

    classes: tuple[str, ...] = _CLASSES
    _processors: dict[str, list[str]] = field(default_factory=dict)
    _implied: dict[str, list[str]] = field(default_factory=dict)
    _conditions: dict[str, Dag | None] = field(default_factory=dict)
    _features: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    _answers: dict[tuple[str, str, int], bool] = field(default_factory=dict)

    def add(self, record: TableRecord) -> None:
        """Takes a record of one of `classes`."""
        if "Processor" in record.classes:
            self._processors[record.text("Name")] = record.references("Features")
        elif "SubtargetFeature" in record.classes:
            self._implied[record.name] = record.references("Implies")
        elif "Predicate" in record.classes:
            # Predicates without a condition for the assembler (code generation only) do not bind the disassembler.
            checked = record.flag("AssemblerMatcherPredicate")
            dag = record.dag("AssemblerCondDag") if checked else None
            self._conditions[record.name] = dag if dag and dag.arguments else None

    def targets(self) -> list[str]:
        """Names of all processors of gfx9 to gfx12, sorted."""
        return sorted(name for name in self._processors if _TARGET.match(name))

    def wave_sizes(self, target: str) -> tuple[int, ...]:
        """The wave sizes that code of a target can have."""
        declared = self._closure(self._processors[target])
        sizes = tuple(size for size in (32, 64) if f"{_WAVE_SIZE}{size}" in declared)
        return sizes or (32, 64)

    def features(self, target: str, wave_size: int) -> frozenset[str]:
        """Features of a target with all that they imply."""
        key = (target, wave_size)
        if key not in self._features:
            self._features[key] = self._closure([*self._processors[target], f"{_WAVE_SIZE}{wave_size}"])
        return self._features[key]

    def decodes(self, target: str, wave_size: int, namespace: str, predicates: Iterable[str]) -> bool:
        """True if the disassembler of a target uses a record of this decoder namespace and these predicates."""
        if namespace not in _NAMESPACES[family(target)]:
            return False
        feature = _TABLE_FEATURES.get(namespace)
        if feature is not None and feature not in self.features(target, wave_size):
            return False
        return all(self._holds(predicate, target, wave_size) for predicate in predicates)

    def _holds(self, predicate: str, target: str, wave_size: int) -> bool:
        key = (predicate, target, wave_size)
        if key not in self._answers:
            condition = self._conditions[predicate]
            self._answers[key] = condition is None or _evaluate(condition, self.features(target, wave_size))
        return self._answers[key]

    def _closure(self, features: Iterable[str]) -> frozenset[str]:
        todo, closed = list(features), set[str]()
        while todo:
            feature = todo.pop()
            if feature not in closed:
                closed.add(feature)
                todo += self._implied[feature]
        return frozenset(closed)


def _evaluate(condition: Dag | str, features: frozenset[str]) -> bool:
    if isinstance(condition, str):
        return condition in features
    answers = [_evaluate(argument, features) for argument, _ in condition.arguments]
    if condition.operator == "all_of":
        return all(answers)
    if condition.operator == "any_of":
        return any(answers)
    if condition.operator == "not" and len(answers) == 1:
        return not answers[0]
    raise ValueError(f"a predicate has the operator {condition.operator}, which is not one of all_of, any_of, not")

"""The quantities of captures, put together by what they are about."""

from __future__ import annotations

from collections.abc import Mapping

from wavewright.analysis.common.gate.noise import Group
from wavewright.model.baseline import Baseline, Quantity


def groups_of(measured: Baseline, names: Mapping[str, str] | None = None) -> dict[tuple[str, str], Group]:
    """By subject and name; `names` are other names for kernels."""
    together: dict[tuple[str, str], list[Quantity]] = {}
    for capture in measured.captures:
        for quantity in capture.quantities:
            subject, name = quantity.key
            name = (names or {}).get(name, name) if subject == "kernel" else name
            together.setdefault((subject, name), []).append(quantity)
    return {key: Group(tuple(quantities)) for key, quantities in together.items()}

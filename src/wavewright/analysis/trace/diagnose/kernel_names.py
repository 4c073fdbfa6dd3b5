"""The kernel of a counter capture that a thread trace is about, by its name."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from wavewright.analysis.common.caveats import Caveat
from wavewright.analysis.counters.choice import CounterChoice, chosen_dispatches, ranked_kernels
from wavewright.model.counters import CounterSet
from wavewright.model.trace import ThreadTrace

_SUFFIXES = re.compile(r"(\s*(\[clone [^\]]*\]|\(\.kd\))|\.kd)+$")


def plain_names(name: str) -> tuple[str, str, str]:
    """A kernel's name without suffixes of tools; without arguments and return type; and without template arguments.

    >>> plain_names("void ns::gemm<float, 4>(float const*, int) [clone .kd]")
    ('voidns::gemm<float,4>(floatconst*,int)', 'ns::gemm<float,4>', 'ns::gemm')
    """
    plain = _SUFFIXES.sub("", name.strip())
    called = _last_word(_without_arguments(plain))
    return "".join(plain.split()), "".join(called.split()), "".join(_without_templates(called).split())


def traced_kernel(trace: ThreadTrace) -> dict[str, Any]:
    """The row of `kernels` that most waves of the trace ran."""
    kernels = trace.kernels
    if not kernels.height:
        return {}
    ran = trace.waves["kernel"].drop_nulls().value_counts(sort=True)["kernel"].head(1)
    most_run = kernels.filter(pl.col("kernel").is_in(ran.implode()))
    return (most_run if most_run.height else kernels).row(0, named=True)


def same_kernel(traced: dict[str, Any], counters: CounterSet, kernel: str | None) -> tuple[list[str], list[Caveat]]:
    """Kernels of the counters with the same name, as exactly as possible, and caveats where it is not exact."""
    measured = [name or "" for name in ranked_kernels(counters.dispatches)["kernel_name"].to_list()]
    if kernel is not None:
        picked = chosen_dispatches(counters, CounterChoice(kernels=(kernel,)))["kernel_name"].unique().to_list()
        measured = [name for name in measured if name in picked]
        if len(measured) == 1:
            return measured, _named_otherwise(traced, measured[0])
    traced_names = [plain_names(name) for name in (traced.get("name"), traced.get("demangled")) if name]
    for exactness in range(3):
        matches = [
            name for name in measured if any(plain_names(name)[exactness] == names[exactness] for names in traced_names)
        ]
        if matches:
            caveats = _named_otherwise(traced, matches[0]) if exactness == 2 and len(matches) == 1 else []
            return matches, caveats
    return [], []


def _named_otherwise(traced: dict[str, Any], name: str) -> list[Caveat]:
    labels = [label for label in (traced.get("demangled"), traced.get("name")) if label]
    traced_name = next(iter(labels), "a kernel without a name")
    if any(plain_names(name)[1] == plain_names(label)[1] for label in labels):
        return []
    what = f"the trace is of {brief_name(traced_name)}, the counters are of {brief_name(name)}"
    return [Caveat("other_kernel_name", "care", what, "the reasons hold only if both are the same code")]


def _without_arguments(text: str) -> str:
    """Without parentheses outside of template arguments, and what follows them."""
    characters, angles, depth = [], 0, 0
    for character in text.replace("operator()", "operator").replace("(anonymous namespace)", "anonymous"):
        if character in "()" and not angles:
            depth += 1 if character == "(" else -1
            continue
        if not depth:
            characters.append(character)
            angles += {"<": 1, ">": -1}.get(character, 0)
    return "".join(characters).strip().removesuffix(" const")


def _without_templates(text: str) -> str:
    characters, depth = [], 0
    for character in text:
        depth += character == "<"
        if not depth:
            characters.append(character)
        depth -= character == ">" and depth > 0
    return "".join(characters)


def _last_word(text: str) -> str:
    """Without a return type: what stands behind the last space outside of template arguments."""
    depth, begin = 0, 0
    stripped = text.strip()
    for place, character in enumerate(stripped):
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif character == " " and not depth:
            begin = place + 1
    return stripped[begin:]


def brief_name(name: str) -> str:
    """The first letters of a name."""
    return name if len(name) <= 60 else f"{name[:59]}…"

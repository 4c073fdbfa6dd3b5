"""Matching of sidecar facts with the kernels and the GPU of a trace, without silent guesses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.model.schema import THREAD_TRACE
from wavewright.model.trace import ThreadTrace
from wavewright.readers.trace.assemble import CAPTURED
from wavewright.readers.trace.resources.usage import CODE_OBJECT_FIELDS, SidecarFacts, Usage, plain_name

_FIELDS = (*CODE_OBJECT_FIELDS, "workgroup_size")


@dataclass
class ResourceMatches:
    """The `kernels` table with what was found, and what could not be decided."""

    kernel_table: pl.DataFrame
    kernels: list[str] = field(default_factory=list)  #: Kernels about which something was found.
    agents: set[str] = field(default_factory=set)  #: Ids of the GPUs that ran them, as the files call them.
    ambiguous: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    target: str | None = None


def kernel_facts(trace: ThreadTrace, facts: SidecarFacts, *, replace_known: bool) -> ResourceMatches:
    """Join the facts to the kernels: by dispatch where the name agrees, else by name where all rows agree."""
    by_kernel: dict[str, list[Usage]] = {}
    for usage in facts.usages:
        by_kernel.setdefault(usage.kernel, []).append(usage)
    entered_kernels = set(trace.waves["kernel"].drop_nulls().unique().to_list())
    matches = ResourceMatches(trace.kernels, problems=list(facts.problems))
    rows = []
    for row in trace.kernels.iter_rows(named=True):
        names = dict.fromkeys(plain_name(name) for name in (row["name"], row["demangled"]) if name)
        usages = [usage for name in names for usage in by_kernel.get(name, ())]
        has_run = row["kernel"] in entered_kernels
        if usages:
            dispatch = trace.source.dispatch if has_run else None
            row = row | _facts(row, usages, dispatch, matches, replace_known=replace_known)
        if has_run:
            matches.ambiguous += _other_kernel(row["name"], names, facts, trace.source.dispatch)
        rows.append(row)
    schema = THREAD_TRACE["kernels"].dtypes
    matches.kernel_table = pl.DataFrame(rows, schema=schema)
    return matches


def _facts(
    row: dict[str, Any], usages: Sequence[Usage], dispatch: int | None, matches: ResourceMatches, *, replace_known: bool
) -> dict[str, Any]:
    """New values for a row of `kernels`; where files disagree, the value stays unknown and a note is added."""
    keeps_known = not replace_known or str(row.get("resource_origin")).startswith(CAPTURED)
    facts: dict[str, Any] = {}
    origins: dict[str, None] = {}
    for rank in sorted({usage.rank for usage in usages}):
        peers = [usage for usage in usages if usage.rank == rank]
        of_dispatch = [usage for usage in peers if usage.dispatch is not None and usage.dispatch == dispatch]
        matches.agents |= {usage.agent for usage in of_dispatch or peers if usage.agent}
        for name in _FIELDS:
            values = _values(of_dispatch, name) or _values(peers, name)
            recorded = facts.get(name) if name in facts else (row.get(name) if keeps_known else None)
            if len(values) > 1 and recorded is None:
                listing = ", ".join(map(str, sorted(values)[:4]))
                matches.ambiguous.append(f"{peers[0].origin} has several {name} of {row['name']:.60} ({listing})")
            elif len(values) == 1:
                value = next(iter(values))
                # A code object knows the static LDS only; what was dispatched includes the dynamic part.
                if recorded is None or (name == "lds_bytes" and value > recorded):
                    facts[name] = value
                    origins |= dict.fromkeys(usage.origin for usage in peers if usage.values.get(name) == value)
    if facts:
        matches.kernels.append(row["name"])
        before = [row["resource_origin"]] if keeps_known and row.get("resource_origin") else []
        facts["resource_origin"] = ", ".join(dict.fromkeys([*before, *list(origins)[:3]]))
    return facts


def _values(usages: Iterable[Usage], name: str) -> set[int]:
    return {usage.values[name] for usage in usages if name in usage.values}


def _other_kernel(name: str, names: Iterable[str], facts: SidecarFacts, dispatch: int | None) -> list[str]:
    """Notes about files that have another kernel under the number of this dispatch."""
    return [
        f"dispatch {dispatch} is {min(others):.60} in {origin}, but {name:.60} in the trace: another run? "
        "Registers were taken by the name of the kernel"
        for origin, others in facts.dispatched.items()
        if not others.intersection(names)
    ]


def target_of(trace: ThreadTrace, facts: SidecarFacts, matches: ResourceMatches) -> tuple[str | None, str]:
    """The GPU that ran the trace, and its origin; None = unknown, or several are possible (which is noted)."""
    if trace.source.target is not None and not facts.gpus:
        return None, ""
    candidates = [gpu for gpu in facts.gpus if _generation(gpu.target) in (trace.gfxip, None) or not trace.gfxip]
    other_gpus = [gpu for gpu in facts.gpus if gpu not in candidates]
    if other_gpus and not candidates:
        other = other_gpus[0]
        matches.ambiguous.append(f"{other.origin} lists {other.target}, but the trace is of gfx{trace.gfxip}")
        return None, ""
    ids = matches.agents | ({str(trace.source.agent)} if trace.source.agent is not None else set())
    own_gpus = [gpu for gpu in candidates if gpu.ids & ids] or candidates
    targets = sorted({gpu.target for gpu in own_gpus})
    if len(targets) > 1:
        matches.ambiguous.append(f"several GPUs are possible: {', '.join(targets)} ({own_gpus[0].origin})")
        return None, ""
    return (targets[0], own_gpus[0].origin) if targets else (None, "")


def _generation(target: str) -> int | None:
    """9 of gfx950, 12 of gfx1201."""
    return integer_of(target.removeprefix("gfx")[:-2])

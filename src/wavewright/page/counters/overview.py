"""Overview of a counter capture: GPU, kernels, passes and losses."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import polars as pl

from wavewright.analysis.trace.about.overview import losses_of
from wavewright.model.counters import System
from wavewright.model.document import Document
from wavewright.model.losses import LOSSES
from wavewright.page.counters.kernels import kernels_of
from wavewright.page.protocol.question import NO_LAYERS, PageQuestion

MOST_KERNELS = 2000  #: Kernels that the page knows by name, the longest first; `kernel_count` tells how many there are.
_LONGEST_FACT = 400


def overview_of_counters(document: Document) -> dict[str, Any]:
    """Facts that every view needs: GPU, kernels with their share of the time, counts, the machine, losses."""
    counters = document.counters
    kernels = kernels_of(document).with_columns(pl.col("kernel_name").fill_null(""))
    return {
        "kind": "counters",
        "target": counters.system.target,
        "product": counters.system.product,
        "dispatch_count": counters.dispatches.height,
        "pass_count": counters.passes.height,
        "counter_count": counters.counters["counter"].n_unique(),
        "gpu_count": counters.dispatches["gpu"].drop_nulls().n_unique(),
        "kernel_count": kernels.height,
        "kernels": kernels.head(MOST_KERNELS).to_dicts(),
        "system": _facts(counters.system),
        "losses": [asdict(loss) | {"counted_in": LOSSES[loss.kind].counted_in} for loss in losses_of(counters)],
    }


def _facts(system: System) -> list[dict[str, str]]:
    """Facts about the node with their files, then the other fields of the capture."""
    fields_of_system = [(field.name, getattr(system, field.name)) for field in fields(system)]
    facts = [
        {"name": name, "value": f"{value:g}" if isinstance(value, float) else str(value)}
        | {"said_by": system.said_by.get(name, "")}
        for name, value in fields_of_system
        if value is not None and name not in ("said_by", "described")
    ]
    described = [{"name": name, "value": value, "said_by": "the capture"} for name, value in system.described.items()]
    return [{key: text[:_LONGEST_FACT] for key, text in fact.items()} for fact in facts + described]


QUESTIONS = (PageQuestion("overview", overview_of_counters), NO_LAYERS)

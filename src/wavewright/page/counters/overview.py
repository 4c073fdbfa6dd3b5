"""The facts about a counter capture that every view needs: GPU, kernels, passes, counts, the machine, losses."""

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

MOST_KERNELS = 2000  #: Kernels that are listed, the longest first; `kernel_count` counts all.
_LONGEST_FACT = 400


def overview_of_counters(document: Document) -> dict[str, Any]:
    """The facts about a capture; `kernels` are in the order of their ranks, with their share of the time."""
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
    """Facts about the node with the file of each, then the other fields of the capture."""
    values = {field.name: getattr(system, field.name) for field in fields(system)}
    facts = [
        (name, f"{value:g}" if isinstance(value, float) else str(value), system.said_by.get(name, ""))
        for name, value in values.items()
        if value is not None and name not in ("said_by", "described")
    ]
    facts += [(name, value, "the capture") for name, value in system.described.items()]
    keys = ("name", "value", "said_by")
    return [dict(zip(keys, (text[:_LONGEST_FACT] for text in fact), strict=True)) for fact in facts]


QUESTIONS = (PageQuestion("overview", overview_of_counters), NO_LAYERS)

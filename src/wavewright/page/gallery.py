"""Cards of the gallery: the facts about each document of a page, a small picture, and its first finding.

A page may list hundreds of dispatches. A document that is read for its card alone is closed again soon: only a few
stay in memory for the question about the finding, which follows.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import polars as pl

from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion, once_per_document

MOST_LENT = 8  #: Documents that stay in memory for the next question about them,
MOST_LENT_BYTES = 256 << 20  #: as long as their instructions take no more than this together.
_BINS = 64  #: Of a curve.
_MOST_BARS = 12  #: Kernels in a picture with bars, the longest.
_LONGEST_TITLE = 300  #: Characters.
_LENT_LOCK = Lock()  #: Of the lent documents: requests run in threads.


def card(document: Document) -> dict[str, Any]:
    """The card of a document without its finding, and the number of documents: reading one may have added others."""
    return _facts(document) | {"document_count": len(document.library.documents) if document.library else 1}


def _lent(document: Document) -> Document:
    """The document itself if it was read already, else a copy of it that is read now and closed again soon."""
    if document.is_open or document.library is None:
        return document
    lent = document.library.lent
    with _LENT_LOCK:
        twin = lent.pop(document.number, None)
        twin = twin or Document(document.number, document.label, document.path, document.opener, document.library)
        lent[document.number] = twin  # in the order of last use
    _ = twin.opened
    with _LENT_LOCK:
        while len(lent) > 1 and (len(lent) > MOST_LENT or sum(map(_bytes, lent.values())) > MOST_LENT_BYTES):
            del lent[next(iter(lent))]
    return twin


def _bytes(document: Document) -> int:
    """Estimated memory of a document; runs, which cache much more than a table, count for more than half of all."""
    if not document.is_open:
        return 0
    content = document.opened
    return int(content.instructions.estimated_size()) if isinstance(content, ThreadTrace) else MOST_LENT_BYTES // 2 + 1


@once_per_document
def _facts(document: Document) -> dict[str, Any]:
    lent = _lent(document)
    answer, losses = _OF_KIND[lent.kind](lent)
    damage = [loss["message"] for loss in losses if loss["is_damage"]]
    facts = {"kind": lent.kind, "title": answer["title"][:_LONGEST_TITLE]}
    return answer | facts | {"loss_count": len(damage), "loss": damage[0] if damage else ""}


_CardFacts = tuple[dict[str, Any], list[dict[str, Any]]]  #: The facts about a document, and its losses.


def _of_trace(document: Document) -> _CardFacts:
    from wavewright.analysis.trace.about.overview import overview as trace_overview
    from wavewright.analysis.trace.waves.resident import kernel_residency

    trace = document.trace
    overview = trace_overview(trace)
    curves = kernel_residency(trace, bins=_BINS).engine_curves
    resident = curves.group_by("bin").agg(pl.col("wave_count_mean").sum()).sort("bin")["wave_count_mean"].to_list()
    figures = {"cycles": overview.span_cycles, "waves": overview.waves, "instructions": overview.instructions}
    return {
        "title": ", ".join(map(kernel_title, overview.kernels)),
        "target": overview.target or "",
        "figures": figures,
        "picture": {"what": "resident waves over time", "form": "curve", "values": resident},
    }, [vars(loss) for loss in overview.losses]


def _of_run(document: Document) -> _CardFacts:
    from wavewright.analysis.run.gpu_time.busy import busy
    from wavewright.page.run.overview import overview_of_run

    facts = overview_of_run(document)
    over_time = busy(document.run, bins=_BINS).over_time
    shares = over_time.group_by("bin").agg(pl.col("busy_share").mean()).sort("bin")
    values = [0.0] * min(_BINS, max(shares["bin"].to_list(), default=-1) + 1)
    for number, share in shares.iter_rows():  # bins without work have no row
        if 0 <= number < len(values):
            values[number] = share
    figures = {
        "duration_ns": facts["duration_ns"],
        "processes": len(facts["processes"]),
        "gpus": len(facts["gpus"]),
        "dispatches": facts["holds"].get("dispatches", 0),
    }
    return {
        "title": ", ".join(facts["formats"]),
        "target": ", ".join(sorted({gpu["target"] for gpu in facts["gpus"] if gpu["target"]})),
        "figures": figures,
        "picture": {"what": "busy share of the GPUs over time", "form": "curve", "values": values},
    }, facts["losses"]


def _of_counters(document: Document) -> _CardFacts:
    from wavewright.page.counters.kernels import kernels_of
    from wavewright.page.counters.overview import overview_of_counters

    facts = overview_of_counters(document)
    kernels = kernels_of(document)
    shares = kernels["duration_share"].head(_MOST_BARS).fill_null(0).to_list()
    total = kernels["duration_ns_total"].sum() if kernels["duration_ns_total"].null_count() < kernels.height else None
    figures = {
        "duration_ns": total,
        "kernels": facts["kernel_count"],
        "dispatches": facts["dispatch_count"],
        "counters": facts["counter_count"],
    }
    return {
        "title": ", ".join(kernel_title(kernel["kernel_name"]) for kernel in facts["kernels"][:3]),
        "target": facts["target"] or "",
        "figures": figures,
        "picture": {"what": "share of the time by kernel", "form": "bars", "values": shares},
    }, facts["losses"]


def _of_store(document: Document) -> _CardFacts:
    from wavewright.page.store.trends import overview_of_store

    facts = overview_of_store(document)
    return {
        "title": document.label,
        "target": ", ".join(facts["targets"]),
        "figures": {"captures": facts["capture_count"], "commits": facts["commit_count"]},
        "picture": {"what": "", "form": "curve", "values": []},
    }, facts["losses"]


_OF_KIND = {"trace": _of_trace, "run": _of_run, "counters": _of_counters, "store": _of_store}


#: The question whose answer has the findings, and where they are in it; a store has no diagnosis.
_DIAGNOSES = {
    "trace": ("diagnose", "findings"),
    "run": ("run_diagnosis", "findings"),
    "counters": ("counter_diagnosis", "kernels"),
}


@once_per_document
def card_finding(document: Document) -> dict[str, Any]:
    """The first finding of the diagnosis of a document; empty where it has none."""
    from wavewright.page.questions import questions_about

    lent = _lent(document)
    first: dict[str, Any] = {}
    if lent.kind in _DIAGNOSES:
        question, findings = _DIAGNOSES[lent.kind]
        first = next(iter(questions_about(lent.kind)[question].answer(lent)[findings]), {})
    verdict = first.get("summary" if lent.kind == "counters" else "verdict", "")
    return {"verdict": verdict, "reason": first.get("reason", ""), "gain_share_max": first.get("gain_share_max")}


QUESTIONS = (PageQuestion("card", card), PageQuestion("card_finding", card_finding))

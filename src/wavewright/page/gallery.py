"""Cards of the gallery: of every document of a page its facts, a small picture, and the first finding.

A page may list hundreds of dispatches. Reading one for its card does not keep it open: only a few stay, for the
question about its finding that follows.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import polars as pl

from wavewright.facts.kernel_titles import kernel_title
from wavewright.model.document import Document
from wavewright.model.trace import ThreadTrace
from wavewright.page.protocol.question import PageQuestion

MOST_LENT = 8  #: Documents that stay read for the next question about them,
MOST_LENT_BYTES = 256 << 20  #: while their instructions take no more than this.
_BINS = 64
_MOST_BARS = 12
_LONGEST_TITLE = 300
_GUARD = Lock()


def card(document: Document) -> dict[str, Any]:
    """Card of a document in the gallery before its diagnosis, with the number of documents by then."""
    facts = document.kept("card", lambda: _card(_lent(document)))
    return facts | {"document_count": len(document.library.documents) if document.library else 1}


def card_finding(document: Document) -> dict[str, Any]:
    """The first finding of the diagnosis of a document; empty where it has none."""
    return document.kept("card finding", lambda: _finding(_lent(document)))


def _lent(document: Document) -> Document:
    """The document itself where it is read already, else one that is read and soon forgotten again."""
    if document.is_open or document.library is None:
        return document
    lent = document.library.lent
    with _GUARD:
        twin = lent.pop(document.number, None)
        twin = twin or Document(document.number, document.label, document.path, document.opener, document.library)
        lent[document.number] = twin  # in the order of last use
    _ = twin.opened
    with _GUARD:
        while len(lent) > 1 and (len(lent) > MOST_LENT or sum(map(_bytes, lent.values())) > MOST_LENT_BYTES):
            del lent[next(iter(lent))]
    return twin


def _bytes(document: Document) -> int:
    """About what a document takes in memory; of runs, which keep much more than a table, too much for two."""
    if not document.is_open:
        return 0
    content = document.opened
    if isinstance(content, ThreadTrace):
        return int(content.instructions.estimated_size())
    return MOST_LENT_BYTES // 2 + 1


def _card(document: Document) -> dict[str, Any]:
    answer = _OF_KIND[document.kind](document)
    losses = answer.pop("losses")
    damage = [loss for loss in losses if loss["is_damage"]]
    return answer | {
        "kind": document.kind,
        "title": answer["title"][:_LONGEST_TITLE],
        "loss_count": len(damage),
        "loss": damage[0]["message"] if damage else "",
    }


def _of_trace(document: Document) -> dict[str, Any]:
    from wavewright.analysis.trace.about.overview import overview as trace_overview
    from wavewright.analysis.trace.waves.kernel_residency import kernel_residency

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
        "losses": [vars(loss) for loss in overview.losses],
    }


def _of_run(document: Document) -> dict[str, Any]:
    from wavewright.analysis.run.gpu_time.busy import busy
    from wavewright.page.run.overview import overview_of_run

    facts = overview_of_run(document)
    over_time = busy(document.run, bins=_BINS).over_time
    shares = over_time.group_by("bin").agg(pl.col("busy_share").mean()).sort("bin")
    values = [0.0] * min(_BINS, max(shares["bin"].to_list(), default=-1) + 1)
    for at, share in shares.iter_rows():
        if 0 <= at < len(values):
            values[at] = share
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
        "losses": facts["losses"],
    }


def _of_counters(document: Document) -> dict[str, Any]:
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
        "losses": facts["losses"],
    }


def _of_store(document: Document) -> dict[str, Any]:
    from wavewright.page.store.series import overview_of_store

    facts = overview_of_store(document)
    return {
        "title": document.label,
        "target": ", ".join(facts["targets"]),
        "figures": {"captures": facts["capture_count"], "commits": facts["commit_count"]},
        "picture": {"what": "", "form": "curve", "values": []},
        "losses": facts["losses"],
    }


_OF_KIND = {"trace": _of_trace, "run": _of_run, "counters": _of_counters, "store": _of_store}


#: The question whose answer has the findings.
_DIAGNOSES = {"trace": "diagnose", "run": "run_diagnosis", "counters": "counter_diagnosis"}


def _finding(document: Document) -> dict[str, Any]:
    from wavewright.page.questions import questions_about

    if document.kind == "store":
        return {"verdict": "", "reason": "", "gain_share_max": None}
    diagnosis = questions_about(document.kind)[_DIAGNOSES[document.kind]].answer(document)
    if document.kind == "counters":
        kernels = diagnosis["kernels"]
        return {"verdict": kernels[0]["summary"] if kernels else "", "reason": "", "gain_share_max": None}
    first = next(iter(diagnosis["findings"]), {"verdict": "", "reason": ""})
    return {name: first.get(name) for name in ("verdict", "reason", "gain_share_max")}


QUESTIONS = (PageQuestion("card", card), PageQuestion("card_finding", card_finding))

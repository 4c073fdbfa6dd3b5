"""The facts that a capture records about its origin (GPU, versions, format), and the losses of captures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.analysis.trace.about.overview import subject
from wavewright.base.words import side_label, some_of
from wavewright.model.document import Document
from wavewright.questions.catalog import QUESTIONS
from wavewright.words.kit.losses import loss_lines

_MAX_VALUES = 6  #: Values of one fact.
#: Facts of a counter capture -> their name in a report.
_SYSTEM = {"rocm_version": "ROCm", "version": "profiler", "vbios": "VBIOS", "linux_kernel_version": "Linux"}


def losses_of(documents: Sequence[Document]) -> Iterator[str]:
    """The losses of captures as sentences, damage first; of several captures with their letters."""
    for number, document in enumerate(documents):
        label = f"{side_label(number)}: " if len(documents) > 1 else ""
        for line in loss_lines(document.opened.losses, limit=1000):
            yield label + line.text


def facts_of(document: Document) -> dict[str, str]:
    """GPU, versions and format of a capture, as far as it records them."""
    facts = {"run": _of_run, "trace": _of_trace, "counters": _of_counters}[document.kind](document)
    return {name: text for name, text in facts.items() if text}


def _of_run(document: Document) -> dict[str, str]:
    recording = QUESTIONS["run"]["about"].answer(document)
    gpus = recording.gpus
    used = gpus.filter(gpus["kernel_count"] > 0) if gpus.height else gpus
    products = [row["product"] or row["target"] for row in used.iter_rows(named=True)]
    formats = [f"{row['format']} {row['version']}".strip() for row in recording.processes.iter_rows(named=True)]
    return {"GPU": _listed(products), "format": _listed(formats)}


def _of_trace(document: Document) -> dict[str, str]:
    traced = subject(document.trace)
    kernel = {"kernel": traced.kernel or "", "dispatch": traced.dispatch_key}
    return {"GPU": traced.gpu, "format": document.trace.source.format, **kernel}


def _of_counters(document: Document) -> dict[str, str]:
    system = document.counters.system
    gpu = f"{system.product} ({system.target})" if system.product and system.target else system.product or system.target
    described = {name: system.described.get(key, "") for key, name in _SYSTEM.items()}
    return {"GPU": gpu or "", **described}


def _listed(values: Sequence[str | None]) -> str:
    """The first few different values."""
    return some_of(list(dict.fromkeys(value for value in values if value)), _MAX_VALUES)

"""Next questions about a run: what its answers name, by their handles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.model.next_question import NextQuestion
from wavewright.questions.kit.question import then
from wavewright.questions.run.run_question import kernel_names
from wavewright.words.kit.handles import handle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.run.diagnose import RunDiagnosis
    from wavewright.analysis.run.kernels import Kernels
    from wavewright.analysis.run.ranks.ranks import Ranks
    from wavewright.model.document import Document

HOTTEST = then("kernels", "the kernel with most time", name=handle("k", 0))
_ASKED_AS = {"top": "kernels"}  #: Verbs of the rules, for which agents have another question.


def after_diagnosis(document: Document, answer: RunDiagnosis) -> Iterator[NextQuestion]:
    """The question for each finding, then the hottest kernel."""
    from wavewright.facts.run_rules import RULES

    keys = set()
    for number, finding in enumerate(answer.findings[:3], 1):
        words = RULES[finding.rule].next_command.split()
        if len(words) < 2:
            continue
        question = _ASKED_AS.get(words[1], words[1])
        window = next((item.window for item in finding.evidence if item.window), "")
        parameters = {"time": window} if "{window}" in words and window else {}
        if question == "kernels" and finding.evidence:
            parameters = _kernel_of(document, finding.evidence[0].what)
        key = (question, *parameters.values())
        if key not in keys:
            keys.add(key)
            yield NextQuestion(question, parameters, f"{handle('f', number)}: {finding.name}")
    if answer.kernels.height and ("kernels", "k0") not in keys:
        yield HOTTEST


def _kernel_of(document: Document, name: str) -> dict[str, str]:
    """The parameter that names a kernel; none where it is not one of the run."""
    names = kernel_names(document)
    return {"name": handle("k", names.index(name))} if name in names else {}


def after_kernels(_document: Document, answer: Kernels) -> Iterator[NextQuestion]:
    """The first kernel of the list."""
    if answer.kernels.height > 1:
        yield HOTTEST


def after_ranks(_document: Document, answer: Ranks) -> Iterator[NextQuestion]:
    """Collectives, then the rank that computes most."""
    yield then("collectives", "who is late, and why")
    ranked_processes = answer.processes.filter(answer.processes["rank"].is_not_null())
    if ranked_processes.height:
        busiest = ranked_processes.sort("compute_ns", "rank", descending=[True, False])["rank"][0]
        yield then("summary", "the rank with most computation", rank=handle("r", busiest))

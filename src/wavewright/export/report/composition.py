"""The contents of a report about captures: first look, findings, topics, changes, declared sections, definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from msgspec import structs

from wavewright.errors import UsageError
from wavewright.export.report.sections import comparison, definitions, glance, own
from wavewright.export.report.sections.facts import facts_of, losses_of
from wavewright.export.report.sections.own import OwnSection
from wavewright.export.report.sections.purposes import Purpose, purpose_of
from wavewright.export.report.sections.topic_section import answered_section, chosen_questions
from wavewright.model.blocks import Block, Labelled, Sentence
from wavewright.model.document import DOCUMENTS, Document
from wavewright.model.report import InputFile, Provenance, Report, Section
from wavewright.questions.catalog import QUESTIONS
from wavewright.questions.comparison import check_comparable
from wavewright.questions.kit.question import Wording
from wavewright.words.kit.anonymous import without_secrets
from wavewright.writers.kit.outline import paths_of

#: Names of the sections that no topic makes, with their title and question.
BESIDE_TOPICS = {
    glance.NAME: (glance.TITLE, glance.QUESTION),
    comparison.NAME: (comparison.TITLE, comparison.QUESTION),
    definitions.NAME: (definitions.TITLE, definitions.QUESTION),
}
_TITLES = {"trace": "Thread trace", "run": "Run", "counters": "Hardware counters"}


def make_report(
    documents: Sequence[Document],
    *,
    purpose: str = "full",
    top: int | None = None,
    sections: Iterable[str] = (),
    without: Iterable[str] = (),
    baseline: Document | None = None,
    title: str = "",
    with_source: bool = True,
    own_sections: Sequence[OwnSection] = (),
    command: str = "",
    inputs: Callable[[], tuple[InputFile, ...]] = tuple,
    date: str = "",
) -> Report:
    """A report about one capture, or about several that are compared with the first.

    Raises `UsageError` when there is no document, or no such section or purpose, or captures cannot be compared.

    `top` is rows of a table: None = those of the purpose, 0 = all. `sections` and `without` are names of topics and of
    `BESIDE_TOPICS`: only these, or all but these. `baseline` is compared with the only document, in a section of its
    own. `with_source`: the text of source files may be in it. `command` makes the same report again. `inputs` gives the
    files that were read (`readers.files.hashes`), and is called when the sections are done. `date` is the day on which
    it was made; empty = not said.
    """
    if not documents:
        raise UsageError("a report is about a capture", advice="give one")
    chosen_purpose = purpose_of(purpose)
    wanted, unwanted = tuple(sections), tuple(without)
    compared = [baseline, *documents] if baseline is not None else list(documents)
    check_comparable([document.kind for document in compared])
    kind = documents[0].kind
    _check_names(kind, (*wanted, *unwanted))
    if top is not None:  # it limits findings as well
        chosen_purpose = structs.replace(chosen_purpose, finding_limit=_limit(top, chosen_purpose))
    plan = _Plan(chosen_purpose, _limit(top, chosen_purpose), wanted, unwanted, with_source)
    losses = tuple(losses_of(compared))
    body = plan.compared(documents, losses) if len(documents) > 1 else plan.about(documents[0], baseline, losses)
    body += own.sections_of(documents[-1], own_sections, limit=plan.limit)
    if chosen_purpose.with_definitions and plan.has(definitions.NAME):
        meanings = definitions.definitions_section(body)
        body += [meanings] if meanings is not None else []
    filters = {"for": purpose, "top": str(top or "all") if top is not None else "", "section": ", ".join(wanted)}
    filters |= {"no-section": ", ".join(unwanted), "source": "" if with_source else "left out", "date": date}
    filters = {name: text for name, text in filters.items() if text}
    provenance = Provenance(version("wavewright"), command, inputs(), filters, facts_of(documents[-1]))
    report_kind = "comparison" if len(documents) > 1 else kind
    report = Report(title or _title(documents, kind, baseline), report_kind, tuple(body), provenance, losses)
    return without_secrets(replace(report, sections=tuple(_with_commands(section, report) for section in body)))


def _with_commands(section: Section, report: Report) -> Section:
    """The section with the command lines of its next questions; declared sections and comparisons have none."""
    questions = [QUESTIONS.get(report.kind, {}).get(asked.topic) for asked in section.next_questions]
    paths = paths_of(report)[:1] or ["PATH"]
    commands = [
        question.command(paths, asked.parameters, is_brief=False)
        for question, asked in zip(questions, section.next_questions, strict=True)
        if question is not None
    ]
    return replace(section, next_commands=tuple(commands)) if len(commands) == len(questions) else section


@dataclass(frozen=True)
class _Plan:
    """The choice of sections, and the sections themselves."""

    purpose: Purpose
    limit: int  #: Rows of a table.
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    with_source: bool

    def has(self, name: str) -> bool:
        """True if the report has a section of `BESIDE_TOPICS`."""
        return name not in self.unwanted and (not self.wanted or name in self.wanted)

    def about(self, document: Document, baseline: Document | None, losses: Sequence[str]) -> list[Section]:
        """The sections about one capture, those without an answer last."""
        listed = self.purpose.topics.get(document.kind, ())
        topics = chosen_questions(document.kind, self.wanted, self.unwanted, listed)
        first_look = self._glance(document, losses)
        sections = [] if first_look is None else [first_look]
        if "diagnose" in [topic.name for topic in topics]:
            findings, answer = self._diagnosis(document)
            if first_look and answer:
                _, findings = glance.split_diagnosis(findings, answer, losses)
            sections.append(findings)
        if baseline is not None and self.has(comparison.NAME):
            sections.append(comparison.comparison_section([baseline, document], limit=self.limit))
        wording, with_pictures = Wording(limit=self.limit), self.purpose.with_pictures
        answered = [
            answered_section(document, topic, wording, with_pictures=with_pictures)
            for topic in topics
            if topic.name != "diagnose" and (self.with_source or topic.name != "source")
        ]
        # only the findings say what to ask next
        sections += [replace(section, next_questions=()) for section in answered] if first_look else answered
        return sorted(sections, key=lambda section: bool(section.skipped))

    def compared(self, documents: Sequence[Document], losses: Sequence[str]) -> list[Section]:
        """The sections about several captures: changes against the first one, then the findings about each."""
        sections = []
        labels = comparison.labels_of(documents)
        if self.has(glance.NAME):
            head: list[Block] = [Sentence(comparison.verdict_of(documents), "headline")]
            head += [Labelled("base" if not number else "compared", label) for number, label in enumerate(labels)]
            head += [Labelled("losses", loss) for loss in losses[:3]]
            sections.append(Section(glance.NAME, glance.TITLE, glance.QUESTION, tuple(head)))
        if self.has(comparison.NAME):
            changes = comparison.comparison_section(documents, limit=self.limit)
            if sections and len(documents) == 2:  # the first section has the verdict already
                changes = replace(changes, blocks=changes.blocks[1:])
            sections.append(changes)
        if not self.wanted or "diagnose" in self.wanted:
            for document, label in zip(documents, labels, strict=True):
                section, _ = self._diagnosis(document)
                sections.append(replace(section, title=f"{section.title} of {label}", next_questions=()))
        return sections

    def _glance(self, document: Document, losses: Sequence[str]) -> Section | None:
        if not self.has(glance.NAME):
            return None
        section, answer = self._diagnosis(document)
        if answer is None:
            status = Labelled("status", f"{glance.CANNOT_TELL} ({section.skipped})")
            return Section(glance.NAME, glance.TITLE, glance.QUESTION, (status,))
        return glance.split_diagnosis(section, answer, losses)[0]

    def _diagnosis(self, document: Document) -> tuple[Section, Any]:
        """The section of findings and the answer that it is made of (None = none), cached with the document."""

        def make() -> tuple[Section, Any]:
            topic = QUESTIONS[document.kind]["diagnose"]
            section = answered_section(document, topic, Wording(limit=min(self.limit, self.purpose.finding_limit)))
            return section, None if section.skipped else topic.answer(document)

        return document.kept(("report", "diagnosis", self.limit, self.purpose.name), make)


def _limit(top: int | None, purpose: Purpose) -> int:
    return purpose.row_limit if top is None else top or 1 << 62  # 0 = all rows


def _check_names(kind: str, names: Sequence[str]) -> None:
    known = [*BESIDE_TOPICS, *QUESTIONS[kind]]
    for name in names:
        if name not in known:
            problem = f"no section {name[:40]!r} about {DOCUMENTS[kind]}"
            raise UsageError(problem, advice=f"sections: {', '.join(known)}")


def _title(documents: Sequence[Document], kind: str, baseline: Document | None) -> str:
    labels = comparison.labels_of(documents)
    if len(documents) > 1:
        return f"{' and '.join(labels[1:])} against {labels[0]}"
    against = f" against {baseline.label}" if baseline is not None else ""
    return f"{_TITLES[kind]} {labels[0]}{against}"

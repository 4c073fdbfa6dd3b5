"""A report about captures: headline and findings, topics, what changed, sections of the user, definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
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

#: Names of sections that are no topics.
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

    Parameters
    ----------
    purpose
        full, brief, issue or agent (`export.report.sections.purposes`).
    top
        Rows of a table; None = as many as suit the purpose, 0 = all.
    sections, without
        Names of topics, and of the sections beside them: only these, or all but these.
    baseline
        A capture that the only one is compared with; adds the section of what changed.
    with_source
        Whether the text of source files may be in it.
    own_sections
        Sections of the user (`export.report.sections.own`).
    command
        What makes the same report again.
    inputs
        Gives the files that were read (`readers.files.hashes`), when the sections are done.
    date
        When it was made; empty = it does not say.
    """
    if not documents:
        raise UsageError("a report is about a capture", advice="give one")
    chosen = purpose_of(purpose)
    wanted, unwanted = tuple(sections), tuple(without)
    compared = [baseline, *documents] if baseline is not None else list(documents)
    check_comparable([document.kind for document in compared])
    kind = documents[0].kind
    _check_names(kind, (*wanted, *unwanted))
    if top is not None:  # findings as well as rows
        chosen = structs.replace(chosen, finding_limit=_limit(top, chosen))
    plan = _Plan(chosen, _limit(top, chosen), wanted, unwanted, with_source=with_source)
    losses = tuple(losses_of(compared))
    body = plan.compared(documents, losses) if len(documents) > 1 else plan.about(documents[0], baseline, losses)
    body += own.sections_of(documents[-1], own_sections, limit=plan.limit)
    if chosen.with_definitions and plan.has(definitions.NAME):
        meanings = definitions.definitions_section(body)
        body += [meanings] if meanings is not None else []
    filters = {"for": purpose, "top": str(top or "all") if top is not None else "", "section": ", ".join(wanted)}
    filters |= {"no-section": ", ".join(unwanted), "source": "" if with_source else "left out", "date": date}
    facts = facts_of(documents[-1])
    provenance = Provenance(
        _version(), command, inputs(), {name: text for name, text in filters.items() if text}, facts
    )
    whole = "comparison" if len(documents) > 1 else kind
    report = Report(title or _title(documents, kind, baseline), whole, tuple(body), provenance, losses)
    return without_secrets(replace(report, sections=tuple(_with_commands(section, report) for section in body)))


def _with_commands(section: Section, report: Report) -> Section:
    """The section with the command lines that ask what to ask next; sections of the user and comparisons have none."""
    questions = [QUESTIONS.get(report.kind, {}).get(asked.topic) for asked in section.next_questions]
    paths = paths_of(report)[:1] or ["PATH"]
    commands = [
        question.command(paths, asked.parameters, is_brief=False)
        for question, asked in zip(questions, section.next_questions, strict=True)
        if question is not None
    ]
    return replace(section, next_commands=tuple(commands)) if len(commands) == len(questions) else section


class _Plan:
    """Sections of a report, and their lengths."""

    def __init__(
        self, purpose: Purpose, limit: int, wanted: tuple[str, ...], unwanted: tuple[str, ...], *, with_source: bool
    ) -> None:
        self.purpose, self.limit = purpose, limit
        self.wanted, self.unwanted = wanted, unwanted
        self.with_source = with_source

    def has(self, name: str) -> bool:
        """True if a section beside the topics is in the report."""
        return name not in self.unwanted and (not self.wanted or name in self.wanted)

    def about(self, document: Document, baseline: Document | None, losses: Sequence[str]) -> list[Section]:
        """The sections about one capture: what was answered first, then what could not be."""
        listed = self.purpose.topics.get(document.kind, ())
        topics = chosen_questions(document.kind, self.wanted, self.unwanted, listed)
        if self.wanted and not any(name in QUESTIONS[document.kind] for name in self.wanted):
            topics = []
        beginning = self._glance(document, losses)
        sections = [beginning] if beginning is not None else []
        if "diagnose" in [topic.name for topic in topics]:
            findings = self._diagnosis(document)
            sections.append(glance.split_diagnosis(*findings, losses)[1] if beginning and findings[1] else findings[0])
        if baseline is not None and self.has(comparison.NAME):
            sections.append(comparison.comparison_section([baseline, document], limit=self.limit))
        wording, with_pictures = Wording(limit=self.limit), self.purpose.with_pictures
        answered = [
            answered_section(document, topic, wording, with_pictures=with_pictures)
            for topic in topics
            if topic.name != "diagnose" and (self.with_source or topic.name != "source")
        ]
        # what to ask next is said once, by the findings
        sections += [replace(section, next_questions=()) for section in answered] if beginning else answered
        return [*(each for each in sections if not each.skipped), *(each for each in sections if each.skipped)]

    def compared(self, documents: Sequence[Document], losses: Sequence[str]) -> list[Section]:
        """Changes against the first capture, then the findings of each."""
        sections = []
        labels = comparison.labels_of(documents)
        if self.has(glance.NAME):
            head: list[Block] = [Sentence(comparison.verdict_of(documents), "headline")]
            head += [Labelled("base" if not number else "compared", label) for number, label in enumerate(labels)]
            head += [Labelled("losses", loss) for loss in losses[:3]]
            sections.append(Section(glance.NAME, glance.TITLE, glance.QUESTION, tuple(head)))
        if self.has(comparison.NAME):
            changes = comparison.comparison_section(documents, limit=self.limit)
            is_said = bool(sections)  # the verdict, by the section before
            sections.append(replace(changes, blocks=changes.blocks[1:]) if is_said and len(documents) == 2 else changes)
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
        """The section of findings and its answer; None = it could not be answered."""

        def make() -> tuple[Section, Any]:
            topic = QUESTIONS[document.kind]["diagnose"]
            section = answered_section(document, topic, Wording(limit=min(self.limit, self.purpose.finding_limit)))
            return section, None if section.skipped else topic.answer(document)

        return document.kept(("report", "diagnosis", self.limit, self.purpose.name), make)


def _limit(top: int | None, purpose: Purpose) -> int:
    return purpose.row_limit if top is None else top or 1 << 62


def _check_names(kind: str, names: Sequence[str]) -> None:
    there = [*BESIDE_TOPICS, *QUESTIONS[kind]]
    unknown = [name for name in names if name not in there]
    if unknown:
        what = f"no section {unknown[0][:40]!r} about {DOCUMENTS[kind]}"
        raise UsageError(what, advice=f"sections: {', '.join(there)}")


def _title(documents: Sequence[Document], kind: str, baseline: Document | None) -> str:
    labels = comparison.labels_of(documents)
    if len(documents) > 1:
        return f"{' and '.join(labels[1:])} against {labels[0]}"
    against = f" against {baseline.label}" if baseline is not None else ""
    return f"{_TITLES[kind]} {labels[0]}{against}"


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("wavewright")
    except PackageNotFoundError:  # a source tree that is not installed
        return "unknown"

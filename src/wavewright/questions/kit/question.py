"""A question: one plain value from which every surface is made, from the verb to the section of a report.

Functions import what they need when they are called: the list of questions itself costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from wavewright.errors import UsageError
from wavewright.model.next_question import NextQuestion
from wavewright.questions.kit.parameters import Parameters, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl

    from wavewright.model.answer import Answer
    from wavewright.model.blocks import AnyBlock, Picture
    from wavewright.model.document import Document
    from wavewright.model.report import Section

    Parts = Iterable[AnyBlock]  #: Words, one below the other.

A = TypeVar("A", bound="Answer")
Needs = Literal["nothing", "instructions", "code"]
WIDTH = 140  #: Characters per line of the words: all columns.


class Wording(NamedTuple):
    """Room for the words of an answer."""

    limit: int = 20  #: Rows of a table.
    width: int = WIDTH  #: Characters per line; columns that are wide only are left out below 110.
    how: Mapping[str, Any] = {}  #: More arguments of the report, from options of the verb.
    ascii_only: bool = False  #: Whether a terminal shows no other characters.


class Display(NamedTuple):
    """Part of an answer in the display of a document by notebooks: its first sentences and tables."""

    sentence_count: int = 0
    table_count: int = 0


class Analysis(NamedTuple, Generic[A]):
    """Who answers a question, and the classes of its answers."""

    answers: tuple[type[A], ...]
    #: Takes what a document holds, as its kind of question says; None = the question puts the answer together itself.
    function: Callable[..., A] | None = None
    #: The answer about one file of a run, and that about all of them (ADR 0009).
    partial: Callable[..., Any] | None = None
    combine: Callable[[Sequence[Any]], A] | None = None
    parts: tuple[type[Answer], ...] = ()  #: Classes of the answers that its answers are put together of.

    def of(self, opened: Any, **parameters: Any) -> A:
        """The answer about a trace, a run or counters."""
        if self.function is None:
            raise NotImplementedError(f"{self.answers[0].__name__} is put together by its question")
        return self.function(opened, **parameters)


class Plot(NamedTuple):
    """A picture of the answer to a question, by name; `wavewright plot` writes it, and reports contain it."""

    name: str
    title: str
    shows: str  #: What can be read from it, as a part of a sentence.
    #: Takes the document, the theme and the largest number of rows (None = as many as suit it); imports when it draws.
    drawer: Callable[[Document, str, int | None], Picture]
    #: The picture of an answer that is there already, and the theme; None = it is drawn of documents only.
    of_answer: Callable[[Any, str], Picture] | None = None

    def draw(self, document: Document, theme: str = "auto", top: int | None = None) -> Picture:
        """The picture of a document, with at most `top` rows; None = as many as suit it.

        Raises `UsageError` when the document cannot have it, with the reason; when there is no such theme.
        """
        from wavewright.writers.svg.markup import THEMES

        if theme not in THEMES:
            raise UsageError(f"no theme {theme[:40]!r}", advice=f"there are {', '.join(THEMES)}")
        if top is not None and top < 1:
            raise UsageError(f"a plot of {top} rows shows nothing", advice="give 1 or more")
        return self.drawer(document, theme, top)


class Question(NamedTuple, Generic[A]):
    """A question about a kind of document; a tuple, because a dataclass would slow every start down."""

    name: str
    title: str  #: Heading of its section.
    sentence: str  #: The question in words: the same in the help, in reports, for agents, in the reference.
    analysis: Callable[[], Analysis[A]]
    words: Callable[[A, Wording], Parts]
    parameters: Parameters
    #: Puts the answer together for a document and its parameters, where that is more than the analysis alone.
    composed: Callable[..., A] | None = None
    needs: Needs = "code"  #: What a thread trace must have to be asked.
    #: The rows that the answer is about, without which it says nothing, and why there are none.
    rows: Callable[[A], pl.DataFrame] | None = None
    without_rows: str = ""
    #: What to ask next: that depends on the answer, and that is always of use, the most useful first.
    next_of_answer: Callable[[Document, A], Iterable[NextQuestion]] | None = None
    next_always: tuple[NextQuestion, ...] = ()
    plots: tuple[Plot, ...] = ()
    #: The verb of the command line that answers it, if it is not called like the question, and the options it needs.
    verb: str = ""
    group: str = ""  #: Heading of the verb in `wavewright --help` (`questions.kit.groups`); empty = that of its kind.
    verb_options: tuple[str, ...] = ()
    #: Parameters that the verb calls otherwise: name -> option; empty = an argument before the paths.
    option_names: Mapping[str, str] = {}
    tools: tuple[str, ...] = ("summary",)  #: Tools for agents that answer it.
    view: str = ""  #: The view of the page that shows the same; empty = none does.
    is_asked_for: bool = False  #: Whether reports leave it out unless it is asked for.
    display: Display = Display()

    @property
    def kind(self) -> str:
        """Kind of document: a trace, a run or counters."""
        raise NotImplementedError

    @property
    def usual_group(self) -> str:
        """The group of verbs of its kind."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        """Heading of the verb in `wavewright --help`."""
        return self.group or self.usual_group

    @property
    def verb_name(self) -> str:
        """The verb of the command line that answers it."""
        return self.verb or self.name

    def command(self, paths: Sequence[str], parameters: Mapping[str, str], *, is_brief: bool = True) -> str:
        """The command line that asks it; an argument before the paths that is not given means all."""
        from wavewright.base.shown import command_line

        options = list(self.verb_options)
        arguments = [parameters.get(name, "") for name, option in self.option_names.items() if not option]
        for name, value in parameters.items():
            option = self.option_names.get(name, f"--{name.replace('_', '-')}")
            options += [option, value] if option else []
        words = ["wavewright", self.verb_name, *arguments, *paths, *options, *(["--brief"] if is_brief else [])]
        return command_line(words)

    def answer(self, document: Document, **parameters: Any) -> A:
        """The answer of its analysis, computed once per document and parameters.

        Raises `UsageError` when the document cannot answer.
        """
        return (self.composed or self.asked)(document, **parameters)

    def asked(self, document: Document, **parameters: Any) -> A:
        """The answer of the analysis alone, as questions about its kind of document get it."""
        raise NotImplementedError

    def parsed(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The parameters as values. Raises `UsageError` when a parameter is wrong."""
        return parsed(self.name, self.parameters, given)

    def missing(self, answer: A) -> str:
        """The reason why an answer says nothing; empty = it says something."""
        return self.without_rows if self.rows and self.without_rows and not self.rows(answer).height else ""

    def main_table(self, answer: A) -> pl.DataFrame:
        """The rows that --csv prints."""
        if self.rows is None:
            raise NotImplementedError(f"{self.name} declares no rows")
        return self.rows(answer)

    def next_questions(self, document: Document, answer: A) -> tuple[NextQuestion, ...]:
        """Next questions, with arguments ready to be sent; the most useful first, each once (where it first stands)."""
        questions = [*(self.next_of_answer(document, answer) if self.next_of_answer else ()), *self.next_always]
        return tuple({(item.topic, *item.parameters.items()): item for item in reversed(questions)}.values())[::-1]

    def section(
        self, document: Document, given: Mapping[str, str] | None = None, wording: Wording | None = None
    ) -> Section:
        """The answer as a section, for parameters as text.

        Raises `UsageError` when a parameter is wrong, or the document cannot answer.
        """
        answer = self.answer(document, **self.parsed(given or {}))
        return self.worded(document, answer, wording or Wording())

    def worded(self, document: Document, answer: A, wording: Wording) -> Section:
        """An answer that is there already, as a section."""
        from wavewright.model.blocks import readable
        from wavewright.model.report import Section
        from wavewright.words.kit.answer_parts import data_tables, definition_of, headed

        return Section(
            name=self.name,
            title=self.title,
            question=self.sentence,
            blocks=headed(readable(self.words(answer, wording))),
            data=data_tables(answer),
            definition=definition_of(answer),
            next_questions=self.next_questions(document, answer),
        )


def answer_key(name: str, choice: Mapping[str, Any], parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    """The name of an answer among those that a document keeps; without any choice pictures ask for it, too.

    >>> answer_key("gaps", {}, {}), answer_key("gaps", {"rank": 3}, {})
    (('topic', 'gaps'), ('topic', 'gaps', (('rank', 3),), ()))
    """
    chosen = (tuple(sorted(choice.items())), tuple(sorted(parameters.items())))
    return ("topic", name, *(chosen if any(chosen) else ()))


def then(question: str, reason: str, **parameters: str) -> NextQuestion:
    """A next question, and its reason."""
    return NextQuestion(question, parameters, reason)

"""Every verb: those that answer declared questions, and those that do something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wavewright.questions.catalog import every_question
from wavewright.questions.kit.groups import (
    BEFORE,
    CHANGES,
    COUNTERS,
    GROUPS,
    HAND_OVER,
    KERNEL_TIME,
    RUN_TABLES,
    WHAT_IS_IT,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wavewright.questions.kit.question import Question


class Verb(NamedTuple):
    """A verb that is not the answer to a declared question."""

    name: str
    group: str  #: Heading in `--help`; empty = a verb of a group of its own.
    sentence: str = ""
    #: Verbs and options that are worth calling next with the same paths; by kind of document where that matters.
    then: tuple[str, ...] = ()
    then_by_kind: Mapping[str, tuple[str, ...]] = {}
    then_alone: tuple[str, ...] = ()  #: Commands to be called next where no path was given.


OWN_VERBS = (
    Verb(
        "doctor",
        BEFORE,
        "Is everything here that a good capture needs? What was seen, why it matters, what fixes it.",
        then_alone=("wavewright capture discover --dry-run -- ./program",),
    ),
    Verb(
        "capture", BEFORE, "Run a program under the profiler and judge what it left: traces, counters, samples, runs."
    ),
    Verb("demo", WHAT_IS_IT, "Make a capture, or runs, and tell what they show; needs no GPU."),
    Verb("open", WHAT_IS_IT, "Show traces and runs in a browser: timelines, instructions, source, findings."),
    Verb("mcp", WHAT_IS_IT, "Serve agents: questions about captures by the Model Context Protocol."),
    Verb("convert", RUN_TABLES, "Write a run in another format: Perfetto, Chrome, CSV, Parquet, ROCpd, ..."),
    Verb("merge", RUN_TABLES, "Put any number of runs into one ROCpd database."),
    Verb(
        "query",
        RUN_TABLES,
        "Which rows does this SQL give? One SELECT over stable views of any run.",
        then=("schema", "tables"),
    ),
    Verb(
        "schema",
        RUN_TABLES,
        "Which views, tables and columns can a query name?",
        then=("tables", "summary"),
        then_alone=("wavewright schema --view kernels --brief",),
    ),
    Verb("split", RUN_TABLES, "Write one ROCpd database per process, rank, GPU, or range of a marker."),
    Verb(
        "tables",
        RUN_TABLES,
        "Which tables does a run hold, and how large are they?",
        then=("schema", "summary", "info"),
    ),
    Verb("window", RUN_TABLES, "Write a part of runs: a time window, some ranks, GPUs, kernels, ..."),
    Verb(
        "disassemble",
        KERNEL_TIME,
        "What do the kernels in a file need: code, live registers, loops, one wave more?",
        then=("occupancy",),
    ),
    Verb("decode", KERNEL_TIME, "Decode raw thread traces into tables or a ui_output directory."),
    Verb(
        "metrics",
        COUNTERS,
        "Which metrics are there, and how is each computed?",
        then_alone=("wavewright metrics --brief", "wavewright metrics --target gfx942 --panel l2 --brief"),
    ),
    Verb(
        "report",
        HAND_OVER,
        "Hand over what a capture shows: HTML, PDF, Markdown, Excel, JSON or a notebook, findings first.",
    ),
    Verb(
        "plot",
        HAND_OVER,
        "Draw an answer: time budget, gaps, ranks, steps, heat of the source, roofline, ... as SVG or PNG.",
    ),
    Verb(
        "baseline",
        CHANGES,
        "Write down what captures measured, so that a gate can judge later ones by it.",
        then=("info",),
    ),
    Verb(
        "compare",
        CHANGES,
        "What changed between runs, or traces of the same kernel, and is it more than noise?",
        then_by_kind={
            "counters": ("diagnose", "roofline"),
            "run": ("summary", "diagnose --run"),
            "trace": ("diagnose", "hotspots"),
        },
    ),
    Verb(
        "gate",
        CHANGES,
        "Did it get worse than its baseline, or leave its budget? Pass, fail, or cannot tell.",
        then=("diagnose", "info"),
    ),
)


def _verbs_by_group() -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {title: {} for title in GROUPS}
    for verb in OWN_VERBS:
        if verb.group:
            groups[verb.group][verb.name] = verb.sentence
    for question in every_question():
        if not any(question.verb_name in verbs for verbs in groups.values()):
            groups[question.heading][question.verb_name] = question.sentence
    return groups


#: Heading of `--help` -> verbs with the sentence of what they answer or do.
VERBS_BY_GROUP = _verbs_by_group()
#: Every verb with its sentence.
VERBS = {name: sentence for verbs in VERBS_BY_GROUP.values() for name, sentence in verbs.items()}


def question_of_verb(verb: str) -> Question[Any] | None:
    """The first question that a verb answers; None = it does something else."""
    if any(verb == other.name for other in OWN_VERBS):
        return None
    return next((question for question in every_question() if question.verb_name == verb), None)


def full_help(question: Question[Any], details: str) -> str:
    """The help of a verb: its question as everywhere, then what only its help says."""
    from inspect import cleandoc

    details = cleandoc(details)
    return details if details.startswith(question.sentence) else f"{question.sentence}\n\n{details}".rstrip()

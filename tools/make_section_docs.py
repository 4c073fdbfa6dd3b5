"""Write docs/reference/report-sections.md from the declared questions and purposes, and the tables of verbs in cli*.md.

`--check` only says whether they are up to date.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wavewright.cli import VERBS, _group
from wavewright.export.report.composition import BESIDE_TOPICS
from wavewright.export.report.sections.glance import CANNOT_TELL, FINDINGS, HEALTHY
from wavewright.export.report.sections.purposes import PURPOSES
from wavewright.model.document import DOCUMENTS
from wavewright.questions.catalog import QUESTIONS
from wavewright.words.kit.handles import HANDLES

if TYPE_CHECKING:
    from wavewright.questions.kit.question import Question

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "report-sections.md"
VERB_PAGES = {"trace": "cli.md", "run": "cli-runs.md", "counters": "cli-counters.md"}
_MARKED = re.compile(r"(?P<begin><!-- verbs: [^>]*-->\n).*?(?P<end>\n<!-- end of verbs -->)", re.DOTALL)
INTRODUCTION = (
    "A report ([how to](../how-to/hand-over-a-report.md)) is made of sections. `--section NAME` chooses them, "
    "`--no-section NAME` leaves one out. Most of them are topics: questions about a capture that `wavewright mcp` "
    "([tools](mcp.md)) and notebooks ask as well, and that a verb of the command line answers. A section that a "
    "capture cannot answer is listed with the reason."
)

STATUS = (
    f"*At a glance* says in one word how it stands: `{FINDINGS}` (there is something to change), `{HEALTHY}` (all "
    f"rules were checked, none has anything to say) or `{CANNOT_TELL}` (something could not be checked). *What "
    "changed* is there where captures are compared. What was lost, and the provenance (inputs with their SHA-256, "
    "versions, filters, the command that makes the same report again) end every report."
)


def page() -> str:
    """The reference of sections."""
    lines = [
        "# Sections of reports",
        "",
        "<!-- Written by tools/make_section_docs.py from src/wavewright/questions; do not edit. -->",
        "",
        INTRODUCTION,
        "",
        "## In every report",
        "",
        "| section | title | answers |",
        "|---|---|---|",
        *(f"| `{name}` | {title} | {question} |" for name, (title, question) in BESIDE_TOPICS.items()),
        "",
        STATUS,
        "",
    ]
    for kind, topics in QUESTIONS.items():
        lines += [
            f"## About {DOCUMENTS[kind]}",
            "",
            "| section | title | answers | verb | parameters | pictures |",
            "|---|---|---|---|---|---|",
            *map(_row, topics.values()),
            "",
        ]
    lines += [
        "A section in *italics* is in a report only if it is asked for.",
        "",
        "## Purposes",
        "",
        "`--for` chooses which topics, how many findings and how many rows of each table; `--top` overrides the rows.",
        "",
        "| purpose | meaning | findings | rows | topics |",
        "|---|---|---:|---:|---|",
        *(
            f"| `{each.name}` | {each.meaning} | {each.finding_limit} | {each.row_limit} | "
            + ("; ".join(f"{kind}: {', '.join(names)}" for kind, names in each.topics.items()) or "all")
            + " |"
            for each in PURPOSES.values()
        ),
        "",
        "## Handles",
        "",
        "Answers name what can be asked about next by handles, which parameters take back.",
        "",
        "| handle | names |",
        "|---|---|",
        *(f"| `{_example(letter)}` | {what} |" for letter, what in HANDLES.items()),
        "",
    ]
    return "\n".join(lines)


def _row(topic: Question[Any]) -> str:
    name = f"*`{topic.name}`*" if topic.is_asked_for else f"`{topic.name}`"
    parameters = ", ".join(f"`{parameter}`" for parameter in topic.parameters)
    pictures = ", ".join(f"`{plot.name}`" for plot in topic.plots)
    return f"| {name} | {topic.title} | {topic.sentence} | `{topic.verb_name}` | {parameters} | {pictures} |"


def _example(letter: str) -> str:
    return "i0x1814" if letter == "i" else f"{letter}3"


def verb_table(kind: str) -> str:
    """The verbs that answer questions about a kind of document, each with its first question."""
    verbs = dict.fromkeys(question.verb_name for question in QUESTIONS[kind].values())
    lines = [f"| `{_usage(verb)}` | {VERBS[verb]} |" for verb in verbs]
    return "\n".join(["| verb | question |", "|---|---|", *lines])


def _usage(verb: str) -> str:
    context = click.Context(_group)
    _, command, _ = _group.resolve_command(context, [verb])
    words = command.collect_usage_pieces(click.Context(command, context, verb)) if command else []
    return " ".join([verb, *(word for word in words if word != "[OPTIONS]")])


def with_verbs(text: str, kind: str) -> str:
    """A page of the reference with the table of verbs between its marks."""
    table = verb_table(kind)
    return _MARKED.sub(lambda match: f"{match['begin']}\n{table}\n{match['end']}", text)


def main() -> int:
    """Write the pages, or with `--check` compare them with the declarations."""
    texts = {PAGE: page()}
    for kind, name in VERB_PAGES.items():
        path = PAGE.with_name(name)
        texts[path] = with_verbs(path.read_text(encoding="utf-8"), kind)
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is out of date: run tools/make_section_docs.py", file=sys.stderr)
        return int(bool(stale))
    for path in stale:
        path.write_text(texts[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

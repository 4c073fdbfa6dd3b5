"""Calls that are worth sending next, with their arguments."""

from __future__ import annotations

from collections.abc import Iterable

from wavewright.mcp.declared import BY_NAME, TOOLS, Tool
from wavewright.mcp.reply import Offer
from wavewright.model.next_question import NextQuestion
from wavewright.questions.catalog import QUESTIONS

MOST = 3
#: Names of parameters of questions that the tools call otherwise.
ALIASES = {"name": "kernel"}


def suggested_calls(
    questions: Iterable[NextQuestion], kind: str, handle: str, *, asked: Offer | None = None
) -> tuple[Offer, ...]:
    """The calls that ask these questions about a capture, the most useful first; never the one that was just asked.

    Where they are few, what is of use after a look at such a document comes last.
    """
    asked_next = [*questions, *QUESTIONS[kind]["about"].next_always]
    offers = [offer for question in asked_next if (offer := _offer(question, kind, handle))]
    chosen: list[Offer] = []
    seen = [] if asked is None else [(asked.tool, dict(asked.arguments))]
    for offer in offers:
        key = (offer.tool, dict(offer.arguments))
        if key not in seen and len(chosen) < MOST:
            seen.append(key)
            chosen.append(offer)
    return tuple(chosen)


def tool_of(kind: str, topic: str) -> Tool | None:
    """The tool that answers a topic about documents of a kind; where several do, the one that it is the usual topic of.

    >>> tool_of("trace", "waits").name, tool_of("run", "kernels").name
    ('explain_wait', 'hotspots')
    """
    tools = [tool for tool in TOOLS if topic in tool.topics.get(kind, ())]
    return min(tools, key=lambda tool: tool.topics[kind].index(topic), default=None)


def _offer(question: NextQuestion, kind: str, handle: str) -> Offer | None:
    """None = no tool takes this question with its parameters."""
    tool = tool_of(kind, question.topic)
    if question.topic == "about":
        return None
    if tool is None:
        return None
    names = {parameter.name: parameter.kind for parameter in BY_NAME[tool.name].parameters}
    arguments: dict[str, str | int] = {"capture": handle}
    if tool.topics[kind][0] != question.topic:
        arguments["about"] = question.topic
    for given, value in question.parameters.items():
        name = given if given in names else ALIASES.get(given, given)
        if name not in names:
            return None
        arguments[name] = int(value) if names[name] == "integer" else value
    return Offer(tool.name, arguments, question.reason)

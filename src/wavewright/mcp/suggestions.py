"""Suggested next calls, made of the next questions of an answer."""

from __future__ import annotations

from collections.abc import Iterable

from wavewright.mcp.declared import TOOLS, Tool
from wavewright.mcp.reply import Offer
from wavewright.model.next_question import NextQuestion
from wavewright.questions.catalog import QUESTIONS

MOST = 3
#: Parameter of a question -> its name in the tools, where that differs.
ALIASES = {"name": "kernel"}


def suggested_calls(
    questions: Iterable[NextQuestion], kind: str, handle: str, *, asked: Offer | None = None
) -> tuple[Offer, ...]:
    """At most three calls that ask these questions about a capture, and, if there is room, the usual ones of its kind.

    Never the call that was just `asked`.
    """
    offers: list[Offer] = [] if asked is None else [asked]
    for question in (*questions, *QUESTIONS[kind]["about"].next_always):
        offer = _offer(question, kind, handle)
        if offer and all((offer.tool, offer.arguments) != (other.tool, other.arguments) for other in offers):
            offers.append(offer)
    return tuple(offers[1 if asked else 0 :][:MOST])


def tool_of(kind: str, topic: str) -> Tool | None:
    """The tool that answers a topic about a kind of documents; of several, the one in which the topic comes first."""
    tools = [tool for tool in TOOLS if topic in tool.topics.get(kind, ())]
    return min(tools, key=lambda tool: tool.topics[kind].index(topic), default=None)


def _offer(question: NextQuestion, kind: str, handle: str) -> Offer | None:
    """The call that asks a question; None = no tool takes it with its parameters."""
    tool = tool_of(kind, question.topic)
    if tool is None or question.topic == "about":
        return None
    names = {parameter.name: parameter.kind for parameter in tool.parameters}
    arguments: dict[str, str | int] = {"capture": handle}
    if tool.topics[kind][0] != question.topic:
        arguments["about"] = question.topic
    for given, value in question.parameters.items():
        name = given if given in names else ALIASES.get(given, given)
        if name not in names:
            return None
        arguments[name] = int(value) if names[name] == "integer" else value
    return Offer(tool.name, arguments, question.reason)

"""Every topic by kind of document and name: what reports have as sections, and agents ask about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.errors import UsageError
from wavewright.readers.files.kinds import DOCUMENTS
from wavewright.report.counters.topics import TOPICS as _COUNTERS
from wavewright.report.run.topics import TOPICS as _RUN
from wavewright.report.trace.topics import TOPICS as _TRACE

if TYPE_CHECKING:
    from wavewright.report.kit.topic import Topic

#: Kind of document -> name -> topic, in the order of a report.
TOPICS: dict[str, dict[str, Topic]] = {
    kind: {topic.name: topic for topic in topics}
    for kind, topics in (("trace", _TRACE), ("run", _RUN), ("counters", _COUNTERS))
}


def topic_of(kind: str, name: str) -> Topic:
    """The topic of that name about documents of this kind.

    Raises
    ------
    UsageError
        When there is none.
    """
    topic = TOPICS[kind].get(name)
    if topic is None:
        raise UsageError(f"no topic {name[:40]!r} about {DOCUMENTS[kind]}", advice=f"topics: {', '.join(TOPICS[kind])}")
    return topic


def topics_of_answer(answer: Any) -> list[Topic]:
    """The topics whose words an answer can have, by the name of its class; none = it is the answer of no topic."""
    name = type(answer).__name__
    return [topic for topics in TOPICS.values() for topic in topics.values() if name in topic.answer_types]

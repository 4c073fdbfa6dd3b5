"""Hot code as blocks of a report: lines with their heat and handles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavewright.analysis.trace.listing.hot_code import HotCode
from wavewright.base.words import percent, short
from wavewright.model.blocks import Block, Code, CodeLine, Sentence
from wavewright.words.kit.frame_tables import place
from wavewright.words.kit.handles import instruction_handle


def hot_code_parts(answer: HotCode) -> Iterator[Block]:
    """The hottest line in a sentence, then the lines of each file."""
    lines = answer.lines.to_dicts()
    if not lines:
        yield Sentence("no line of code is known", "headline")
        return
    hottest = max(lines, key=lambda line: line["cost"])
    where = place(hottest["file"], hottest["line"]) if answer.is_source else hottest["text"]
    reason = f", mostly {hottest['reason']}" if hottest["reason"] else ""
    exposed = " that nothing hides" if answer.unit == "cycles" else ""
    cost = f"{short(hottest['cost'])} {answer.unit}{exposed}, {percent(hottest['share'])} of all {answer.unit}{reason}"
    yield Sentence(f"hottest here: {where}: {cost}", "headline")
    if not answer.is_source:
        yield Sentence("instructions: the text of the source is not part of the capture, or none is known", "note")
    previous: dict[str, Any] | None = None
    block: list[CodeLine] = []
    for line in lines:
        if previous is not None and previous["file"] != line["file"]:
            yield Code(previous["file"], tuple(block))
            block = []
        elif previous is not None and answer.is_source and line["line"] != previous["line"] + 1:
            block.append(CodeLine(None, ""))  # lines left out
        block.append(_line(line))
        previous = line
    if previous is not None:
        yield Code(previous["file"], tuple(block))


def _line(line: dict[str, Any]) -> CodeLine:
    is_executed = line["address"] is not None and (line["hit_count"] is None or line["hit_count"] > 0)
    cost = short(line["cost"]) if line["cost"] else ""
    handle = instruction_handle(line["address"]) if is_executed else ""
    share = line["share"] if is_executed else None
    return CodeLine(line["line"], line["text"].rstrip().expandtabs(4), share, cost, handle)

"""Next questions about a thread trace: the instruction that an answer is about, by its handle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wavewright.model.next_question import NextQuestion
from wavewright.questions.kit.question import then
from wavewright.words.kit.handles import handle, instruction_handle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wavewright.analysis.trace.lanes.answer import Lanes
    from wavewright.model.document import Document

COSTLIEST_LINES = then("hotspots", "the costliest source lines", by="line")
_WAITS = ("memory", "wait", "dependency", "sync")  #: Kinds of findings whose instruction waits for another.


def after_diagnosis(document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The instructions of the first findings: what they wait for, and their source."""
    for number, finding in enumerate(answer.findings[:2], 1):
        name, address = handle("f", number), _address(finding)
        if address is None:
            if getattr(finding, "kind", "") in ("occupancy", "grid"):
                yield NextQuestion("occupancy", {}, f"{name}: {finding.name}")
            continue
        at = {"at": named(document, address)}
        if getattr(finding, "kind", "") in _WAITS and number == 1:
            yield NextQuestion("waits", at, f"{name}: what it waits for")
        yield NextQuestion("source", at, f"{name}: its source")


def _address(finding: Any) -> int | None:
    """The first instruction that a finding is about."""
    rows = [item.address for item in getattr(finding, "evidence", ()) if item.row >= 0]
    rows += [item.address for item in getattr(finding, "places", ()) if item.address is not None]
    return rows[0] if rows else None


def named(document: Document, address: int) -> str:
    """The handle of an instruction: with its code object where the address alone is ambiguous."""
    code = document.trace.code
    objects = code.filter(code["address"] == address)["code_object"].drop_nulls().to_list()
    return instruction_handle(address, objects[0] if len(objects) > 1 else None)


def after_hotspots(document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The source of the first unit, and what it waits for."""
    units = answer.units
    if units.height:
        first = units.row(0, named=True)
        if first.get("address") is not None:
            at = {"at": named(document, first["address"])}
            yield NextQuestion("source", at, "the costliest instruction in its source")
            yield NextQuestion("waits", at, "what it waits for")
        elif first.get("file") and first.get("line"):
            yield NextQuestion("source", {"file": first["file"], "line": str(first["line"])}, "the costliest line")


def after_stalls(document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The first instruction of the largest class."""
    rows = answer.by_row
    if rows.height and rows["address"][0] is not None:
        at = {"at": named(document, rows["address"][0])}
        yield NextQuestion("source", at, "the instruction with most stall")
        yield NextQuestion("waits", at, "what it waits for")


def after_waits(document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The source of the first wait, and of what it waits for."""
    if answer.waits.height and answer.waits["address"][0] is not None:
        yield NextQuestion("source", {"at": named(document, answer.waits["address"][0])}, "the wait in its source")
    if answer.producers.height and answer.producers["producer_address"][0] is not None:
        at = named(document, answer.producers["producer_address"][0])
        yield NextQuestion("source", {"at": at}, "what it waits for, in its source")


def after_source(document: Document, answer: Any) -> Iterator[NextQuestion]:
    """The awaited instruction of the hottest line."""
    executed = answer.lines.filter(answer.lines["address"].is_not_null())
    if executed.height and answer.unit == "cycles":
        hottest = executed.sort("cost", "address", descending=[True, False])["address"][0]
        yield NextQuestion("waits", {"at": named(document, hottest)}, "what the hottest line waits for")


def after_lanes(document: Document, answer: Lanes) -> Iterator[NextQuestion]:
    """The source of the first instruction."""
    code = document.trace.code
    addresses = code.filter(code["row"].is_in(answer.rows["row"].head(1)))["address"].drop_nulls()
    if addresses.len():
        yield then("source", "the first instruction in its source", at=named(document, addresses[0]))

"""Edits in words (`move 214 up 8`), as new orders of a block."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from wavewright.analysis.code.edits.ahead import issued_ahead
from wavewright.analysis.code.edits.block_orders import BlockOrders, LegalOrder, Refused
from wavewright.analysis.code.edits.code_rows import CodeRow
from wavewright.analysis.code.edits.dependences import Assumptions, first_of_all, moved_down, moved_up
from wavewright.analysis.code.edits.derived_waits import DerivedOrder, unmet_need
from wavewright.analysis.code.edits.wider_loads import widened
from wavewright.errors import UsageError

_NUMBER: Final = r"\d{1,9}"
_ROW: Final = rf"(?P<row>{_NUMBER})"
_OTHER: Final = rf"(?P<other>{_NUMBER})"
_LIST: Final = rf"(?P<rows>{_NUMBER}(?::{_NUMBER})?(?:,{_NUMBER}(?::{_NUMBER})?)*)"  #: `40,44:46`
_MOST_LISTED: Final = 256  #: Rows that a list may name.
#: Forms of edits; the groups of a pattern are fields of `Edit`.
_FORMS: Final = (
    ("waits", r"waits"),
    ("up", rf"move {_ROW} up(?: {_OTHER})?"),
    ("down", rf"move {_ROW} down(?: {_OTHER})?"),
    ("down", rf"sink {_ROW}(?: {_OTHER})?"),
    ("before", rf"move {_ROW} before {_OTHER}"),
    ("drop", rf"drop {_ROW}"),
    ("wait", rf"wait {_ROW} (?P<word>\w+cnt)=(?P<other>\d{{1,3}})"),
    ("first", r"(?P<word>loads|lds|matrix) first"),
    ("widen", rf"widen {_LIST}"),
    ("ahead", rf"ahead {_LIST} before {_OTHER}"),
    ("waves", r"waves \+(?P<other>[1-9])"),
)
_KINDS: Final = {"loads": ("vmem_load", "scratch_load", "vmem_lds_load"), "lds": ("lds_load",), "matrix": ("matrix",)}
FORMS_SAID: Final = (
    "waits, move N up [K], move N down [K], move N before M, sink N [K], drop N, wait N vmcnt=V,"
    " loads first, lds first, matrix first, widen N:M, ahead N,M before K, waves +1"
)
_ALONE: Final = ("wait", "widen", "ahead", "waves")  #: Forms that do not mix with other edits.
_DISJOINT: Final = re.compile(rf"disjoint ({_NUMBER}),({_NUMBER})")


@dataclass(frozen=True)
class Edit:
    """One parsed edit."""

    text: str
    form: str  #: The first word of one of `_FORMS`.
    row: int = -1  #: The row that it names; -1 = the whole block.
    other: int | None = None  #: Another row, a number of places (None = as far as can be), a value, or waves more.
    word: str = ""  #: The counter of a wait, or the kind of rows that go first.
    rows: tuple[int, ...] = ()  #: Of a list; empty = the form has none.


def parsed_edit(text: str) -> Edit:
    """An edit from its words. Raises `UsageError` when it is none.

    >>> edit = parsed_edit("move 214 up 8")
    >>> edit.form, edit.row, edit.other
    ('up', 214, 8)
    """
    words = " ".join(text.lower().split())
    for form, pattern in _FORMS:
        match = re.fullmatch(pattern, words)
        if match:
            groups = match.groupdict()
            rows = _listed_rows(groups["rows"]) if "rows" in groups else ()
            row, other = rows[0] if rows else int(groups.get("row", -1)), groups.get("other")
            return Edit(words, form, row, int(other) if other else None, groups.get("word", ""), rows)
    raise UsageError(f"no edit: {text[:80]}", advice=f"an edit is one of: {FORMS_SAID}")


def _listed_rows(text: str) -> tuple[int, ...]:
    """Rows of a list, ascending."""
    rows: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition(":")
        span = range(int(first), int(last or first) + 1)
        if not 0 < len(span) <= _MOST_LISTED - len(rows):
            raise UsageError(f"no rows: {part}", advice=f"at most {_MOST_LISTED} rows, the first one first")
        rows.update(span)
    return tuple(sorted(rows))


def parsed_assumptions(texts: tuple[str, ...]) -> Assumptions:
    """Assumptions from their words: `disjoint 211,224`, `readonly`, `padded`."""
    answer = Assumptions()
    for text in texts:
        words = " ".join(text.split())
        pair = _DISJOINT.fullmatch(words)
        if pair:
            answer = replace(answer, disjoint=answer.disjoint | {(int(pair[1]), int(pair[2]))})
        elif words == "readonly":
            answer = replace(answer, readonly=True)
        elif words == "padded":
            answer = replace(answer, padded=True)
        else:
            raise UsageError(f"no assumption: {text[:80]}", advice="disjoint A,B, readonly or padded")
    return answer


def edited(orders: BlockOrders, edits: list[Edit], assumptions: Assumptions) -> LegalOrder | Refused:
    """The block with all edits, one after the other; or the reason against it."""
    order = list(range(len(orders.core)))
    alone = next((edit for edit in edits if edit.form in _ALONE), None)
    if alone:
        return _edited_alone(orders, alone, assumptions) if len(edits) == 1 else Refused(f"{alone.text}: only alone")
    for edit in edits:
        # What may be dropped is derived: it is not in the order, and the least waits and padding come without it.
        new_order = _dropped(orders, edit) or order if edit.form == "drop" else _moved(orders, order, edit)
        if isinstance(new_order, Refused):
            return new_order
        order = new_order
    return orders.legal(order)


def _edited_alone(orders: BlockOrders, edit: Edit, assumptions: Assumptions) -> LegalOrder | Refused:
    if edit.form == "wait":
        return _with_wait(orders, edit)
    rows = [row for row in edit.rows if row in orders.places or row not in orders.block.rows]  # waits are derived
    if edit.form == "widen":
        return widened(orders, rows)
    return issued_ahead(orders, rows, edit.other or 0, assumptions)


def _moved(orders: BlockOrders, order: list[int], edit: Edit) -> list[int] | Refused:
    if edit.form == "waits":
        return order
    if edit.form == "first":
        return first_of_all(orders.dependences, order, places_of(orders, edit.word))
    at = orders.places.get(edit.row)
    if at is None:
        return Refused(_not_there(orders, edit.row))
    if edit.form == "up":
        new_order = moved_up(orders.dependences, order, at, edit.other)
    elif edit.form == "down":
        new_order = moved_down(orders.dependences, order, at, edit.other)
    else:
        target = _place_from(orders, edit.other if edit.other is not None else -1)
        if target is None:
            return Refused(_not_there(orders, edit.other or 0))
        old_place, new_place = order.index(at), order.index(target)
        if new_place > old_place:
            new_order = [*order[:old_place], *order[old_place + 1 : new_place], at, *order[new_place:]]
        else:
            new_order = _before(orders, order, at, target)
    if new_order == order:
        return Refused(_blocked(orders, order, at, edit))
    return new_order


def _place_from(orders: BlockOrders, row: int) -> int | None:
    """The place of a row; of waits and padding, which are derived, that of the next row that stays."""
    if row not in orders.block.rows:
        return None
    return next((at for at, core_row in enumerate(orders.core) if core_row.row >= row), None)


def _before(orders: BlockOrders, order: list[int], at: int, target: int) -> list[int]:
    """A row right before another, with what it needs of the rows between them."""
    old_place, new_place = order.index(at), order.index(target)
    between = order[new_place:old_place]
    ancestors = orders.dependences.ancestors(at)
    return [
        *order[:new_place],
        *(row for row in between if row in ancestors),
        at,
        *(row for row in between if row not in ancestors),
        *order[old_place + 1 :],
    ]


def _blocked(orders: BlockOrders, order: list[int], at: int, edit: Edit) -> str:
    """The edge that keeps a row where it is."""
    if edit.form == "before" and edit.other == edit.row:
        return f"row {edit.row} cannot stand before itself"
    here = order.index(at)
    edges = orders.dependences.edges
    if edit.form == "down":
        next_edge = next((edges[later][at] for later in order[here + 1 :] if at in edges[later]), None)
        return f"it cannot go down: {next_edge.words}" if next_edge else "it stands at the end already"
    nearest = next((edges[at][earlier] for earlier in reversed(order[:here]) if earlier in edges[at]), None)
    return f"it cannot go up: {nearest.words}" if nearest else "it stands at the start already"


def _not_there(orders: BlockOrders, row: int) -> str:
    block = orders.block
    if row in block.rows:
        return f"row {row} is a wait, padding or a hint: these are derived and not moved"
    return f"row {row} is not in the block of rows {block.first} to {block.last}"


def _dropped(orders: BlockOrders, edit: Edit) -> Refused | None:
    """Padding and waits may go where the least ones do not need them; nothing else goes."""
    row = next((row for row in orders.written if row.row == edit.row), None)
    if row is None:
        return Refused(_not_there(orders, edit.row))
    if row.is_barrier:
        return Refused(f"without the barrier in row {row.row} waves would race: barriers are never dropped")
    if row.is_control:
        return Refused(f"row {row.row} leads on from the block: {row.text}")
    if not row.is_derived:
        return Refused(f"row {row.row} computes something: {row.text}")
    least = orders.legal(list(range(len(orders.core))))
    if isinstance(least, Refused):
        return least
    behind = next((other.row for other in orders.core if other.row > row.row), None)
    if row.text in _texts_before(least.rows, behind):
        return Refused(f"row {row.row} is needed: {row.text} stands in the least listing too")
    return None


def _texts_before(rows: tuple[CodeRow, ...], behind: int | None) -> list[str]:
    texts: list[str] = []
    for row in rows:
        if row.row == behind:
            return texts
        texts = [*texts, row.text] if row.is_derived else []
    return texts


def _with_wait(orders: BlockOrders, edit: Edit) -> LegalOrder | Refused:
    """The order of the code with another value of one wait."""
    rows = list(orders.written)
    at = next((place for place, row in enumerate(rows) if row.row == edit.row), None)
    if at is None:
        return Refused(_not_there(orders, edit.row))
    values = dict(rows[at].waits)
    if edit.word not in values or edit.other is None:
        return Refused(f"row {edit.row} does not wait for {edit.word}: {rows[at].text}")
    values[edit.word] = edit.other
    text = rows[at].text.replace(f"{edit.word}({dict(rows[at].waits)[edit.word]})", f"{edit.word}({edit.other})")
    if text == rows[at].text and edit.other != dict(orders.written[at].waits)[edit.word]:
        return Refused("only waits that name their counters can be set")
    rows[at] = replace(rows[at], row=-1, waits=tuple(values.items()), text=text)
    if unmet := unmet_need(rows, orders.around):
        place, need = unmet
        return Refused(
            f"row {rows[place].row} needs {need.counter}({need.value}) of row {need.operation.row.row}: "
            f"{need.operation.row.text}"
        )
    core = tuple(row.row for row in orders.core)
    return LegalOrder(tuple(rows), DerivedOrder(tuple(rows), {}, {}, {}), core, orders.vgprs, 0)


def places_of(orders: BlockOrders, kind: str) -> list[int]:
    """Places of the rows of a kind: loads, lds or matrix."""
    classes = _KINDS[kind]
    return [at for at, row in enumerate(orders.core) if row.class_name in classes]

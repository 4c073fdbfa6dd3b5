"""JUnit XML: one case per quantity and per limit of a budget."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from wavewright.analysis.common.gate import GateAnswer, sentence, title_of
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, NOT_JUDGED, PASS
from wavewright.base.shown import printable
from wavewright.words.gate import sentences, shown_checks

_LONGEST = 500  #: Characters of the name of a case.


def junit(answer: GateAnswer, *, is_unsure_allowed: bool = False) -> str:
    """The document. What cannot be told is an error, so that no server shows it green; or skipped, if that is allowed.

    Quantities that are not judged are skipped.
    """
    cases = [
        _case(row, is_unsure_allowed=is_unsure_allowed) for row in shown_checks(answer, everything=True).to_dicts()
    ]
    if answer.reasons:
        cases.insert(
            0, _element("comparable", "gate", _unsure("; ".join(answer.reasons), is_allowed=is_unsure_allowed))
        )
    counts = {name: sum(f"<{name} " in case for case in cases) for name in ("failure", "error", "skipped")}
    numbers = (
        f'tests="{len(cases)}" failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}" '
        'time="0"'
    )
    words = "\n".join([answer.headline(), *sentences(answer)])
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="wavewright gate" {numbers}>',
        f"<testsuite name={_attribute(f'wavewright gate of a {answer.kind}')} {numbers}>",
        *cases,
        f"<system-out>{_text(words)}</system-out>",
        "</testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(row: dict[str, Any], *, is_unsure_allowed: bool) -> str:
    words = sentence(row)
    inside = {
        PASS: "",
        FAIL: f'<failure message={_attribute(words)} type="worse">{_text(words)}</failure>',
        CANNOT_TELL: _unsure(words, is_allowed=is_unsure_allowed),
        NOT_JUDGED: f"<skipped message={_attribute(row['reason'])}/>",
    }[row["status"]]
    group = "budget" if row["limit_text"] else row["subject"]
    name = f"{title_of(row, _LONGEST)}: {row['limit_text']}" if row["limit_text"] else title_of(row, _LONGEST)
    return _element(name, f"wavewright.{group}", inside)


def _unsure(words: str, *, is_allowed: bool) -> str:
    if is_allowed:
        return f"<skipped message={_attribute(f'cannot tell: {words}')}/>"
    return f'<error message={_attribute(words)} type="cannot tell">{_text(words)}</error>'


def _element(name: str, group: str, inside: str) -> str:
    return f'<testcase classname={_attribute(group)} name={_attribute(name)} time="0">{inside}</testcase>'


def _text(text: str) -> str:
    """Text of XML 1.0: what it cannot contain is shown as an escape."""
    return "\n".join(escape(printable(line)) for line in text.split("\n"))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))

"""A gate's result as JUnit XML: one case per quantity and per limit of a budget."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from wavewright.analysis.common.gate import GateAnswer, sentence, title_of
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL, NOT_JUDGED, PASS
from wavewright.base.shown import printable
from wavewright.words.gate import sentences, shown_checks

_NAME_LENGTH = 500  #: Characters of the name of a case.


def junit(answer: GateAnswer, *, is_unsure_allowed: bool = False) -> str:
    """The XML document. A check that cannot tell is an error, so that CI does not pass, or skipped if that is allowed.

    Quantities that are not judged are skipped.
    """
    checks = shown_checks(answer, everything=True).to_dicts()
    cases = [_case(row, is_unsure_allowed=is_unsure_allowed) for row in checks]
    if answer.reasons:
        reasons = _unsure("; ".join(answer.reasons), is_allowed=is_unsure_allowed)
        cases.insert(0, _element("comparable", "gate", reasons))
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
    title = title_of(row, _NAME_LENGTH)
    return _element(f"{title}: {row['limit_text']}" if row["limit_text"] else title, f"wavewright.{group}", inside)


def _unsure(words: str, *, is_allowed: bool) -> str:
    if is_allowed:
        return f"<skipped message={_attribute(f'cannot tell: {words}')}/>"
    return f'<error message={_attribute(words)} type="cannot tell">{_text(words)}</error>'


def _element(name: str, group: str, inside: str) -> str:
    return f'<testcase classname={_attribute(group)} name={_attribute(name)} time="0">{inside}</testcase>'


def _text(text: str) -> str:
    """Text for XML 1.0, with escapes for characters that it cannot contain."""
    return "\n".join(escape(printable(line)) for line in text.split("\n"))


def _attribute(text: str) -> str:
    return quoteattr(printable(text))

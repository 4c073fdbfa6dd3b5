"""SARIF 2.1.0: what got worse or is beyond a limit and has a source line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from wavewright.analysis.common.gate import sentence
from wavewright.analysis.common.gate.check import CANNOT_TELL, FAIL
from wavewright.analysis.common.gate.subjects import SUBJECTS
from wavewright.base.shown import json_bytes, printable
from wavewright.words.gate import grown_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavewright.analysis.common.gate import GateAnswer

MOST_RESULTS = 5_000  #: GitHub reads no more.
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {FAIL: "error", CANNOT_TELL: "warning"}
_RULES = {name: subject.meaning for name, subject in SUBJECTS.items()} | {
    "finding": "a finding of `wavewright diagnose` that promises more than the budget allows",
    "grown-line": "a line whose exposed cycles grew while the gate failed",
}


def sarif(answer: GateAnswer, *, version: str, place: Callable[[str], str] = str) -> str:
    """The document; `place` gives the path in the repository of a source file.

    Only results with a file and a line are in it; lines that grew are, where the gate fails.
    """
    results = [
        _result(row["subject"], _LEVELS[row["status"]], sentence(row), row, place)
        for row in answer.checks.filter(answer.checks["status"].is_in([*_LEVELS])).to_dicts()
        if row["file"] and row["line"]
    ]
    if answer.verdict == FAIL:
        for row in grown_lines(answer).to_dicts():
            text = f"exposed cycles of this line grew by {100 * row['change']:.1f} % of the cycles of a wave"
            results.append(_result("grown-line", "warning", text, row, place))
    total = len(results)
    results = results[:MOST_RESULTS]
    rule_ids = sorted({result["ruleId"] for result in results})
    rules = [{"id": name, "shortDescription": {"text": _RULES.get(name, name)}} for name in rule_ids]
    for result in results:
        result["ruleIndex"] = rule_ids.index(result["ruleId"])
    notes = [f"showing {MOST_RESULTS:,} of {total:,} results"] if total > MOST_RESULTS else []
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "wavewright gate", "version": version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {"verdict": answer.verdict, "headline": printable(answer.headline()), "notes": notes},
            }
        ],
    }
    return msgspec.json.format(json_bytes(document), indent=1).decode() + "\n"


def _result(rule: str, level: str, text: str, row: dict[str, Any], place: Callable[[str], str]) -> dict[str, Any]:
    location = {
        "artifactLocation": {"uri": _uri(place(row["file"]))},
        "region": {"startLine": row["line"]},
    }
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": printable(text)},
        "locations": [{"physicalLocation": location}],
    }


def _uri(path: str) -> str:
    """A path as a reference of RFC 3986: an absolute one names a file of this machine."""
    uri = quote(path.replace("\\", "/"), safe="/", errors="surrogateescape")
    return f"file://{uri}" if uri.startswith("/") else uri

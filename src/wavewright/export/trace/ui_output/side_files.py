"""Files that ROCm WaveScope reads beside code.json: inlined calls, and findings as annotations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from wavewright.base.bounds import integer_of
from wavewright.export.kit.json_text import encode
from wavewright.model.findings import Finding

INLINE_FRAMES, ANNOTATIONS = "inline_frames.json", "annotations.json"
_CHAIN = " -> "
_INLINED = "(inlined)"  #: Debug lines name the place of a call, not the function that was inlined.
#: Least bound of a gain -> severity, the largest first.
_SEVERITIES = ((0.25, "critical"), (0.1, "high"), (0.03, "medium"), (0.0, "low"))
_CONFIDENCES = {"high": 0.9, "medium": 0.6, "low": 0.3}


def inline_frames(listing: pl.DataFrame, functions: dict[tuple[int, int], str]) -> dict[str, bytes]:
    """inline_frames.json: the calls through which instructions were inlined; no file if none was.

    `functions` is (code object, address) of the first instruction of each function -> its symbol.
    """
    names, files = _TextNumbers(), _TextNumbers()
    stacks: dict[str, list[list[int]]] = {}
    function = ""
    for row in listing.select("row", "code_object", "address", "source").iter_rows(named=True):
        place = row["code_object"], row["address"]
        function = functions.get(place, function)
        _, *calls = row["source"].split(_CHAIN) if row["row"] is not None else [""]
        if calls:
            outermost = [names[function], -1, 0, 0]
            stacks[f"{place[0]}:{place[1]}"] = [outermost, *(_frame(call, names, files) for call in reversed(calls))]
    if not stacks:
        return {}
    body = {"version": 2, "functions": list(names), "files": list(files), "stacks": stacks, "code_object_id": None}
    return {INLINE_FRAMES: encode(body)}


def annotations_json(findings: Iterable[Finding[Any]], listing: pl.DataFrame) -> bytes:
    """annotations.json: findings at the rows of code.json (columns of `listed_lines`) and lines of their evidence."""
    position = {row: number for number, row in enumerate(listing["row"]) if row is not None}
    return encode({"annotations": [_annotation(n, finding, position) for n, finding in enumerate(findings, 1)]})


def _annotation(number: int, finding: Finding[Any], position: dict[int, int]) -> dict[str, Any]:
    gain = finding.gain_share_max
    body: dict[str, Any] = {
        "id": f"wavewright-{number}",
        "title": finding.verdict,
        "severity": "info" if gain is None else next(name for least, name in _SEVERITIES if gain >= least),
        "note": finding.reason,
        "suggestion": finding.remedy,
        "category": finding.name,
        "anchor": _anchor(finding.evidence, position),
    }
    if gain is not None:
        body["metric"] = gain
    if finding.confidence in _CONFIDENCES:
        body["confidence"] = _CONFIDENCES[finding.confidence]
    return body


def _anchor(evidence: Sequence[Any], position: dict[int, int]) -> dict[str, Any] | None:
    rows = [row for item in evidence if (row := getattr(item, "row", None)) is not None]
    anchor: dict[str, Any] = (
        {"instIdxs": places} if (places := [position[row] for row in rows if row in position]) else {}
    )
    placed = next((item for item in evidence if getattr(item, "file", None) and getattr(item, "line", None)), None)
    if placed is not None:
        anchor["source"] = {"file": placed.file, "line": placed.line}
    return anchor or None


class _TextNumbers(dict[str, int]):
    """The numbers of texts, in the order in which they were first asked for."""

    def __missing__(self, text: str) -> int:
        return self.setdefault(text, len(self))


def _frame(call: str, names: _TextNumbers, files: _TextNumbers) -> list[int]:
    file, _, line = call.rpartition(":")
    return [names[_INLINED], files[file], integer_of(line) or 0, 0]

"""Messages of AMD's tools when a capture goes wrong, recognised by one declared table (messages.toml).

The text comes from programs of strangers: it may hold any bytes, gigabytes of them, and commands for terminals. Only
its two ends are looked at, and only texts are searched for: no pattern that could take long.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from wavewright.base.shown import printable
from wavewright.base.words import shortened
from wavewright.capture.judgement import Cause, Verdict
from wavewright.facts.loader import packaged

TEXT_BYTES_MAX = 2 << 20  #: Of each end of a text; what stops a run is at its beginning or at its end.
LINE_CHARACTERS_MAX = 240  #: Of a line that is shown.
_LINE_CHARACTERS_READ = 16 << 10  #: Of a line that is looked at.
_HITS_MAX = 100_000  #: Of one text: a program may print the same line for ever.
_OTHER_FATAL = 98  #: The row for fatal log lines that fit no other row.
_CRASH, _ATTACHED = 12, 42  #: Rows that print nothing: a crash, and a variable that prepares for attaching.
_CRASH_STATUSES = frozenset({-11, 139})  #: SIGSEGV, as Python and as a shell tell it.

# spec 3.7: glog until ROCm 7.2 (a date of eight digits), Abseil from 7.13 on (four).
_LOG_LINE = re.compile(
    r"([IWEF])(?:\d{8}|\d{4}) \d{2}:\d{2}:\d{2}\.\d{1,9} +\d{1,20} [^\s:\]]{1,300}:\d{1,9}\] ?(.*)", re.DOTALL
)
# Commands for terminals: colours and moves (CSI), titles and links (OSC, ended by BEL or ESC \), two-letter ones.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?|[@-Z\\^_])")
_LINE_END = re.compile(r"[\r\n]")


class LogLine(NamedTuple):
    """A line of rocprofv3's log."""

    level: str  #: I, W, E or F.
    text: str


@dataclass(frozen=True, kw_only=True)
class Message:
    """A row of messages.toml, which explains its keys."""

    number: int
    level: str
    seen: tuple[str, ...]
    cause: str
    remedy: str
    sign: str = ""
    hang: str = ""  #: What was captured when it did not end; empty = it is no known hang.
    releases: tuple[str, ...] = ()  #: Of rocprofiler-sdk, that are known to do this.
    verdict: Verdict | None = None


class _Form(NamedTuple):
    """One text of a row, cut at what may be anything."""

    number: int
    pieces: tuple[str, ...]
    is_at_start: bool

    def fits(self, text: str) -> bool:
        end = 0  # of the piece before
        for number, piece in enumerate(self.pieces):
            place = text.find(piece, end)
            if place < 0 or (self.is_at_start and number == 0 and place != 0):
                return False
            end = place + len(piece)
        return True


@cache
def messages() -> Mapping[int, Message]:
    """The rows of the table by their numbers."""
    declared = packaged("messages.toml", __package__)["message"]
    return {row["number"]: msgspec.convert(row, Message) for row in declared}


@cache
def _forms() -> tuple[_Form, ...]:
    """All texts of all rows, the longest first: of those that fit a line it is the most precise."""
    forms = [
        _Form(row.number, tuple(text.removeprefix("^").split("…")), text.startswith("^"))
        for row in messages().values()
        for text in row.seen
    ]
    return tuple(sorted(forms, key=lambda form: -sum(map(len, form.pieces))))


def log_line(line: str) -> LogLine | None:
    """The parts of a line of rocprofv3's log; None = it is none."""
    match = _LOG_LINE.match(line)
    return LogLine(match[1], match[2]) if match else None


def without_commands(text: str) -> str:
    """A text without what would command a terminal."""
    return _TERMINAL.sub("", text) if "\x1b" in text else text


def recognised(text: str) -> tuple[Cause, ...]:
    """The rows of the table for a text: one cause per row that occurs, fatal ones first, then in the order of the text.

    Lines that a good run prints too (`Opened result file`, with the level of an error) are none.
    """
    if len(text) > 2 * TEXT_BYTES_MAX:
        text = f"{text[:TEXT_BYTES_MAX]}\n{text[-TEXT_BYTES_MAX:]}"
    text = without_commands(text)
    hits: dict[int, tuple[int, str, int]] = {}  # number of the row -> place of its first line, that line, count
    for place, line in _lines_with_hits(text):
        parsed = log_line(line)
        if parsed is not None and parsed.level == "I":
            continue  # said in passing, as "being destroyed with thread trace active" in a mode that expects it
        message = parsed.text if parsed else line
        number = next((form.number for form in _forms() if form.fits(message)), None)
        if number is None and parsed is not None and parsed.level == "F":
            number = _OTHER_FATAL
        if number is not None:
            first, first_line, count = hits.get(number, (place, line, 0))
            hits[number] = (first, first_line, count + 1)
    # Fatal messages and those of the script (F, S) tell why a run ended.
    in_order = sorted(hits.items(), key=lambda hit: (messages()[hit[0]].level not in "FS", hit[1][0]))
    return tuple(cause_of(number, line, count) for number, (_, line, count) in in_order)


def ends_of(path: Path) -> str:
    """Both ends of a file as text, at most TEXT_BYTES_MAX each; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            first = file.read(TEXT_BYTES_MAX)
            size_bytes = file.seek(0, 2)
            if size_bytes > len(first):
                file.seek(max(len(first), size_bytes - TEXT_BYTES_MAX))
                first += b"\n" + file.read(TEXT_BYTES_MAX)
    except OSError:
        return ""
    return first.decode("utf-8", "replace")


def cause_of(number: int, line: str = "", count: int = 1) -> Cause:
    """The cause that a row stands for; `line` is what was printed."""
    row = messages()[number]
    return Cause(number=number, line=printable_line(line), cause=row.cause, remedy=row.remedy, count=count)


def printable_line(line: str) -> str:
    """A line from a program as it can be shown: no commands, no control characters, shortened."""
    return printable(shortened(without_commands(line).strip(), LINE_CHARACTERS_MAX))


def causes_of_command(status: int | None, variables: Mapping[str, str]) -> tuple[Cause, ...]:
    """Rows that print nothing and show in how a program ended, and in its variables."""
    causes = [cause_of(_CRASH, f"status {status}")] if status in _CRASH_STATUSES else []
    if variables.get("ROCP_TOOL_ATTACH", "0") not in ("", "0"):
        causes.append(cause_of(_ATTACHED, "ROCP_TOOL_ATTACH"))
    return tuple(causes)


def causes_of_hang(names: Collection[str]) -> tuple[Cause, ...]:
    """Known hangs of what was captured."""
    return tuple(cause_of(row.number, "known hang") for row in messages().values() if row.hang in names)


def trouble_of_release(sdk: str) -> Message | None:
    """The known trouble of a release of rocprofiler-sdk; None = none is known."""
    return next((row for row in messages().values() if sdk in row.releases), None)


def _lines_with_hits(text: str) -> Iterator[tuple[int, str]]:
    """Lines with some text of the table, and fatal log lines; each once, with its place."""
    starts: set[int] = set()
    for place in _places(text):
        least = max(0, place - _LINE_CHARACTERS_READ)
        start = max(text.rfind("\n", least, place), text.rfind("\r", least, place)) + 1
        if start or least == 0:  # else the line is longer than any message
            starts.add(start)
    for start in sorted(starts):
        end = _LINE_END.search(text, start, start + _LINE_CHARACTERS_READ)
        yield start, text[start : end.start() if end else start + _LINE_CHARACTERS_READ]


def _places(text: str) -> Iterator[int]:
    for longest_piece in {max(form.pieces, key=len) for form in _forms()}:
        place = -1
        for _ in range(_HITS_MAX):
            place = text.find(longest_piece, place + 1)
            if place < 0:
                break
            yield place
    for match in re.finditer(r"(?:^|[\r\n])F\d{4}", text):
        yield match.end() - 1

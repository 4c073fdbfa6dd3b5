#!/usr/bin/env python3
"""Record what every question answers about captures, as text, JSON and --brief, and compare two such records.

usage: .venv/bin/python tools/record_answers.py RECORD PATH...     write or go on with a record
       .venv/bin/python tools/record_answers.py --compare A B      what is not the same in two records

For changes that must leave every number as it is: record at the commit before and at the one after, each with the
Python of its own tree, and compare. A PATH is a capture, or a folder below which captures are looked for; name it alike
both times.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
import zlib
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.cli.in_process import call  # noqa: E402
from tools.check_consistency import captures_below  # noqa: E402
from wavewright.questions.catalog import QUESTIONS  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMS = ("text", "--json", "--brief")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_SHOWN_LINES = 6


def main(arguments: list[str]) -> int:
    """Record or compare; 1 = two records differ."""
    if arguments[:1] == ["--compare"] and len(arguments) == 3:
        return compare(*map(Path, arguments[1:]))
    if len(arguments) < 2 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    record(Path(arguments[0]), arguments[1:])
    return 0


def record(out: Path, paths: list[str]) -> None:
    """Add what is not yet in the record, capture by capture."""
    with sqlite3.connect(out) as database:
        database.execute("create table if not exists answers (name text primary key, answer blob)")
        for path in paths:
            for place, kind in captures_below(Path(path)):
                for verb in sorted({"info", "diagnose", *QUESTIONS[kind]}):
                    for form in FORMS:
                        name = f"{verb} {form} {place}"
                        if not database.execute("select 1 from answers where name = ?", [name]).fetchone():
                            database.execute("insert into answers values (?, ?)", [name, _answer(verb, form, place)])
                database.commit()
                print(f"{place}: {kind}", flush=True)


def _answer(verb: str, form: str, place: Path) -> bytes:
    outcome = call(verb, place, *([] if form == "text" else [form]))
    return zlib.compress(f"status {outcome.status}\n{outcome.stdout}\n{outcome.stderr}".encode())


def compare(before: Path, after: Path) -> int:
    """Print which answers differ, with their first lines that do."""
    old, new = dict(_answers(before)), dict(_answers(after))
    changes = sorted(name for name in old.keys() & new.keys() if old[name] != new[name])
    for name in changes:
        print(name)
        pieces = (_lines(answers[name]) for answers in (old, new))
        lines = [line for line in unified_diff(*pieces, "before", "after", n=0, lineterm="") if line[:2] != "@@"]
        print(*(f"    {line[:200]}" for line in lines[2 : 2 + _SHOWN_LINES]), sep="\n")
    both, only_count = old.keys() & new.keys(), len(old.keys() ^ new.keys())
    value_count = sum(len(_NUMBER.findall(old[name])) for name in both)
    print(f"{len(both)} answers with {value_count} numbers in both, {len(changes)} differ; {only_count} in one only")
    return 1 if changes or only_count else 0


def _answers(path: Path) -> Iterator[tuple[str, bytes]]:
    with sqlite3.connect(path) as database:
        for name, answer in database.execute("select name, answer from answers"):
            yield name, zlib.decompress(answer)


def _lines(answer: bytes) -> list[str]:
    """Lines of an answer; JSON is laid out, so that a difference has a line of its own."""
    text = answer.decode()
    body = text.partition("\n")[2]
    try:
        return json.dumps(json.loads(body), indent=1).splitlines()
    except ValueError:
        return text.splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

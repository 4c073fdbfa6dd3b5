"""tools/check_words.py sees forbidden words and names, and lets code, outputs and good names pass."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.kit.together import together

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
check_words = import_module("check_words")

GLOSSARY = """\
| word | meaning | not |
|---|---|---|
| interval | a connected part of time | `stretch` |
| run | one execution of an application | `profile`, recording |
"""
PATTERN: re.Pattern[str] = check_words.forbidden(GLOSSARY)
PATH = Path("page")


def words(hits: Iterable[Any]) -> list[tuple[str, int, str]]:
    return [(hit.rule, hit.line, hit.word) for hit in hits]


def test_the_glossary_decides_what_is_forbidden() -> None:
    assert PATTERN.findall("Stretches, stretched; a profile, profilers, a recording") == ["Stretches", "profile"]


def test_prose_counts_and_code_does_not() -> None:
    page = "A stretch of time.\n`stretch` and [a link](profile.md)\n```console\n$ a stretch\n```\nThis is no profile.\n"
    assert words(check_words.in_markdown(PATH, page, PATTERN)) == [("docs", 1, "stretch"), ("docs", 6, "is no profile")]


def test_generated_pages_do_not_count() -> None:
    page = "# Tables\n\n<!-- made by tools/make_table_docs.py -->\n\nA stretch of time.\n"
    assert words(check_words.in_markdown(PATH, page, PATTERN)) == []


def test_first_lines_of_docstrings_messages_and_names_count() -> None:
    code = '''\
def longest(one: int, gap_ns: int = 0):  # "an odd quote: a stretch
    """The stretch.

    A profile in the second line does not count.
    """
    for mine, row in ():
        found = f"no profile at {row}"
        print("stretch", known=found)
    return one
'''
    assert words(check_words.in_python(PATH, code, PATTERN)) == [
        ("docstrings", 2, "stretch"),
        ("strings", 7, "profile"),
        ("names", 1, "one"),
        ("names", 6, "mine"),
        ("names", 7, "found"),
    ]


@together(
    "sentence, hits",
    [
        ("code.json is no JSON", ["is no JSON"]),
        ("there is no timeline; it is no longer here", []),
        ("2 waves in all, so many", ["in all", "so many"]),
        ("the same in all channels", []),
        ("the file that stands beside it, behind the end", ["stands beside", "behind the end"]),
    ],
)
def test_phrases(sentence: str, hits: list[str]) -> None:
    assert PATTERN.findall(sentence) == hits


def test_strings_of_the_page_count() -> None:
    code = 'const stretch = 1;\nconst title = "A stretch of time";\n'
    assert words(check_words.in_strings("page", PATH, code, PATTERN)) == [("page", 2, "stretch")]


def test_all_folders_are_looked_at(tmp_path: Path) -> None:
    for name, text in {
        "docs/reference/glossary.md": GLOSSARY,
        "docs/page.md": "a stretch",
        "README.md": "a profile",
        "src/code.py": "known = 1\n",
        "src/facts.toml": 'about = "a stretch"\n',
        "web/src/view.tsx": 'const text = "a stretch";\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [(hit.rule, hit.path.name) for hit in check_words.check(tmp_path)] == [
        ("docs", "page.md"),
        ("docs", "README.md"),
        ("names", "code.py"),
        ("strings", "facts.toml"),
        ("page", "view.tsx"),
    ]

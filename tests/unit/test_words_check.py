"""tools/check_words.py sees forbidden words and names, and lets code, outputs and good names pass."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

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


def test_first_lines_of_docstrings_and_messages_count() -> None:
    code = '''\
def longest(row: int, gap_ns: int = 0):  # "an odd quote: a stretch
    """The stretch.

    A profile in the second line does not count.
    """
    print("stretch", f"no profile at {row}")
'''
    assert words(check_words.in_python(PATH, code, PATTERN)) == [
        ("docstrings", 2, "stretch"),
        ("strings", 6, "profile"),
    ]


def test_names_without_a_noun_count() -> None:
    code = """\
def longest(one: int, gap_ns: int = 0, *, _wanted=None):
    for mine, row in ():
        found = joined = rows_found = sorted_rows = is_signed = speed = token = string = heading = row
        print(known=found)
    return [what for what in joined if (seen := what)]
"""
    assert words(check_words.in_speech(PATH, code, "base")) == [
        ("names", 1, "one"),
        ("names", 1, "_wanted"),
        ("names", 2, "mine"),
        ("names", 3, "found"),
        ("names", 3, "joined"),
        ("names", 5, "what"),
        ("names", 5, "seen"),
    ]


def test_docstrings_that_open_with_a_question_word_count() -> None:
    code = '''\
"""Whether a file can be read."""
class Kind:
    """Why: because of it."""
    def name(self):
        """The name.

        What follows does not count.
        """
        return """Which is no docstring."""
'''
    assert words(check_words.in_speech(PATH, code, "base")) == [
        ("openings", 1, "Whether a file can be read."),
        ("openings", 2, "Why: because of it."),
    ]


@together(
    "name, count",
    [("taking", 1), ("stored", 1), ("_gone", 1), ("values_found", 1), ("kept_values", 0), ("listing", 0), ("seed", 0)],
)
def test_modules_named_by_participles_count(name: str, count: int) -> None:
    assert len([*check_words.in_speech(Path(f"{name}.py"), "", "base")]) == count


def test_numbers_of_a_room_only_go_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = tmp_path / "words.toml"
    limits.write_text("nouns = []\n\n[allowed.names] # of values\nbase = 3\ncli = 1 # few\n", encoding="utf-8")
    monkeypatch.setattr(check_words, "LIMITS", limits)
    check_words.lower_limits(Counter({("names", "base"): 4}))
    expected = "nouns = []\n\n[allowed.names] # of values\nbase = 3\ncli = 0 # few\n"
    assert limits.read_text(encoding="utf-8") == expected


def test_lines_written_since_the_numbers_changed_are_new(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    limits, module = tmp_path / "words.toml", tmp_path / "module.py"
    subprocess.run([*git, "init", "-q"], check=True)
    limits.write_text("base = 1\n")
    module.write_text("first = 1\nsecond = 2\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "numbers"], check=True)
    module.write_text("first = 1\nadded = 3\nsecond = 2\n")
    (tmp_path / "other.py").write_text("more = 4\n")
    new = check_words.new_lines(tmp_path, limits)
    assert (module, 2) in new and (tmp_path / "other.py", 1) in new
    assert not {(module, 1), (module, 3)} & new


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
        "src/wavewright/base/code.py": "class Kind:\n    known = 1\n",
        "src/wavewright/other.py": "class Kind:\n    pass\n",
        "tools/make.py": "made = 1\n",
        "src/facts.toml": 'about = "a stretch"\n',
        "web/src/view.tsx": 'const text = "a stretch";\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert [(hit.rule, hit.path.name, hit.room) for hit in check_words.check(tmp_path)] == [
        ("docs", "page.md", "all"),
        ("docs", "README.md", "all"),
        ("names", "code.py", "base"),
        ("names", "make.py", "tools"),
        ("classes", "code.py", "all"),
        ("strings", "facts.toml", "all"),
        ("page", "view.tsx", "all"),
    ]

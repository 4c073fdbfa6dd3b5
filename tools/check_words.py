"""Look for words that the glossary rules out, and for names that do not say what a value is.

docs/reference/glossary.md is the authority: words in code font in its column "not" are forbidden. Each rule has a
number of hits that are still allowed; it only goes down. `--list RULE` prints every hit of a rule.

usage: check_words.py [--list RULE]
"""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {"docs": 0, "strings": 8, "docstrings": 8, "page": 11, "names": 10, "subjects": 0}

# Participles and pronouns: they say what happened to a value, or whose it is, not what it is.
NAMES = frozenset({"found", "known", "told", "said", "made", "mine", "own", "one", "kept", "held"})
# Turns of phrase that are not English of this field; single words belong into the glossary.
PHRASES = (
    r"(?<!there )(?:is|are|was|were) no (?!longer\b|more\b|less\b|later\b|earlier\b|need\b)\w+",
    r"(?:stand|stands|lie|lies) beside\b",
    r"behind (?:the end|it\b|them\b|each other)",
    r"so many\b(?! that)",
    r"in all(?=[.,;:)]|$)",
    r"whole numbers?\b",
    r"once more\b",
    r"any more\b",
    r"mend(?:s|ed)?\b",
)
MAX_SUBJECT_CHARACTERS = 72
SUBJECTS_LOOKED_AT = 20
HITS_SHOWN = 20

_ROW = re.compile(r"^\|[^|]*\|.*\|([^|]*)\|$")
_CODE = re.compile(r"`([^`]+)`")
_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`[^`\n]*`|\]\([^)\s]*\)")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)* (?:[^`\\\n]|\\.)*`')
# Comments come first: a quote in one starts no string. Strings in triple quotes count as docstrings.
_PYTHON_STRING = re.compile(
    r'#[^\n]*|"""(?P<long>.*?)"""|"(?P<short>(?:[^"\\\n]|\\.)*)"|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'', re.DOTALL
)
_NAME = re.compile(rf"\b(?:{'|'.join(sorted(NAMES))})\b\s*(?:[=,:)]|in\b)")
_GENERATED = "<!-- made by tools/"


class Hit(NamedTuple):
    """One use of a forbidden word or name."""

    rule: str
    path: Path
    line: int
    word: str


def forbidden(glossary: str) -> re.Pattern[str]:
    """A pattern of the words that a glossary rules out, in singular and plural, and of `PHRASES`."""
    columns = (match[1] for line in glossary.splitlines() if (match := _ROW.match(line)))
    words = sorted({word for column in columns for word in _CODE.findall(column)})
    plain = [rf"{re.escape(word)}(?:e?s)?\b" for word in words]
    return re.compile(rf"\b(?:{'|'.join([*plain, *PHRASES])})", re.IGNORECASE)


def in_markdown(path: Path, text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Words in the prose of a page: code, outputs, link targets and the column of forbidden words do not count."""
    if _GENERATED in text[:400]:
        return
    prose = _INLINE.sub(_blank, _FENCED.sub(_blank, text))
    for number, line in enumerate(prose.splitlines(), 1):
        for match in pattern.finditer(line):
            yield Hit("docs", path, number, match[0])


def in_python(path: Path, text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Words in first lines of docstrings and in other strings with a space; forbidden names of values."""
    for string in _PYTHON_STRING.finditer(text):
        docstring, short = string["long"], string["short"] or string["single"]
        prose = short if docstring is None else docstring.strip().partition("\n")[0]
        if prose and " " in prose:
            for match in pattern.finditer(_INLINE.sub(_blank, prose)):
                rule = "strings" if docstring is None else "docstrings"
                yield Hit(rule, path, text.count("\n", 0, string.start()) + 1, match[0])
    if _NAME.search(text):  # parsing is most of the time
        for node in ast.walk(ast.parse(text)):
            name = (
                node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else getattr(node, "arg", "")
            )
            if name in NAMES and not isinstance(node, ast.keyword):
                yield Hit("names", path, getattr(node, "lineno", 0), name)


def in_strings(rule: str, path: Path, text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Words in quoted strings with a space, of TypeScript or TOML."""
    for number, line in enumerate(text.splitlines(), 1):
        for string in _QUOTED.finditer(line):
            for match in pattern.finditer(string[0]):
                yield Hit(rule, path, number, match[0])


def long_subjects(root: Path) -> Iterator[Hit]:
    """The last commits whose subject is too long; none where there is no history."""
    command = ["git", "-C", str(root), "log", f"-{SUBJECTS_LOOKED_AT}", "--no-merges", "--format=%h %s"]
    log = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    for commit, _, subject in (line.partition(" ") for line in log.splitlines()):
        if len(subject) > MAX_SUBJECT_CHARACTERS:
            yield Hit("subjects", Path(commit), len(subject), subject)


def check(root: Path) -> list[Hit]:
    """All hits below a root folder."""
    glossary = root / "docs" / "reference" / "glossary.md"
    pattern = forbidden(glossary.read_text(encoding="utf-8"))
    hits = list(long_subjects(root))
    for path in [*sorted((root / "docs").rglob("*.md")), root / "README.md"]:
        if path != glossary and path.is_file():
            hits += in_markdown(path, path.read_text(encoding="utf-8"), pattern)
    for path in sorted((root / "src").rglob("*.py")):
        hits += in_python(path, path.read_text(encoding="utf-8"), pattern)
    for path in sorted((root / "src").rglob("*.toml")):
        hits += in_strings("strings", path, path.read_text(encoding="utf-8"), pattern)
    for path in sorted((root / "web" / "src").rglob("*.ts*")):
        hits += in_strings("page", path, path.read_text(encoding="utf-8"), pattern)
    return hits


def main() -> int:
    """Compare the number of hits of each rule with what is allowed; 1 when one is above."""
    gc.disable()  # trees are many small objects, all in use or gone at once
    hits = check(ROOT)
    if sys.argv[1:2] == ["--list"]:
        print(*(_line(hit) for hit in hits if hit.rule in sys.argv[2:]), sep="\n")
        return 0
    counts = Counter(hit.rule for hit in hits)
    for rule, allowed in ALLOWED.items():
        if counts[rule] > allowed:
            print(f"{rule}: {counts[rule]} hits, {allowed} allowed; check_words.py --list {rule} prints all")
            print(*(f"  {_line(hit)}" for hit in [hit for hit in hits if hit.rule == rule][:HITS_SHOWN]), sep="\n")
        elif counts[rule] < allowed:
            print(f"{rule}: {counts[rule]} hits; lower ALLOWED[{rule!r}] from {allowed}")
    return int(any(counts[rule] > allowed for rule, allowed in ALLOWED.items()))


def _line(hit: Hit) -> str:
    path = hit.path.relative_to(ROOT) if hit.path.is_relative_to(ROOT) else hit.path
    return f"{path}:{hit.line}: {hit.word}"


def _blank(match: re.Match[str]) -> str:
    """Spaces of the same length; lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match[0])


if __name__ == "__main__":
    sys.exit(main())

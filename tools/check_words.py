"""Look for words that the glossary rules out, and for names and docstrings that do not say what a thing is.

docs/reference/glossary.md is the authority for words: those in code font in its column "not" are forbidden. Names,
docstrings and modules are judged by part of speech: a bare participle, pronoun or question word says what happened to
a value, or that something is asked, not what the value is. tools/words.toml has the irregular words, and how many hits
of a rule each room may still have; the numbers only go down. Where there are more, hits in lines that were written
since the numbers last changed are printed first. `--list` prints hits, `--lower` takes over lower numbers.

usage: check_words.py [--list RULE [ROOM] | --lower]
"""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
LIMITS = Path(__file__).with_name("words.toml")
_DECLARED = tomllib.loads(LIMITS.read_text(encoding="utf-8"))
ALLOWED: dict[str, dict[str, int]] = _DECLARED["allowed"]
# Words by part of speech, where endings do not tell it.
NOUNS, PARTICIPLES, PRONOUNS = (frozenset(_DECLARED[name]) for name in ("nouns", "participles", "pronouns"))
QUESTION_WORDS = frozenset(_DECLARED["question_words"])
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
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|en|ing)")
_CLASS = re.compile(r"\s*class (\w+)\b")
_NEW_PART = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
_GENERATED = "<!-- made by tools/"


class Hit(NamedTuple):
    """One use of a forbidden word or name."""

    rule: str
    path: Path
    line: int
    word: str
    room: str = "all"


def is_participle(word: str) -> bool:
    """True if a lower-case word is a participle or gerund, and not a noun that looks like one."""
    return word in PARTICIPLES or (word not in NOUNS and _PARTICIPLE.fullmatch(word) is not None)


def says_nothing(name: str) -> bool:
    """True if a name is a single participle, pronoun or question word, which needs a noun after it."""
    word = name.strip("_").lower()
    return is_participle(word) or word in PRONOUNS or word in QUESTION_WORDS


def room_of(path: Path) -> str:
    """The folder of the package that a module is in; `base` for modules beside the folders; else the top folder."""
    parts = path.parts
    if parts[:2] == ("src", "wavewright"):
        return parts[2] if len(parts) > 3 else "base"
    return parts[0]


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
    """Words in first lines of docstrings and in other strings with a space."""
    for string in _PYTHON_STRING.finditer(text):
        docstring, short = string["long"], string["short"] or string["single"]
        prose = short if docstring is None else docstring.strip().partition("\n")[0]
        if prose and " " in prose:
            for match in pattern.finditer(_INLINE.sub(_blank, prose)):
                rule = "strings" if docstring is None else "docstrings"
                yield Hit(rule, path, text.count("\n", 0, string.start()) + 1, match[0])


def in_speech(path: Path, text: str, room: str) -> Iterator[Hit]:
    """Names of values and of the module, and first words of docstrings, that are the wrong part of speech."""
    if is_participle(path.stem.strip("_").rpartition("_")[2]):
        yield Hit("modules", path, 1, path.stem, room)
    for node in ast.walk(ast.parse(text)):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
            name = node.arg if isinstance(node, ast.arg) else node.id
            if says_nothing(name):
                yield Hit("names", path, line, name, room)
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            opening = (ast.get_docstring(node, clean=False) or "").strip().partition("\n")[0]
            if opening.partition(" ")[0].lower().rstrip(",:") in QUESTION_WORDS | {"that"}:
                yield Hit("openings", path, line, opening, room)


def repeated_classes(paths: Iterable[Path]) -> Iterator[Hit]:
    """Classes whose name another class of the package has, each name once."""
    places: dict[str, list[tuple[Path, int]]] = {}
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := _CLASS.match(line):
                places.setdefault(match[1], []).append((path, number))
    for name, definitions in sorted(places.items()):
        if len(definitions) > 1:
            yield Hit("classes", *definitions[0], f"{name}: {len(definitions)}")


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
    sources = sorted((root / "src").rglob("*.py"))
    for path in sources:
        hits += in_python(path, path.read_text(encoding="utf-8"), pattern)
    for path in [*sources, *(path for folder in ("synth", "tools") for path in sorted((root / folder).rglob("*.py")))]:
        hits += in_speech(path, path.read_text(encoding="utf-8"), room_of(path.relative_to(root)))
    hits += repeated_classes(sources)
    for path in sorted((root / "src").rglob("*.toml")):
        hits += in_strings("strings", path, path.read_text(encoding="utf-8"), pattern)
    for path in sorted((root / "web" / "src").rglob("*.ts*")):
        hits += in_strings("page", path, path.read_text(encoding="utf-8"), pattern)
    return hits


def new_lines(root: Path, limits: Path) -> set[tuple[Path, int]]:
    """Lines written since the last commit of the limits, as git tells them, and those of files not tracked yet."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(root), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    lines = set()
    path = root
    since = git("log", "-1", "--format=%H", "--", str(limits)).strip()
    for line in git("diff", "--unified=0", "--no-prefix", since).splitlines() if since else ():
        if line.startswith("+++ "):
            path = root / line.removeprefix("+++ ")
        elif part := _NEW_PART.match(line):
            first, count = int(part[1]), int(part[2] or 1)
            lines |= {(path, number) for number in range(first, first + count)}
    for name in git("ls-files", "--others", "--exclude-standard").splitlines():
        text = (root / name).read_bytes()
        lines |= {(root / name, number) for number in range(1, text.count(b"\n") + 2)}
    return lines


def main() -> int:
    """Compare the number of hits of each rule and room with what is allowed; 1 when one is above."""
    gc.disable()  # trees are many small objects, all in use or gone at once
    hits = check(ROOT)
    if sys.argv[1:2] == ["--list"]:
        rule, *rooms = sys.argv[2:]
        print(*(_line(hit) for hit in hits if hit.rule == rule and (not rooms or hit.room in rooms)), sep="\n")
        return 0
    counts = Counter((hit.rule, hit.room) for hit in hits)
    if sys.argv[1:2] == ["--lower"]:
        lower_limits(counts)
        return 0
    status = 0
    for rule, room in sorted({*counts, *((rule, room) for rule, rooms in ALLOWED.items() for room in rooms)}):
        count, allowed = counts[rule, room], ALLOWED[rule].get(room, 0)
        if count > allowed:
            status = 1
            print(f"{rule} ({room}): {count} hits, {allowed} allowed; check_words.py --list {rule} {room} prints all")
            new = new_lines(ROOT, LIMITS)
            examples = [hit for hit in hits if (hit.rule, hit.room) == (rule, room)]
            examples.sort(key=lambda hit: (hit.path, hit.line) not in new)
            print(*(f"  {_line(hit)}" for hit in examples[:HITS_SHOWN]), sep="\n")
        elif count < allowed:
            print(f"{rule} ({room}): {count} hits, {allowed} allowed; check_words.py --lower takes over the number")
    return status


def lower_limits(counts: Counter[tuple[str, str]]) -> None:
    """Write the numbers of hits into tools/words.toml where they are below the limit."""
    lines, rule = [], ""
    for line in LIMITS.read_text(encoding="utf-8").splitlines():
        if section := re.match(r"\[allowed\.(\w+)\]", line):
            rule = section[1]
        elif rule and (limit := re.match(r"(\w+) = (\d+)", line)):
            line = f"{limit[1]} = {min(int(limit[2]), counts[rule, limit[1]])}{line[limit.end() :]}"
        lines.append(line)
    LIMITS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(hit: Hit) -> str:
    path = hit.path.relative_to(ROOT) if hit.path.is_relative_to(ROOT) else hit.path
    return f"{path}:{hit.line}: {hit.word}"


def _blank(match: re.Match[str]) -> str:
    """Spaces of the same length; lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match[0])


if __name__ == "__main__":
    sys.exit(main())

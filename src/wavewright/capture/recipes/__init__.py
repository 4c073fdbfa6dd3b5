"""Recipes: what to set, how to call it and what to beware of, per framework; declared in TOML files, one per recipe."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from wavewright.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class RecipeVariable:
    """A variable that the program needs."""

    name: str
    value: str  #: Empty if it is a fresh folder.
    is_fresh_folder: bool  #: A folder that is empty at the start.
    why: str


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to capture programs of one kind."""

    name: str
    title: str
    summary: str
    kind: str  #: Subcommand of capture.
    program: tuple[str, ...]  #: An example.
    launcher: tuple[str, ...]  #: What stands before wavewright; empty = nothing.
    options: tuple[str, ...]  #: Of the subcommand.
    variables: tuple[RecipeVariable, ...]
    advice: tuple[str, ...]

    def line(self, program: tuple[str, ...] = (), kind: str = "") -> str:
        """The command for a shell, in one line.

        Examples
        --------
        >>> recipe("hip").line(), recipe("hip").line(("./fft",), "discover")
        ('wavewright capture att -- ./gemm 4096', 'wavewright capture discover -- ./fft')
        """
        return " ".join(self.words(program, kind))

    def words(self, program: tuple[str, ...] = (), kind: str = "") -> list[str]:
        """The words of the command, quoted for a shell; fresh folders are made by it."""
        variables = []
        for variable in self.variables:
            folder = '"$(mktemp -d)"'
            value = folder if variable.is_fresh_folder else shlex.quote(variable.value)
            variables += ["--env", f"{variable.name}={value}"]
        words = [*self.launcher, "wavewright", "capture", kind or self.kind, *self.options]
        return [*map(shlex.quote, words), *variables, "--", *map(shlex.quote, program or self.program)]

    def jobs_file(self, program: tuple[str, ...] = ()) -> str:
        """A jobs file for `capture pool`, to be completed by its reader."""
        words = ", ".join(map(_quoted, program or self.program))
        lines = [f"# {self.title}: {self.summary}", "# Run it: wavewright capture pool THIS_FILE --gpus all", "#"]
        lines += [f"# {line}" for text in self.advice for line in _wrapped(text)]
        lines += ["", "[defaults]", f"kind = {_quoted(self.kind)}"]
        lines += [f"{_KEYS[option]} = {value}" for option, value in self._pairs() if option in _KEYS]
        if self.variables:
            lines += ["", "[defaults.env]"]
            for variable in self.variables:
                value = variable.value or f"fresh-{self.name}-cache"
                remark = f"{variable.why}{'; remove the folder before each run' if variable.is_fresh_folder else ''}"
                lines += [f"# {line}" for line in _wrapped(remark)]
                lines.append(f"{variable.name} = {_quoted(value)}")
        lines += ["", "[[job]]", f"name = {_quoted(self.name)}", f"program = [{words}]"]
        lines += ['# kernel = "part of its name"  # else the largest that is not a library\'s', "# launches = [7, 8]"]
        return "\n".join(lines) + "\n"

    def _pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.options[::2], self.options[1::2], strict=True))


#: Options of captures -> keys of jobs files.
_KEYS = {"--timeout": "seconds", "--grace": "grace_seconds"}
_TOP_LEVEL = frozenset({"title", "summary", "kind", "program", "launcher", "options", "variable", "advice"})
_COMMENT_WIDTH = 98


def recipe(name: str) -> Recipe:
    """The recipe of this name.

    Raises
    ------
    UsageError
        When there is none.
    """
    try:
        return recipes()[name]
    except KeyError:
        raise UsageError(f"there is no recipe {name[:40]!r}", advice=f"there are {', '.join(recipes())}") from None


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name, in alphabetical order.

    Examples
    --------
    >>> list(recipes())
    ['flydsl', 'hip', 'mpi', 'torch', 'triton', 'vllm']
    """
    entries = sorted(files(__package__).iterdir(), key=lambda entry: entry.name)
    texts = {entry.name.removesuffix(".toml"): entry for entry in entries if entry.name.endswith(".toml")}
    return {name: _recipe(name, entry.read_text("utf-8")) for name, entry in texts.items()}


def _recipe(name: str, text: str) -> Recipe:
    table = tomllib.loads(text)
    unknown = table.keys() - _TOP_LEVEL
    if unknown:
        raise ValueError(f"{name}.toml: unknown keys {sorted(unknown)}")
    return Recipe(
        name=name,
        title=table["title"],
        summary=table["summary"],
        kind=table["kind"],
        program=tuple(table["program"]),
        launcher=tuple(table.get("launcher", ())),
        options=tuple(table.get("options", ())),
        variables=tuple(
            RecipeVariable(
                name=variable["name"],
                value=variable.get("value", ""),
                is_fresh_folder=variable.get("is_fresh_folder", False),
                why=variable["why"],
            )
            for variable in table.get("variable", ())
        ),
        advice=tuple(advice["text"] for advice in table.get("advice", ())),
    )


def _quoted(text: str) -> str:
    """A text as TOML's basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{"".join(map(_control, escaped))}"'


def _control(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter


def _wrapped(text: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, _COMMENT_WIDTH, initial_indent="- ", subsequent_indent="  ", break_long_words=False)

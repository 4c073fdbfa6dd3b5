"""Classes of instructions, from one declared table per family (the TOML files beside this module)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wavewright.codeobj.targets import FAMILIES, family_of

_FOLDER = Path(__file__).parent
_NAMED_WAIT = re.compile(r"\b(\w+cnt)\((\d{1,9})\)")  # texts come from strangers: linear, and no number too long
_NUMBER = re.compile(r"\b(?:0x([0-9a-fA-F]{1,8})|(\d{1,9}))\s*$")
_CACHED_TEXTS = 1 << 16  #: Distinct mnemonics with operands whose class is cached.


@dataclass(frozen=True)
class InstructionClass:
    """A class of instructions.

    `counters` are the hardware counters that it adds to and gives back when it completes; `in_order` says whether
    instructions of this class complete in the order in which they were issued.
    """

    name: str
    counters: tuple[str, ...] = ()
    in_order: bool = True


class Wait(NamedTuple):
    """A counter, and the value it must have come down to."""

    counter: str
    value: int


class _Globs:
    """Glob patterns; words and prefixes of words, as most are, need no regular expression (slow to make)."""

    def __init__(self, patterns: list[str]) -> None:
        simple = [pattern for pattern in patterns if not any(c in pattern.removesuffix("*") for c in "*?[")]
        self._words = frozenset(pattern for pattern in simple if not pattern.endswith("*"))
        self._beginnings = tuple(pattern[:-1] for pattern in simple if pattern.endswith("*"))
        others = [translate(pattern) for pattern in patterns if pattern not in simple]
        self._others = re.compile("|".join(others)) if others else None

    def match(self, word: str) -> bool:
        if word in self._words or word.startswith(self._beginnings):
            return True
        return self._others is not None and self._others.match(word) is not None


@dataclass(frozen=True)
class _Rule:
    name: str
    mnemonics: _Globs
    operands: _Globs | None

    def matches(self, mnemonic: str, operands: str) -> bool:
        if not self.mnemonics.match(mnemonic):
            return False
        return self.operands is None or any(self.operands.match(word) for word in operands.replace(",", " ").split())


@dataclass(frozen=True)
class _Table:
    """The rules of a family, those it inherits behind its own; the first that matches counts."""

    rules: tuple[_Rule, ...] = ()
    ordered: dict[str, list[str]] = field(default_factory=dict)  #: Class that completes in order -> its counters.
    unordered: dict[str, list[str]] = field(default_factory=dict)  #: Class that need not -> its counters.
    #: Mnemonic of a wait -> its form: `zero` or `named` (counters), or `immediate` (counter, low_bit, bits of each).
    waits: dict[str, Any] = field(default_factory=dict)


def classify(text: str, family: str | None) -> InstructionClass:
    """Class of an instruction from its text, or from its mnemonic alone; `unknown` where no rule matches.

    Without a family ("gfx9", "gfx10", "gfx11", "gfx12", "gfx1250") all are tried one after the other.
    """
    mnemonic, _, operands = text.strip().partition(" ")
    for name in (family,) if family else FAMILIES:
        instruction_class = _classify(mnemonic, operands if name and _operands_matter(mnemonic, name) else "", name)
        if instruction_class.name != "unknown":
            return instruction_class
    return InstructionClass("unknown")


def waits_of(text: str, family: str) -> tuple[Wait, ...]:
    """The counters that an instruction waits for; empty for one that is not a wait.

    >>> waits_of("s_wait_loadcnt_dscnt 0x305", "gfx12")
    (Wait(counter='loadcnt', value=3), Wait(counter='dscnt', value=5))
    """
    mnemonic, _, operands = text.strip().partition(" ")
    form = _table(family).waits.get(mnemonic)
    if form is None:
        return ()
    if "zero" in form:
        return tuple(Wait(counter, 0) for counter in form["zero"])
    if "named" in form:
        counts = _NAMED_WAIT.findall(operands)
        return tuple(Wait(counter, int(value)) for counter, value in counts if counter in form["named"])
    number = _NUMBER.search(operands)
    if number is None:
        return ()
    immediate = int(number[1], 16) if number[1] else int(number[2])
    parts = form["immediate"]  # the bits of the immediate that each counter has
    return tuple(Wait(part["counter"], immediate >> part["low_bit"] & ((1 << part["bits"]) - 1)) for part in parts)


def classify_frame(code: pl.DataFrame, target: str | None) -> pl.DataFrame:
    """A frame with a `text` column, and a `class` column added to it."""
    family = family_of(target) if target else None
    texts = code["text"].drop_nulls().unique().to_list()
    names = [classify(text, family).name for text in texts]
    classes = pl.DataFrame({"text": texts, "class": names}, schema={"text": pl.String, "class": pl.String})
    frame = code.drop("class", strict=False).join(classes, on="text", how="left", maintain_order="left")
    return frame.with_columns(pl.col("class").fill_null("unknown"))


@lru_cache(maxsize=_CACHED_TEXTS)
def _classify(mnemonic: str, operands: str, family: str) -> InstructionClass:
    table = _table(family)
    name = next((rule.name for rule in table.rules if rule.matches(mnemonic, operands)), "unknown")
    counters = table.ordered.get(name) or table.unordered.get(name) or ()
    return InstructionClass(name, tuple(counters), in_order=name not in table.unordered)


@lru_cache(maxsize=_CACHED_TEXTS)
def _operands_matter(mnemonic: str, family: str) -> bool:
    return any(rule.operands and rule.mnemonics.match(mnemonic) for rule in _table(family).rules)


@lru_cache(maxsize=len(FAMILIES))
def _table(family: str) -> _Table:
    declaration = tomllib.loads((_FOLDER / f"{family}.toml").read_text(encoding="utf-8"))
    base = _table(declaration["inherits"]) if "inherits" in declaration else _Table()
    rules = [
        _Rule(rule["class"], _Globs(rule["match"]), _Globs(rule["operands"]) if "operands" in rule else None)
        for rule in declaration["rules"]
    ]
    return _Table(
        (*rules, *base.rules),
        base.ordered | declaration.get("ordered", {}),
        base.unordered | declaration.get("unordered", {}),
        base.waits | declaration.get("waits", {}),
    )

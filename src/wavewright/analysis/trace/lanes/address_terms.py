"""Addresses of a path as sums of terms: which of them differ between workgroups, and by how much.

Registers hold sums of products of symbols. Symbols are ids of workgroups, ids of work-items, kernel arguments, values
loaded from memory, and results of instructions that are neither sums nor products (the same operands give the same
symbol). High halves of 64-bit numbers are not followed: an address is told by its low half.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from wavewright.base.toml import packaged

WORKGROUP, WORK_ITEM, ARGUMENT, MEMORY = "workgroup", "work-item", "argument", "memory"
Terms = dict[tuple[str, ...], int]  #: Product of symbols -> factor; the empty product is the constant.

#: A sum of more terms, or with more factors in one of them, becomes one symbol: no address is made of more.
_MOST_TERMS, _MOST_FACTORS = 12, 4
_LARGEST: Final = 1 << 48  # bytes: addresses of GPUs have as many bits
_RANGE: Final = re.compile(r"(s|v|ttmp)\[(\d+):(\d+)\]")
_REGISTER: Final = re.compile(r"(s|v|ttmp)(\d+)")
_SUFFIX: Final = re.compile(r"_(e32|e64|dpp|sdwa)$")
#: Mnemonics -> the form of their result in the sources a, b and c.
_FORMS: Final = tuple((re.compile(pattern), form) for pattern, form in packaged("forms.toml", __package__)["forms"])


@dataclass
class Registers:
    """Terms of the registers of one wave, along its path."""

    #: Initial scalar registers whose role is certain: number -> symbol. Others that are no base of a scalar load are
    #: taken for ids of the workgroup, unless `is_complete`.
    roles: Mapping[int, str]
    is_complete: bool
    values: dict[str, Terms] = field(default_factory=dict)
    origins: dict[str, frozenset[str]] = field(default_factory=dict)  #: Symbol -> kinds it depends on.
    numbers: dict[object, str] = field(default_factory=dict)  #: Instruction and sources -> symbol of the result.
    workgroup_symbols: set[str] = field(default_factory=set)
    guesses: set[str] = field(default_factory=set)  #: Registers that are taken for ids of the workgroup.
    lanes_assumed: bool = False  #: Whether lanes are taken as active that nothing tells.
    strides_assumed: bool = False  #: Whether arguments are taken for strides of rows that do not overlap.

    def origins_of(self, terms: Terms) -> frozenset[str]:
        """The kinds of symbols (WORKGROUP, ARGUMENT, ...) that a sum depends on."""
        return frozenset().union(*(self.origins[symbol] for product in terms for symbol in product))

    def symbol(self, name: str, origins: frozenset[str]) -> Terms:
        """A sum that is one symbol."""
        self.origins.setdefault(name, origins)
        return {(name,): 1}

    def result(self, kind: str, sources: Sequence[Terms], origins: frozenset[str]) -> Terms:
        """A symbol for what an instruction gives; the same for the same sources."""
        key = (kind, *(frozenset(terms.items()) for terms in sources))
        return self.symbol(self.numbers.setdefault(key, f"result {len(self.numbers)}"), origins)

    def read(self, operand: str, *, is_base: bool = False) -> Terms:
        """Terms of the first register of an operand, or of a number."""
        name = _first_register(operand)
        if name is None:
            number = _number(operand)
            return {(): number} if number is not None else self.symbol(f"?{operand}", frozenset({ARGUMENT}))
        if name not in self.values:
            self.values[name] = self._initial(name, is_base=is_base)
        return self.values[name]

    def _initial(self, name: str, *, is_base: bool) -> Terms:
        if name.startswith("v"):
            return self.symbol(f"{name}@start", frozenset({WORK_ITEM}))
        number = int(_REGISTER.fullmatch(name)[2])  # type: ignore[index]
        role = self.roles.get(number) if name.startswith("s") else "workgroup x" if name == "ttmp9" else "workgroup yz"
        if role is None and not self.is_complete and not is_base:
            role = f"workgroup in {name}"
            self.guesses.add(name)
        if role is None or not role.startswith(WORKGROUP):
            return self.symbol(f"{name}@start", frozenset({ARGUMENT}))
        self.workgroup_symbols.add(role)
        return self.symbol(role, frozenset({WORKGROUP}))

    def execute(self, text: str, writes: str) -> None:
        """Follow one instruction that does not touch vector memory."""
        mnemonic, operands = split_text(text)
        targets = _expanded(writes)
        if mnemonic.startswith(("s_load", "s_buffer_load")) and len(operands) > 1:
            self._load_scalars(operands, targets)
            return
        if not targets:
            return
        sources = operands[1:]
        if len(operands) > 1 and operands[1] in ("vcc", "vcc_lo") and "_co_" in mnemonic:
            sources = operands[2:]  # the carry out
        elif mnemonic.startswith(("v_mad_u64", "v_mad_i64", "v_mad_co")):
            sources = operands[2:]
        result = self._result(mnemonic, operands[:1], sources)
        if result is None:
            terms = [self.read(source) for source in (operands if mnemonic.startswith("s_addc") else sources)]
            origins = frozenset().union(*map(self.origins_of, terms))
            result = self.result(mnemonic, terms, origins)
        elif _is_large(result):
            result = self.result("sum", [result], self.origins_of(result))
        self.values[targets[0]] = result
        for number, high in enumerate(targets[1:], 1):
            self.values[high] = self.result(f"part {number}", [result], self.origins_of(result))

    def load_vectors(self, row: int, position: int, writes: str) -> None:
        """Registers that a vector load fills."""
        for name in _expanded(writes):
            self.values[name] = self.symbol(f"loaded {row} {position} {name}", frozenset({MEMORY}))

    def _load_scalars(self, operands: Sequence[str], targets: Sequence[str]) -> None:
        places = [self.read(operand, is_base=True) for operand in operands[1:]]
        origins = frozenset().union(*map(self.origins_of, places))
        # arguments are the same for all workgroups; what is loaded by the id of a workgroup is not
        kinds = frozenset({ARGUMENT}) if origins <= {ARGUMENT} else origins | {MEMORY}
        for number, name in enumerate(targets):
            self.values[name] = self.result(f"load {number}", places, kinds)

    def _result(self, mnemonic: str, target: Sequence[str], sources: Sequence[str]) -> Terms | None:
        plain = _SUFFIX.sub("", mnemonic)
        for pattern, form in _FORMS:
            if match := pattern.fullmatch(plain):
                values = [self.read(source) for source in (*target[:1], *sources)] if form[0] == "d" else None
                return _evaluated(form, values or [self.read(source) for source in sources], match)
        return None


def _is_large(terms: Terms) -> bool:
    """True for what no address is made of: loops can multiply without end."""
    return len(terms) > _MOST_TERMS or any(len(p) > _MOST_FACTORS or abs(n) > _LARGEST for p, n in terms.items())


def split_text(text: str) -> tuple[str, list[str]]:
    """Mnemonic and operands; modifiers stay with the last operand.

    >>> split_text("global_load_dword v1, v[2:3], off offset:16")
    ('global_load_dword', ['v1', 'v[2:3]', 'off offset:16'])
    """
    mnemonic, _, operands = text.partition(" ")
    return mnemonic, [operand.strip() for operand in operands.split(",")] if operands.strip() else []


def added(first: Terms, second: Terms, factor: int = 1) -> Terms:
    """A sum of two sums, the second times a factor."""
    total = dict(first)
    for product, count in second.items():
        total[product] = total.get(product, 0) + factor * count
    return {product: count for product, count in total.items() if count}


def _multiplied(first: Terms, second: Terms) -> Terms:
    total: Terms = {}
    for head, count in first.items():
        for tail, times in second.items():
            product = tuple(sorted(head + tail))
            total[product] = total.get(product, 0) + count * times
    return {product: count for product, count in total.items() if count}


def _evaluated(form: str, values: Sequence[Terms], match: re.Match[str]) -> Terms | None:
    """The result of a form; None = a shift by a number that is not known. The destination of a `d` form comes first."""
    a, b, c = (*values, {}, {}, {})[:3]
    sums = {"a": (a, {}, 1), "a+b+c": (added(a, b), c, 1), "a-b": (a, b, -1), "b-a": (b, a, -1), "d+a": (a, b, 1)}
    if form in sums:
        return added(*sums[form])
    if form in ("a*b", "d*a", "a*b+c"):
        return added(_multiplied(a, b), c) if form.endswith("c") else _multiplied(a, b)
    shifts: dict[str, tuple[Terms, Terms, Terms]] = {  # what is shifted, by how many bits, and what is added behind
        "a<<b": (a, b, {}),
        "b<<a": (b, a, {}),
        "(a<<b)+c": (a, b, c),
        "(a+b)<<c": (added(a, b), c, {}),
        "(a<<n)+b": (a, {(): int(match[1])} if form == "(a<<n)+b" else {}, b),
    }
    value, bits, summand = shifts[form]
    if set(bits) - {()}:
        return None
    return added(_multiplied(value, {(): 1 << (bits.get((), 0) & 63)}), summand)


def _first_register(operand: str) -> str | None:
    word = operand.split(" ")[0]
    if match := _RANGE.fullmatch(word):
        return f"{match[1]}{match[2]}"
    return word if _REGISTER.fullmatch(word) else None


def _number(operand: str) -> int | None:
    try:
        return int(operand.split(" ")[0], 0)
    except ValueError:
        return None


def _expanded(writes: str) -> list[str]:
    """Register names of the column `writes` of code, scalar and vector ones.

    >>> _expanded("v[2:3] s7 vcc")
    ['v2', 'v3', 's7']
    """
    names = []
    for word in writes.split():
        if match := _RANGE.fullmatch(word):
            names += [f"{match[1]}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        elif _REGISTER.fullmatch(word):
            names.append(word)
    return names

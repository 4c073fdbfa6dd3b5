"""Compare the disassembler in the core with LLVM 22. The differences that are allowed stand here, each with a name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from tools.isa.judge_cases import LITERAL_CODES
from tools.isa.judge_llvm import DEATH, NONE, SOFT, WINDOW_BYTES, Answer, ask
from wavewright import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SPACING = 64  # between the addresses of windows
_EXAMPLES = 5
_INLINE = re.compile(r"(?<![\w\[:.])-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?)(?=[ |),]|$)")
_SELECTION = re.compile(r"dpp8:\[([\d,]+)\]")
_LITERAL = re.compile(r"\blit\((\w+)\)")
_CONTROL = re.compile(r"quad_perm:\[[\d,]+\]|dpp8:\[[\d,]+\]|/\* \w+ dpp_ctrl value \*/|row_\w+(?::\d+)?(?= row_mask)")
_CONSTANT = re.compile(r"-?(?:0x[0-9a-f]+|[\d.]+)/\*Invalid immediate\*/")
_DUAL_LITERAL = re.compile(r"(?<=, )0x[0-9a-f]+(?=,| ::|$)")
#: -16 to 64, and the nine floating-point numbers.
_CONSTANT_CODES = {*range(128, 209), *range(240, 249)}
#: Target without a column of its own -> what the nearest column has more.
_NOT_GENERIC = {"gfx9-generic": r"v_mad_mix", "gfx9-4-generic": r"v_(?:cvt|s?mfma?c?)_\w*(?:[fb]p?8|xf32)"}
_COMMENT_ON_REGISTER = re.compile(r"/\*Invalid register, operand has '\w+' register class\*/")
_COMMENT = re.compile(r"/\*Invalid (?:register, operand has '\w+' register class|immediate)\*/")


@dataclass(frozen=True)
class Case:
    """A window on which ours and LLVM differ."""

    column: str
    wave64: bool
    window: bytes
    ours: Answer
    llvm: Answer

    def __str__(self) -> str:
        wave = " wave64" if self.wave64 else ""
        return (
            f"{self.column}{wave} {self.window.hex()}\n      ours {self.ours.size} {self.ours.text}"
            f"\n      LLVM {self.llvm.size} {self.llvm.text}"
        )


@dataclass(frozen=True)
class Difference:
    """A class of differences that is allowed; docs/reference/disassembly-exceptions.md has the same names."""

    name: str
    holds: Callable[[Case], bool]


def _plain(answer: Answer) -> str:
    return _COMMENT.sub("", answer.text)


def _is_only_remark(case: Case) -> bool:
    return case.ours.size == case.llvm.size and _plain(case.ours) == _plain(case.llvm)


def _is_shifted_dpp(case: Case) -> bool:
    """LLVM takes a DPP control for a source, or a source for none: it counts operands before all are there."""
    words = case.llvm.text.split()
    is_mac = re.match(r"v_(?:dot\w+|fmac|mac)_\w+_e64_dpp$", words[0]) is not None
    is_packed = re.match(r"v_(?:fma_mix\w*|dot\w+|cvt_pk_\w+8_f32)_e64_dpp$", words[0]) is not None
    if case.ours.size == 0 or words[0] != case.ours.text.split()[0]:
        return False
    constants = (_without_constants(_plain(answer)) for answer in (case.ours, case.llvm))
    if is_mac and len(set(constants)) == 1:
        return True
    if not is_packed and _dpp8(case.ours.text) not in {*_CONSTANT_CODES, *LITERAL_CODES}:
        return False
    return _CONTROL.sub("C", _plain(case.ours)) == _CONTROL.sub("C", _plain(case.llvm))


def _without_constants(text: str) -> str:
    return _INLINE.sub("N", _LITERAL.sub(r"\1", text)).replace("neg(N)", "N")


def _dpp8(text: str) -> int:
    """The number of which `dpp8:[7,7,3,0,0,0,0,0]` are the digits, the lowest first; -1 without any."""
    match = _SELECTION.search(text)
    return sum(int(digit) << 3 * place for place, digit in enumerate(match[1].split(","))) if match else -1


def _is_foreign(case: Case) -> bool:
    """A word that code of a generic target does not have: it is read with the tables of one of its members."""
    return case.llvm.size == 0 and re.match(_NOT_GENERIC.get(case.column, "$"), case.ours.text) is not None


def _is_narrowed_constant(case: Case) -> bool:
    """A constant where matrices must be registers."""
    texts = case.ours.text, case.llvm.text
    return (
        all("_f8f6f4 " in text and "/*Invalid immediate*/" in text for text in texts)
        and len({_CONSTANT.sub("", _COMMENT_ON_REGISTER.sub("", text)) for text in texts}) == 1
    )


def _is_constant_code(case: Case) -> bool:
    """A literal of v_dual_fmaak or v_dual_fmamk that LLVM takes for the code of an inline constant."""
    if re.search(r"v_dual_fma[am]k_f32 ", case.ours.text) is None:
        return False
    codes = {int(word, 16) for word in _DUAL_LITERAL.findall(case.ours.text)}
    texts = {_DUAL_LITERAL.sub("N", _plain(answer)) for answer in (case.ours, case.llvm)}
    return case.ours.size == case.llvm.size and codes <= _CONSTANT_CODES and len(codes) == len(texts) == 1


def _is_reserved_selector(case: Case) -> bool:
    """SDWA with a reserved selector: what LLVM does then is undefined, and differs between machines."""
    ours, llvm = (_plain(answer) for answer in (case.ours, case.llvm))
    pattern = re.escape(ours).replace(r"_sel:\?", r"_sel:\w*")
    return "_sel:?" in ours and case.ours.size == case.llvm.size and re.fullmatch(pattern, llvm) is not None


ALLOWED = (
    Difference("LLVM dies", lambda case: case.llvm.text == DEATH),
    Difference("remark about an invalid operand", _is_only_remark),
    Difference("DPP operands that LLVM shifts", _is_shifted_dpp),
    Difference("reserved selector of SDWA", _is_reserved_selector),
    Difference("words of another target", _is_foreign),
    Difference("constant instead of a narrow matrix", _is_narrowed_constant),
    Difference("literal that is the code of a constant", _is_constant_code),
)


@dataclass
class Verdict:
    """Number of windows that were equal, and those that were not by the name of their class."""

    total: int = 0
    equal: int = 0
    none: int = 0
    allowed: Counter[str] = field(default_factory=Counter)
    differences: list[Case] = field(default_factory=list)

    def __str__(self) -> str:
        allowed = ", ".join(f"{name} {count}" for name, count in self.allowed.most_common())
        return (
            f"{self.total} windows: {self.equal} equal ({self.none} of them no instruction), "
            f"{len(self.differences)} different" + (f"; allowed: {allowed}" if allowed else "")
        )

    def examples(self) -> str:
        """Some differences of every mnemonic."""
        by_word: dict[str, list[Case]] = {}
        for case in self.differences:
            by_word.setdefault((case.ours.text if case.llvm.size == 0 else case.llvm.text).split(" ")[0], []).append(
                case
            )
        lines = []
        for word, cases in sorted(by_word.items(), key=lambda item: -len(item[1])):
            lines += [f"  {len(cases)} {word}", *(f"    {case}" for case in cases[:_EXAMPLES])]
        return "\n".join(lines)


def ours(column: str, windows: bytes, *, wave64: bool = False) -> list[Answer]:
    """Answers of the core about windows of `WINDOW_BYTES` each."""
    count = len(windows) // WINDOW_BYTES
    chunks = [(_SPACING * i, WINDOW_BYTES * i, WINDOW_BYTES * (i + 1), wave64) for i in range(count)]
    rows = pl.DataFrame(_core.disassemble(windows, chunks, column, operands=False).rows)
    first = rows.filter(pl.col("address") % _SPACING == 0).select("size", "text", "record")
    if len(first) != count:
        raise ValueError(f"{count} windows gave {len(first)} first rows")
    no_record = 0xFFFF
    return [
        Answer(0, NONE) if record == no_record else Answer(size, text)
        for size, text, record in zip(*first.get_columns(), strict=True)
    ]


def compare(target: str, windows: Iterable[bytes], *, wave64: bool = False, column: str = "") -> Verdict:
    """Ask both about windows; `column` is the nearest table column of a target that has none."""
    cases = list(windows)
    joined = b"".join(cases)
    answers = ours(column or target, joined, wave64=wave64)
    return judged(target, cases, answers, ask(target, joined, wave64=wave64), wave64=wave64)


def judged(column: str, windows: list[bytes], our: list[Answer], llvm: list[Answer], *, wave64: bool) -> Verdict:
    """Count equal answers, and name the others."""
    verdict = Verdict(len(windows))
    for window, from_core, theirs in zip(windows, our, llvm, strict=True):
        is_none = theirs.text in (NONE, SOFT) and theirs.size == 0
        if (from_core.size, from_core.text) == (theirs.size, theirs.text) or (is_none and from_core.size == 0):
            verdict.equal += 1
            verdict.none += is_none
            continue
        case = Case(column, wave64, window, from_core, theirs)
        name = next((difference.name for difference in ALLOWED if difference.holds(case)), None)
        if name is None:
            verdict.differences.append(case)
        else:
            verdict.allowed[name] += 1
    return verdict

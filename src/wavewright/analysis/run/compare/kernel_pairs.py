"""Renamed kernels: pairs of a kernel that is gone and a new one that resembles it by name, calls and grid."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from wavewright.analysis.run.calls.kernel_names import readable_names
from wavewright.facts.kernel_titles import kernel_title

_KERNELS_MAX = 200  #: Only this many kernels of a side are compared, those with most time: pairs are its square.
_CALL_RATIO_MIN = 0.5  #: Two kernels are not the same work if one has less than this share of the calls of the other.
_SHARED_WORDS_MIN = 0.8  #: Share of words that two names must have in common.
_CHARACTERS_COMPARED = 256  #: Of each name, from its begin: comparing letters takes quadratic time.
_WORD = re.compile(r"[A-Za-z$]+")
_TILE = re.compile(r"_MT\d+x\d+.*$", re.DOTALL)  #: Of Tensile: the size of a tile, and everything that is tuned.
_TEMPLATE_END = re.compile(r"[<>]")
#: Words of template arguments that a change of type or of a switch replaces; the work stays the same.
_TYPES = re.compile(
    "float|double|[hH]alf|[bB]?[fF]loat|bf|fp|u?int|long|unsigned|signed|short|char|bool|void|const|true|false|"
    "u|ul|ull|l|t|std|size|c|hip|e|m|fn|fnuz"
)


class KernelUse(NamedTuple):
    """Calls and time of a kernel in one side of a comparison."""

    name: str
    calls: float  #: Per unit.
    time_ns: float
    lanes: float | None  #: Mean size of the grid.


class _Name(NamedTuple):
    family: tuple[str, ...]  #: Words of the name without template arguments, tiles and numbers.
    arguments: tuple[str, ...]  #: Words of the template arguments, but for types.


def pairs_of(gone: Sequence[KernelUse], new: Sequence[KernelUse]) -> list[tuple[str, str]]:
    """Names of `gone` with the names of `new` that resemble them, one to one, the most alike first.

    Names are alike when they differ in template arguments that are numbers, types or switches, in sizes of tiles, or
    in a word that was added. Calls must be of similar number; sizes of grids decide between several.

    >>> gone = [KernelUse("bmm_64x64<64u, 8u>(int)", 150, 9e6, 5e5)]
    >>> pairs_of(gone, [KernelUse("bmm_128x128<128u, 16u>(int)", 150, 2e6, 1e5), KernelUse("copy", 150, 1e6, 5e5)])
    [('bmm_64x64<64u, 8u>(int)', 'bmm_128x128<128u, 16u>(int)')]
    """
    first, second = (sorted(uses, key=lambda use: (-use.time_ns, use.name))[:_KERNELS_MAX] for uses in (gone, new))
    names = {name: _parsed(text) for name, text in readable_names(use.name for use in (*first, *second)).items()}
    scored = [
        (-score, old.name, other.name)
        for old in first
        for other in second
        if (score := _likeness(old, other, names[old.name], names[other.name]))
    ]
    pairs: dict[str, str] = {}
    new_names: set[str] = set()
    for _, old_name, new_name in sorted(scored):
        if old_name not in pairs and new_name not in new_names:
            pairs[old_name] = new_name
            new_names.add(new_name)
    return list(pairs.items())


def _likeness(old: KernelUse, other: KernelUse, old_name: _Name, new_name: _Name) -> float:
    """Likeness of two kernels, from 0 to 1; 0 = they are not the same work."""
    calls = _ratio(old.calls, other.calls)
    if calls < _CALL_RATIO_MIN or old_name.arguments != new_name.arguments:
        return 0.0
    shared = _shared_words(old_name.family, new_name.family)
    if shared < _SHARED_WORDS_MIN:
        return 0.0
    grids = 1.0 if old.lanes is None or other.lanes is None else _ratio(old.lanes, other.lanes)
    texts = old.name[:_CHARACTERS_COMPARED], other.name[:_CHARACTERS_COMPARED]
    letters = SequenceMatcher(None, *texts, autojunk=False).ratio()
    return shared * (0.4 * letters + 0.4 * calls + 0.2 * grids)


def _shared_words(left: tuple[str, ...], right: tuple[str, ...]) -> float:
    """The share of words in common, where the longer name has all words of the shorter one in their order; else 0."""
    short, long = sorted((left, right), key=len)
    words = iter(long)
    if not short or not all(word in words for word in short):
        return 0.0
    return 2 * len(short) / (len(short) + len(long))


def _ratio(left: float, right: float) -> float:
    """The smaller number over the larger one."""
    low, high = sorted((left, right))
    return low / high if low > 0 else 0.0


def _parsed(name: str) -> _Name:
    """The words of a name: outside of template arguments, and those of the arguments that are not types.

    >>> _parsed("void at::native::reduce_kernel<512, at::native::MeanOps<float> >(int)")
    _Name(family=('at', 'native', 'reduce', 'kernel'), arguments=('at', 'native', 'MeanOps'))
    >>> _parsed("Cijk_Alik_Bljk_BBS_BH_MT256x128x64_MI16x16x1_SN").family
    ('Cijk', 'Alik', 'Bljk', 'BBS', 'BH')
    """
    title = _TILE.sub("", kernel_title(name))
    outside: list[str] = []
    inside: list[str] = []
    depth = start = 0
    for match in _TEMPLATE_END.finditer(title):
        (inside if depth else outside).append(title[start : match.start()])
        depth = max(depth + (1 if match[0] == "<" else -1), 0)
        start = match.end()
    (inside if depth else outside).append(title[start:])
    words = [word for part in inside for word in _WORD.findall(part) if not _TYPES.fullmatch(word)]
    return _Name(tuple(word for part in outside for word in _WORD.findall(part)), tuple(words))

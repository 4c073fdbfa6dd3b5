"""Readable names of kernels: demangled, and shortened to what tells a kernel from the others in a table.

`short_names` shortens in steps. Each name gets its shortest form that is its own (`_distinct_texts`: without lambdas,
without namespaces, without parameters, ...). A form that is too long becomes tokens: words, and what is between them.
The tokens of the function's name are its *head*; names of one head are *siblings*. Tokens are chosen by how much they
tell (`_order`) while they fit (`_cut`). What then is equal is cut again by its differences, at last numbered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, zip_longest

from wavewright.codeobj.names import demangle_all
from wavewright.facts.kernel_titles import kernel_title

_MANGLED = re.compile(r"_Z[A-Z0-9]")
_PART = re.compile(r"(\d{1,3})([A-Za-z_]\w*)")  #: An identifier in a mangled name, behind its length.
_NO_WORD = re.compile(r"[ST][0-9A-Z]*_|St|D[FB]\d+[_bx]|L[a-z]n?\d+E")  # references, types and numbers

_MAX_CHARACTERS = 4000  #: What a name has beyond this is cut off.
_WIDTH_MIN = 8  #: Characters of a short name, however few are asked for.
#: Namespaces that say nothing which the name itself does not say.
_NAMESPACES = re.compile(
    r"\b(?:at::native|at::detail|at::cuda|at|c10|std|binary_internal|memory|templates::cuda|legacy|modern"
    r"|ROCPRIM_\w+_NS|THRUST_\w+_NS|ck::tensor_layout::gemm|tensor_layout::gemm)::(?=[A-Za-z_(])"
)
_DETAIL = re.compile(r"\b(rocprim|thrust|cub)::detail::")
_LAMBDAS = re.compile(r"(?:::(?:\{lambda\(([^(){}]*)\)#\d+\}|operator\(\)\([^()]*\)(?: const)?))+")
_LOOP_LAMBDA = ("int", "int, bool", "int, int", "")  #: Parameters of lambdas that are only bodies of loops.
#: What stands around the functor that is computed: loops, and functors that fix an operand.
_WRAPPER = re.compile(r"\bgpu_kernel_impl(?:_nocast)?<|\b[AB]?(?:Unary|Binary)Functor<\w+, \w+, \w+, ")
_STORAGE = re.compile(r", (?:array<char\*, \d+\w*>|Array<char\*, \d+>|TrivialOffsetCalculator<[^<>]*>)")
_WORDS = re.compile(r"\w+|[^\w]+")
_PIECES = re.compile(r"_*[A-Za-z0-9]+|[^A-Za-z0-9_]+|_+")
_WORD = re.compile(r"\w")
#: Words that say what a kernel computes: tiles, functors, and the functions that elementwise kernels are made from.
_TELLING = re.compile(
    r"_*[A-Za-z]{0,2}\d+x\d+(?:x\d+)*|\w*(?:Functor|_kernel_(?:cuda|impl)|Op|Ops|KernelImpl|Fmha|Gemm)\w*"
)


def readable_names(names: Iterable[str]) -> dict[str, str]:
    """Recorded name -> demangled name; of a name that no demangler reads, the words that are in it.

    >>> readable_names(["_Z5saxpyfPKfPf.kd", "gemm"])
    {'_Z5saxpyfPKfPf.kd': 'saxpy(float, float const*, float*)', 'gemm': 'gemm'}
    >>> readable_names(["_ZN4vllm4mulkIN3c104HalfETnPFT_RKS3_EXadL_ZNS_4siluIS2_EES3_S5_EEEEvPS3_i"]).popitem()[1]
    'vllm::mulk<c10::Half, silu>'
    """
    return {name: _spelled_out(text) if _MANGLED.match(text) else text for name, text in demangle_all(names).items()}


def short_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Recorded name -> name of at most `width` characters (8 at least), in which it differs from the others.

    Return type, parameters, and namespaces of libraries are left out; what is then too long is cut in the middle: the
    function, its tile or functor, and what tells it from the others stay. Different names never get the same one.

    >>> tiles = ["Cijk_Alik_Bljk_HHS_BH_MT16x16x64_MI16x16x1_SN_K1", "Cijk_Alik_Bljk_HHS_BH_MT64x16x64_MI16x16x1_SN_K1"]
    >>> list(short_names(tiles, 30).values())
    ['Cijk_Alik_Bljk…_BH_MT16x16x64…', 'Cijk_Alik_Bljk…_BH_MT64x16x64…']
    >>> short_names(["void at::native::reduce_kernel<512, 1, at::native::MeanOps<float> >(int)"], 60).popitem()[1]
    'reduce_kernel<512, 1, MeanOps<float>>'
    """
    unique = list(dict.fromkeys(names))
    width = max(width, _WIDTH_MIN)
    texts = _distinct_texts(unique)
    tokens = {name: _tokens(text, width) for name, text in texts.items()}
    heads = {name: _head_length(parts) for name, parts in tokens.items()}
    siblings: dict[str, list[list[str]]] = {}
    for name, parts in tokens.items():
        siblings.setdefault("".join(parts[: heads[name]]), []).append(parts)
    # Per head: in how many siblings each token is.
    counts = {head: Counter(token for parts in group for token in set(parts)) for head, group in siblings.items()}
    short = {name: text for name, text in texts.items() if len(text) <= width}
    for name in (name for name in unique if name not in short):
        parts, head = tokens[name], heads[name]
        key = "".join(parts[:head])
        short[name] = _cut(parts, _order(parts, head, counts[key], len(siblings[key])), head, width)
    for equal_names in _equal(short):
        rare, places = _differences([tokens[name] for name in equal_names])
        for name in equal_names:
            parts = tokens[name]
            differing = [place for place, token in enumerate(parts) if token in rare]
            differing = differing or [place for place in range(len(parts)) if place in places]
            telling = [place for place, token in enumerate(parts) if _TELLING.fullmatch(token)][:2]
            short[name] = _cut(parts, [*_head_order(parts, 1), *differing, *telling, *range(len(parts))], 1, width)
    labels = set(short.values())
    for equal_names in _equal(short):
        for number, name in enumerate(equal_names, 1):
            short[name] = _numbered(short[name], number, width, labels)
            labels.add(short[name])
    return {name: short[name] for name in unique}


def _distinct_texts(names: Sequence[str]) -> dict[str, str]:
    """Each name in the shortest of its forms that is not also one of another name."""
    readable = readable_names(names)
    forms: tuple[Callable[[str], str], ...] = (
        lambda name: _compact(kernel_title(readable[name])),
        lambda name: _without_namespaces(kernel_title(readable[name])),
        lambda name: kernel_title(readable[name]),
        lambda name: readable[name],
        lambda name: name,
    )
    texts: dict[str, str] = {}
    remaining = list(names)
    for form in forms:
        candidates = {name: form(name)[:_MAX_CHARACTERS] or name for name in remaining}
        counts = Counter((*candidates.values(), *texts.values()))
        texts.update((name, text) for name, text in candidates.items() if counts[text] == 1)
        remaining = [name for name in remaining if name not in texts]
    return texts | {name: name[:_MAX_CHARACTERS] for name in remaining}


def _without_namespaces(title: str) -> str:
    return _DETAIL.sub(r"\1::", _NAMESPACES.sub("", title)).replace(" >", ">")


def _compact(title: str) -> str:
    """A title without what only the compiler needs: lambdas, parameters of functions in arguments, kinds of storage."""
    text = _without_namespaces(title)
    if "<" not in text:
        return text
    while (closing := text.find(")::{lambda(")) >= 0:  # a function in an argument: its parameters go
        opening = _partner(text, closing)
        text = text[: closing if opening is None else opening] + text[closing + 1 :]
    text = _LAMBDAS.sub(lambda match: "" if (match[1] or "") in _LOOP_LAMBDA else f"({match[1]})", text)
    while match := _WRAPPER.search(text):  # the last argument, the functor, stays
        partner = _partner(text, text.index("<", match.start()))
        end = len(text) if partner is None else partner
        text = text[: match.start()] + text[match.end() : end] + text[end + 1 :]
    return _STORAGE.sub("", text)


def _partner(text: str, bracket: int) -> int | None:
    """The place of the bracket that belongs to the `)` or `<` at the place `bracket`; None = there is none."""
    partner, places = ("(", range(bracket, -1, -1)) if text[bracket] == ")" else (">", range(bracket, len(text)))
    depth = 0
    for place in places:
        depth += (text[place] == text[bracket]) - (text[place] == partner)
        if not depth:
            return place
    return None


def _tokens(text: str, width: int) -> list[str]:
    """Words and what is between them; words that are long for this width in parts."""
    longest = max(_WIDTH_MIN, width // 2)
    tokens: list[str] = []
    for word in _WORDS.findall(text):
        parts = [word] if len(word) <= longest or not _WORD.match(word) else _PIECES.findall(word)
        for part in parts:
            is_long = len(part) > max(_WIDTH_MIN, width - 4) and _WORD.match(part)
            starts = range(0, len(part), _WIDTH_MIN) if is_long else ()
            tokens += [part[start : start + _WIDTH_MIN] for start in starts] or [part]
    return tokens


def _head_length(tokens: Sequence[str]) -> int:
    """Tokens of the function's name; of a name without arguments, the first three."""
    end = next((place for place, token in enumerate(tokens) if "<" in token or "(" in token), None)
    return min(3, len(tokens)) if end is None else max(1, end)


def _order(tokens: Sequence[str], head: int, counts: Counter[str], sibling_count: int) -> list[int]:
    """Places of tokens, the most telling first: what few siblings have, tiles and functors before others."""

    def rank(place: int) -> tuple[bool, bool, int, int]:
        token = tokens[place]
        is_rare = counts[token] < sibling_count
        return not is_rare, not _TELLING.fullmatch(token), counts[token] if is_rare else 0, place

    return [*_head_order(tokens, head), *sorted(range(head, len(tokens)), key=rank)]


def _head_order(tokens: Sequence[str], head: int) -> list[int]:
    """Places of the function's name: the function first, then its namespaces."""
    function = max((place + 1 for place in range(head) if tokens[place] == "::"), default=0)
    return [*range(function, head), *range(function)]


def _cut(tokens: Sequence[str], order: Sequence[int], head: int, width: int) -> str:
    """The tokens that fit, in their order, with … for what is left out; at first the head takes three fifths."""
    chosen: set[int] = set()
    words = [0, *accumulate(bool(_WORD.search(token)) for token in tokens)]
    for head_room in (3 * width // 5, width):
        for place in order:
            room = head_room if place < head and chosen else width
            if place in chosen or words[place] == words[place + 1]:
                continue
            if len(_joined(tokens, words, chosen | {place})) <= room:
                chosen.add(place)
    return _joined(tokens, words, chosen) if chosen else "".join(tokens)[: width - 1] + "…"


def _joined(tokens: Sequence[str], words: Sequence[int], chosen: set[int]) -> str:
    """The chosen tokens; `words`: how many words there are before each place, so that gaps need not be looked at."""
    text, end = "", 0
    for place in (*sorted(chosen), len(tokens)):
        text += "…" if words[place] > words[end] else "".join(tokens[end:place])
        text += tokens[place] if place < len(tokens) else ""
        end = place + 1
    return text


def _equal(short: dict[str, str]) -> list[list[str]]:
    """Names that have the same short name."""
    groups: dict[str, list[str]] = {}
    for name, text in short.items():
        groups.setdefault(text, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _differences(group: Sequence[Sequence[str]]) -> tuple[set[str], set[int]]:
    """Tokens that are not as often in all of the group, and places at which not all have the same token."""
    first, first_counts = group[0], Counter(group[0])
    rare, places = set[str](), set[int]()
    for tokens in group[1:]:
        counts = Counter(tokens)
        rare.update(token for token in counts.keys() | first_counts.keys() if counts[token] != first_counts[token])
        pairs = enumerate(zip_longest(first, tokens))
        places.update(place for place, (first_token, token) in pairs if first_token != token)
    return rare, places


def _numbered(text: str, number: int, width: int, labels: set[str]) -> str:
    """A short name with a number at its end, the first from `number` on with which it is not one of the labels."""
    while True:
        mark = f"#{number}"
        label = text[: width - len(mark)].rstrip("…") + "…" * (len(text) + len(mark) > width) + mark
        label = text[: width - len(mark)] + mark if len(label) > width else label
        if label not in labels:
            return label
        number += 1


def _spelled_out(symbol: str) -> str:
    """The words of a mangled name: the function, and in brackets the names that its arguments have.

    Words right behind each other are one qualified name; the first such name is the function, the others arguments.
    """
    head: list[str] = []
    arguments: list[str] = []
    place = 2  # after `_Z`
    next_place = -1  # where a word continues the name before it; -1 = nowhere
    body = symbol.partition("EEv")[0]  # what follows are parameters
    while place < len(body):
        skipped = _NO_WORD.match(body, place)
        part = None if skipped else _PART.match(body, place)
        if part is None:
            is_start = not head and body[place] in "NKL"
            place = skipped.end() if skipped else place + 1
            next_place = place if is_start else -1 if head else next_place
            continue
        word = part[2][: int(part[1])]
        if part.start(2) + len(word) == len(body) == len(symbol):
            word = word.removesuffix("E")  # the end of the nested name, where the length is wrong
        if not head or (not arguments and place == next_place):
            head.append(word)
        elif place == next_place:
            arguments[-1] += f"::{word}"
        else:
            arguments.append(word)
        place = next_place = part.start(2) + max(1, len(word))
    return symbol if not head else "::".join(head) + (f"<{', '.join(arguments)}>" if arguments else "")

"""Words of plots: shares that add up to 100 %, round times, the sentence that a plot shows, and its notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wavewright.base.words import duration
from wavewright.model.blocks import AnyBlock, Sentence


def tenths(values: Sequence[float]) -> list[float]:
    """Percentages with one digit of parts of a whole, rounded such that they add up to 100; 0 where there is no whole.

    >>> tenths([1, 1, 1]), tenths([0, 0])
    ([33.4, 33.3, 33.3], [0.0, 0.0])
    """
    total = sum(values)
    if not total > 0:
        return [0.0] * len(values)
    exact_tenths = [1000 * value / total for value in values]
    rounded = [int(value) for value in exact_tenths]
    order = sorted(range(len(values)), key=lambda part: (rounded[part] - exact_tenths[part], part))  # most cut first
    for part in order[: 1000 - sum(rounded)]:
        rounded[part] += 1
    return [value / 10 for value in rounded]


def brief_time(nanoseconds: float) -> str:
    """A round time without digits that say nothing.

    >>> brief_time(10_000), brief_time(1e9), brief_time(2500)
    ('10 us', '1 s', '2.5 us')
    """
    number, _, unit = duration(nanoseconds).partition(" ")
    return f"{float(number.replace(',', '')):g} {unit}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def rows_shown(shown: int, total: int, what: str, which: str) -> str:
    """Words about the rows that a plot shows: how many of how many, and which; empty = all.

    >>> rows_shown(20, 3112, "kernels", "those with most time"), rows_shown(3, 3, "kernels", "")
    ('showing 20 of 3,112 kernels: those with most time', '')
    """
    return f"showing {shown:,} of {total:,} {what}: {which}" if shown < total else ""


def headline(parts: Iterable[AnyBlock], *, starts_with_name: bool = False) -> str:
    """The first sentence of an answer: its verdict, which is the sentence of a plot too.

    A recorded name at its start keeps its first letter.

    >>> from wavewright.model.blocks import Sentence
    >>> headline([Sentence("2 GPUs: idle 10 %", "headline"), Sentence("advice")])
    '2 GPUs: idle 10 %.'
    """
    first_block = next(iter(parts), None)
    text = first_block.text if isinstance(first_block, Sentence) else ""
    first = text.partition(" ")[0].removesuffix(":")
    if not starts_with_name and first.isascii() and first.isalpha() and first.islower():
        text = f"{text[0].upper()}{text[1:]}"
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def sentences(*texts: str) -> str:
    """Texts as sentences, those that are empty left out.

    >>> sentences("one is shown", "", "Two.")
    'One is shown. Two.'
    """
    return " ".join(f"{text[0].upper()}{text[1:].removesuffix('.')}." for text in texts if text)

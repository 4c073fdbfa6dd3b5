"""Two questions that everybody asks, in words: are memory accesses coalesced, and do LDS accesses conflict?"""

from __future__ import annotations

from collections.abc import Sequence

from wavewright.analysis.counters.limiters.evidence import Limiter
from wavewright.base.words import percent
from wavewright.facts.counters.limiters import QUANTITIES
from wavewright.model.findings import NumberEvidence

_CONFLICTS, _COALESCING = "LDS bank conflicts", "uncoalesced access"
_ABOUT = 0.02  #: Width of the range around a named share, and distance from 2 of a factor that is called twice.
_NAMED_SHARES = {0.25: "a quarter", 1 / 3: "a third", 0.5: "half", 2 / 3: "two thirds", 0.75: "three quarters"}
_UNCOALESCED_FROM = 33  #: Lookups per instruction: 64 contiguous lanes with 128 bits each take 32.
_SCATTERED = 64  #: Lookups of an access by 64 lanes that each stand alone.


def access_lines(limiters: Sequence[Limiter]) -> list[str]:
    """A sentence about each of the two, whatever the verdict; where nothing was measured, what would tell it."""
    by_name = {limiter.name: limiter for limiter in limiters}
    lines = []
    if _CONFLICTS in by_name:
        lines.append(f"{_CONFLICTS}: {_conflicts(by_name[_CONFLICTS])}")
    if _COALESCING in by_name:
        lines.append(f"{_COALESCING}: {_coalescing(by_name[_COALESCING])}")
    return lines


def _conflicts(limiter: Limiter) -> str:
    item = _number(limiter, "lds_conflicts")
    if item is None or item.value is None:
        if _number(limiter, "lds_conflicts", measured=False) is not None and _has_no_cycles(limiter):
            return "none, the kernel does not use LDS"
        time = _number(limiter, "lds_conflict_time")
        if time is not None and time.value is not None:
            return f"{percent(time.value / 100)} of the cycles of the CUs" if time.value > 0 else "none"
        return _unknown(limiter)
    cycles = ""
    if item.amount is not None and item.peak is not None:
        cycles = f" ({item.amount:,.0f} of {item.peak:,.0f})"
    share = item.value / 100
    if share <= 0:
        return f"none{f' in {item.peak:,.0f} LDS cycles' if item.peak else ''}"
    slower = f"an LDS access takes {_times(1 / (1 - share))} as long as without" if share < 1 else "nothing else"
    costs = "" if limiter.verdict in ("at limit", "likely") else _but(limiter)
    return f"{_share(share)} of the LDS cycles{cycles}: on average {slower}{costs}"


def _coalescing(limiter: Limiter) -> str:
    item = _number(limiter, "lines_per_access")
    if item is None or item.value is None:
        return _unknown(limiter)
    most = _number(limiter, "lines_per_access_most")
    if item.value >= _UNCOALESCED_FROM:
        answer = "yes"
    elif most is not None and most.value is not None and most.value < _UNCOALESCED_FROM:
        answer = "no"
    else:
        answer = "not on average"
    reference = "a contiguous access takes 16, up to 32 with 128 bits per lane, one to scattered lanes 64"
    if answer == "not on average":
        up_to = f", up to {min(most.value, _SCATTERED):.0f} in one of them" if most and most.value else ""
        costs = f"; the mean can hide scattered ones{up_to}: `wavewright lanes` of a thread trace tells each"
    else:
        costs = _but(limiter) if answer == "yes" and limiter.verdict not in ("at limit", "likely") else ""
    return (
        f"{answer}, {item.value:,.0f} lookups of L1 per memory instruction of a wave in the mean ({reference}){costs}"
    )


def _but(limiter: Limiter) -> str:
    """The reason why it does not limit the kernel although it is there."""
    closed = next((item for item in limiter.evidence if item.role == "only if" and item.level == 0), None)
    if closed is not None and closed.value is not None:
        return f"; it costs little, because {closed.label} is only {value_words(closed)}"
    if limiter.verdict == "undecided":
        return "; whether it costs time is not known"
    return ""


def value_words(item: NumberEvidence) -> str:
    """The number with its unit and its whole."""
    quantity = QUANTITIES[item.quantity]
    return f"{item.value or 0:,.{quantity.digits}f} {item.unit} {quantity.share_of}".rstrip()


def _has_no_cycles(limiter: Limiter) -> bool:
    return any(item.quantity == "lds_busy" and item.value == 0 for item in limiter.evidence)


def _unknown(limiter: Limiter) -> str:
    if limiter.missing_counters:
        return f"not measured, collect {', '.join(limiter.missing_counters[:3])}"
    return f"not known: {limiter.reason}"


def _number(limiter: Limiter, quantity: str, *, measured: bool = True) -> NumberEvidence | None:
    return next(
        (item for item in limiter.evidence if item.quantity == quantity and (item.value is not None or not measured)),
        None,
    )


def _share(share: float) -> str:
    named = next((word for size, word in _NAMED_SHARES.items() if abs(share - size) <= _ABOUT / 2), "")
    return named or percent(share)


def _times(factor: float) -> str:
    return "twice" if abs(factor - 2) < _ABOUT else f"{factor:.2f} times"

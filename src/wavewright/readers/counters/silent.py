"""Counters that did not count: impossible zeros are treated as not measured.

Zeros are common and true: a kernel without matrix instructions has none. But a wave that ran has executed and fetched
instructions, and its GPU was busy; all of L2 cannot have been idle; and requests have sizes. The clock of the counters
stops on some GPUs unless the performance level is fixed, and some counters do not exist although they can be asked for.
Others see only a stray event now and then: sizes that do not add up to the requests are no measurement either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from wavewright.base.toml import packaged
from wavewright.model.losses import Loss
from wavewright.readers.counters.execution import Pass

_FACTS = packaged("silent.toml", __package__)
_L2_PREFIXES = ("TCC_", "GL2C_")  #: Of CDNA, and of RDNA.
_RDNA_READS = "GL2C_EA_RDREQ"
_RDNA_READS_96B = f"{_RDNA_READS}_96B"  #: Seldom collected; without it, what is of no other size is of this one.
#: At most this share of the requests may be of no counted size, the difference at which `l2` calls two runs different.
_UNSIZED_SHARE_MAX = 0.05
#: Bytes that the profiler derives, in KiB -> the requests that they are made of, on CDNA and on RDNA.
_DERIVED = {"FETCH_SIZE": ("TCC_EA0_RDREQ", _RDNA_READS), "WRITE_SIZE": ("TCC_EA0_WRREQ", "GL2C_EA_WRREQ")}
_SMALLEST_REQUEST_BYTES = 32
# The reasons, as losses give them.
_STOPPED = "0 in every dispatch, so not measured (was their clock off?)"
_SIZELESS = "0 in every dispatch although requests were counted, so not measured"
_STRAY = "sizes do not add up to the requests, so not measured"
_BYTELESS = "less than 32 bytes for each request, so not measured"


def without_silent(passes: Sequence[Pass], losses: list[Loss]) -> list[Pass]:
    """The passes with null instead of zeros that cannot be true; silent counters are losses."""
    totals = [_totals(pass_) for pass_ in passes]
    together: dict[str, float] = {}  # counter -> its largest sum in any pass
    for pass_totals in totals:
        for name, total in pass_totals.items():
            together[name] = max(total, together.get(name, 0.0))
    result = []
    silent_by_block: dict[str, dict[str, list[str]]] = {}
    for pass_, pass_totals in zip(passes, totals, strict=True):
        stopped_names = _stopped(pass_totals)
        sizeless = _sizeless(pass_totals, together, stopped_names)
        stray = _stray(pass_totals, together) - stopped_names - sizeless
        byteless = _byteless(pass_totals) - stopped_names
        reasons = ((stopped_names, _STOPPED), (sizeless, _SIZELESS), (stray, _STRAY), (byteless, _BYTELESS))
        for names, reason in reasons:
            for name in sorted(names):
                silent_by_block.setdefault(reason, {}).setdefault(pass_.name, []).append(name)
        result.append(_nulled(pass_, stopped_names | sizeless | stray | byteless))
    for reason, by_pass in silent_by_block.items():
        name_list = "; ".join(f"{', '.join(names)} ({name})" for name, names in by_pass.items())
        losses.append(Loss("counter_silent", sum(map(len, by_pass.values())), detail=f"{reason}: {name_list}"))
    return result


def _totals(pass_: Pass) -> dict[str, float]:
    """Sums over the dispatches, channels aside; nothing about counters without a value."""
    totals = {}
    for counter in pass_.counters:
        if counter.named.channel is None:
            column = pass_.values.get_column(counter.named.column)
            if column.null_count() < column.len():
                totals[counter.named.column] = float(column.sum())
    return totals


def _stopped(totals: dict[str, float]) -> set[str]:
    """The counters of a pass that are 0 although waves ran."""
    if totals.get("SQ_WAVES", 1.0) <= 0:
        return set()
    silent = {name for name, total in totals.items() if total == 0}
    stopped_names = silent.intersection(_FACTS["always"])
    for block in _L2_PREFIXES:
        block_names = {name for name in totals if name.startswith(block)}
        if block_names <= silent and block_names & {f"{block}{word}" for word in _FACTS["requests"]}:
            stopped_names |= block_names
    others = set(totals) - {"SQ_WAVES"}
    if "SQ_WAVES" in totals and others <= silent and others.intersection(_FACTS["instructions"]):
        stopped_names |= others
    return stopped_names | silent.intersection(_DERIVED)


def _sizeless(totals: dict[str, float], together: dict[str, float], stopped_names: set[str]) -> set[str]:
    """Sizes of requests that are all 0 although requests were counted."""
    names: set[str] = set()
    for requests, others, sizes in _FACTS["sizes"]:
        count = together.get(requests, 0.0) - together.get(others, 0.0)
        if count > 0 and not any(together.get(size, 0.0) for size in sizes):
            names |= {size for size in sizes if size in totals}
    return names - stopped_names


def _stray(totals: dict[str, float], together: dict[str, float]) -> set[str]:
    """Sizes that do not add up to the requests, because only stray events are counted.

    Of requests in another pass, which may hold other dispatches, they must be half.
    """
    names: set[str] = set()
    for requests, others, sizes in _FACTS["sizes"][:2]:  # reads; of writes only one size is counted
        parts = [*sizes, *((others,) if others else ())]
        size_sum_min = (1 - _UNSIZED_SHARE_MAX) * totals.get(requests, 0.0) or together.get(requests, 0.0) / 2
        if size_sum_min > 0 and all(part in totals for part in parts):
            more_sizes = {_RDNA_READS_96B} if requests == _RDNA_READS else set()
            size_sum = sum(totals[part] for part in parts) + sum(totals.get(size, 0.0) for size in more_sizes)
            if size_sum < size_sum_min:
                names |= {*sizes, *more_sizes}
    return names & set(totals)


def _byteless(totals: dict[str, float]) -> set[str]:
    """Derived bytes that are made of sizes which did not count: less than the smallest request, for each request."""
    names = set()
    for name, requests in _DERIVED.items():
        least_bytes = _SMALLEST_REQUEST_BYTES * sum(totals.get(request, 0.0) for request in requests)
        if name in totals and 1024 * (totals[name] + 1) < least_bytes:
            names.add(name)
    return names


def _nulled(pass_: Pass, names: set[str]) -> Pass:
    counters = {counter.named.column for counter in pass_.counters if counter.named.counter in names}
    if not counters:
        return pass_
    return replace(pass_, values=pass_.values.with_columns(pl.lit(None, pl.Float64).alias(name) for name in counters))

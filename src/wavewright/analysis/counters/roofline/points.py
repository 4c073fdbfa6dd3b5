"""Where kernels stand under the roofs: the least time that each unit needs for their work, over the time taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from wavewright.analysis.counters.roofline.kinds import KINDS, LEVELS, Kind
from wavewright.base.words import percent

NEAR = 0.5  #: A kernel that reaches this share of its lowest roof is called bound by it.
_MOST = 0.9  #: A precision with at least this share of the time of its pipe names the limit; else the pipe does.


@dataclass(frozen=True)
class Work:
    """The work of a kernel per dispatch, or of one dispatch; None = unknown, with the reason in `reasons`."""

    identity: dict[str, Any]  #: Columns that say which kernel or dispatch.
    duration_ns: float | None
    operations: dict[str, float | None]  #: Name of the kind -> operations.
    bytes: dict[str, float | None]  #: Name of the level -> bytes.
    reasons: dict[str, str] = field(default_factory=dict)  #: Name of a kind or level -> why it is not known.
    why_no_operations: str = ""  #: Of GPUs whose counters tell none.

    def kinds(self, work: str) -> dict[Kind, float | None]:
        """Operations of all kinds of this work, flop or iop."""
        return {KINDS[name]: count for name, count in self.operations.items() if KINDS[name].work == work}

    def total(self, work: str) -> float | None:
        """Operations of the kinds that are known; None = of no kind."""
        counts = [count for count in self.kinds(work).values() if count is not None]
        return sum(counts) if counts else None

    def missing(self, work: str) -> list[str]:
        """Kinds whose operations are not known: the total is a lower bound."""
        return [kind.name for kind, count in self.kinds(work).items() if count is None]

    def rates(self, level: str, work: str) -> list[str]:
        """Names of the ceilings of a point: of its level, and of the kinds that it has operations of."""
        return [level, *(kind.name for kind, count in self.kinds(work).items() if count)]


@dataclass(frozen=True)
class Limit:
    """The time that one unit needs at least."""

    name: str  #: A level of memory; or a pipe, with the precision where one takes nearly all of its time.
    nanoseconds: float


def limits(
    work: Work, ceilings: dict[str, float | None], *, kinds: str = "", levels: tuple[str, ...] = ()
) -> list[Limit]:
    """The units with work and a known rate, the slowest first; `kinds` = flop or iop counts only these operations.

    Operations of several precisions on one pipe take their times one after another; pipes and memory overlap.
    """
    bounds = [
        Limit(level, count / rate)
        for level in levels or work.bytes
        if (count := work.bytes.get(level)) and (rate := ceilings.get(level))
    ]
    pipes: dict[str, list[tuple[str, float]]] = {}
    for name, count in work.operations.items():
        if count and (rate := ceilings.get(name)) and kinds in ("", KINDS[name].work):
            pipes.setdefault(KINDS[name].pipe, []).append((name, count / rate))
    for pipe, times in pipes.items():  # times: name of the kind, ns
        name, longest = max(times, key=lambda named_time: named_time[1])
        total = sum(time for _, time in times)
        bounds.append(Limit(name if longest >= _MOST * total else pipe, total))
    return sorted(bounds, key=lambda limit: -limit.nanoseconds)


def disprove(ceilings: list[dict[str, Any]], works: list[Work]) -> list[dict[str, Any]]:
    """The ceilings with theoretical rates instead of benchmarks that some work exceeds."""
    rates = {row["name"]: row["used"] for row in ceilings}
    above = {
        limit.name
        for work in works
        for limit in limits(work, rates)
        if work.duration_ns and limit.nanoseconds > work.duration_ns
    }
    theoretical = {"used_from": "theoretical", "reason": "a kernel exceeds the benchmark"}
    return [
        row | theoretical | {"used": row["theoretical"]}
        if above & {row["name"], row.get("pipe")} and row["used_from"] == "empirical" and row["theoretical"]
        else row
        for row in ceilings
    ]


def roof_of(work: Work, level: str, kinds: str, ceilings: dict[str, float | None]) -> Limit | None:
    """The lowest roof above the point of one level; None = the bandwidth of the level, or a rate that the work needs,
    is not known, so that a lower roof may be missing.
    """
    if not all(ceilings.get(name) for name in work.rates(level, kinds)):
        return None
    bounds = limits(work, ceilings, kinds=kinds, levels=(level,))
    return bounds[0] if bounds else None


def point_rows(work: Work, ceilings: dict[str, float | None]) -> list[dict[str, Any]]:
    """One row per level of memory and kind of work."""
    rows = []
    for kinds in ("flop", "iop"):
        operations = work.total(kinds)
        for level, count in work.bytes.items():
            if level == "MALL" and not ceilings.get(level):
                continue  # the bytes are those of HBM: without a roof of its own it tells nothing
            roof = roof_of(work, level, kinds, ceilings) if count else None
            row = {
                "level": level,
                "work": kinds,
                "operations": operations,
                "bytes": count,
                "intensity": operations / count if operations and count else None,
                "gops_per_second": _rate(operations, work.duration_ns),
                "gb_per_second": _rate(count, work.duration_ns),
                "roof": roof.name if roof else None,
                "roof_gops_per_second": operations / roof.nanoseconds if roof and operations else None,
                "share": _share(roof, work.duration_ns),
                "reason": _reason(work, level, kinds, ceilings, roof),
            }
            rows.append(work.identity | row)
    return rows


def operation_rows(work: Work, ceilings: dict[str, float | None]) -> list[dict[str, Any]]:
    """One row per kind of operation."""
    rows = []
    for name, count in work.operations.items():
        rate = _rate(count, work.duration_ns)
        ceiling = ceilings.get(name)
        about = {column: getattr(KINDS[name], column) for column in ("precision", "pipe", "work")}
        row = {
            "kind": name,
            "operations": count,
            "gops_per_second": rate,
            "ceiling_gops_per_second": ceiling,
            "share": rate / ceiling if rate is not None and ceiling and rate <= ceiling else None,
            "reason": work.reasons.get(name, ""),
        }
        rows.append(work.identity | about | row)
    return rows


def kernel_row(work: Work, ceilings: dict[str, float | None]) -> dict[str, Any]:
    """The bound of the kernel, over all levels and pipes."""
    bounds = limits(work, ceilings)
    nearest = bounds[0] if bounds else None
    share = _share(nearest, work.duration_ns)
    return work.identity | {
        "duration_ns_mean": work.duration_ns,
        "flops": work.total("flop"),
        "gflops_per_second": _rate(work.total("flop"), work.duration_ns),
        "iops": work.total("iop"),
        "giops_per_second": _rate(work.total("iop"), work.duration_ns),
        "flops_missing": ", ".join(work.missing("flop")),
        "iops_missing": ", ".join(work.missing("iop")),
        "bound": nearest.name if nearest else None,
        "share": share,
        "verdict": _verdict(work, nearest, share),
    }


def _verdict(work: Work, nearest: Limit | None, share: float | None) -> str:
    if nearest is None:
        has_work = any(work.bytes.values()) or any(work.operations.values())
        return "no roof to compare with" if has_work else "no work counted"
    unknown = [level for level, count in work.bytes.items() if count is None and level != "MALL"]
    besides = f"; not known: {', '.join(unknown)}" if unknown else ""
    if not work.duration_ns:
        return f"the lowest roof is {nearest.name}; no duration to compare with{besides}"
    if share is None:
        return f"above the roof of {nearest.name}: the roof is too low for this work{besides}"
    at = f"at {percent(share, 0)} of it"
    if share >= NEAR:
        return f"bound by {nearest.name}{' bandwidth' if nearest.name in LEVELS else ''}, {at}{besides}"
    return f"below every roof; {nearest.name} is the nearest, {at}{besides}"


def _share(roof: Limit | None, duration_ns: float | None) -> float | None:
    """Share of the roof; None = not known, or the roof is too low: the work took less time than it allows."""
    share = roof.nanoseconds / duration_ns if roof and duration_ns else None
    return share if share is not None and share <= 1 else None


def _reason(work: Work, level: str, kinds: str, ceilings: dict[str, float | None], roof: Limit | None) -> str:
    if level in work.reasons:
        return work.reasons[level]
    noun = "floating-point" if kinds == "flop" else "integer"
    operations = work.total(kinds)
    if operations is None:
        missing = [f"{name} {work.reasons[name]}" for name in work.missing(kinds) if name in work.reasons]
        more = f", and {len(missing) - 1} other kinds as well" if len(missing) > 1 else ""
        return work.why_no_operations or f"no {noun} operations were measured: {(*missing, 'no counters')[0]}{more}"
    if not work.bytes.get(level):
        return f"no bytes at {level}"
    if not work.duration_ns:
        return "no sound timestamps"
    if roof and roof.nanoseconds > work.duration_ns:
        return f"above the roof of {roof.name}"
    if not operations:
        return f"no {noun} operations: bandwidth only"
    lacking = [name for name in work.rates(level, kinds) if not ceilings.get(name)]
    return f"no ceiling of {', '.join(lacking)}" if lacking else ""


def _rate(count: float | None, duration_ns: float | None) -> float | None:
    """Per nanosecond, which is 10^9 per second."""
    return count / duration_ns if count is not None and duration_ns else None

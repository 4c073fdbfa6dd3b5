"""Rules about one GPU: which causes of lost time are long enough to be findings, and how much each can gain at most.

Every check looks at the merged measurements of all runs (`MergedDiagnosis`) and returns a `Candidate`, or None where
its cause takes less time than its threshold. Thresholds, titles, remedies and their sources are in
`facts/run_rules.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.diagnose.idle import LATENCY_NS
from wavewright.analysis.run.diagnose.kernel_patterns import GRAPH_LENGTH, GRAPH_TIMES, TINY_CALLS, TINY_NS
from wavewright.analysis.run.diagnose.ledger import NOTHING, Candidate
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis, total
from wavewright.analysis.run.diagnose.work import COMMUNICATE, COPY
from wavewright.base.words import amount, counted, duration, percent
from wavewright.facts.loader import packaged
from wavewright.facts.run_rules import RULES

_CAUSE, _FOLLOWS, _BLOCKER = pl.col("cause"), pl.col("follows"), pl.col("blocker")
_IS_LATE = ~pl.col("is_early")
#: First uses of kernels and the data loader have rules of their own, whatever else is true of their gaps.
_IS_ORDINARY = (_CAUSE != "first use") & (_CAUSE != "data loader")
_LAUNCH_CAUSES = ["launch", "launch call", "other call"]
_IS_HOST = (pl.col("kind") == COMMUNICATE) & pl.col("is_host")


def _due_to(kind: str) -> pl.Expr:
    """Gaps that are due to a kind of call as a whole, and the parts of others that are spent in one."""
    return (_BLOCKER.eq(kind) & _IS_ORDINARY) | _CAUSE.eq(kind)


#: Rule -> the cells of idle time that it claims.
CLAIMS: dict[str, pl.Expr] = {
    "T3": ((_BLOCKER == "data loader") & (_CAUSE != "first use")) | (_CAUSE == "data loader"),
    "T4": pl.col("has_fault"),
    "G4": (_FOLLOWS == "readback") & _IS_ORDINARY,
    "C3": (_FOLLOWS == "upload") & _IS_ORDINARY,
    "G7": (_due_to("loading code") | (_CAUSE == "first use")) & _IS_LATE,
    "G6": _due_to("allocation") & _IS_LATE,
    "G8": _due_to("copy call") & (_FOLLOWS == ""),
    "G5": _due_to("synchronisation"),
    "L3": pl.col("is_repeated") & _CAUSE.is_in(_LAUNCH_CAUSES),
    "G3": _CAUSE.is_in(_LAUNCH_CAUSES),
    "G2": _CAUSE == "host code",
    "G1": pl.lit(value=True),
}
#: Rule -> exposed communication during which nothing else was launched for its reason: what holds up the host holds up
#: the computation, whether or not communication goes on meanwhile.
COVERED: dict[str, pl.Expr] = {
    "T3": _BLOCKER == "data loader",
    "G4": _FOLLOWS == "readback",
    "C3": _FOLLOWS == "upload",
    "G7": (_BLOCKER == "loading code") & _IS_LATE,
    "G6": (_BLOCKER == "allocation") & _IS_LATE,
    "G8": (_BLOCKER == "copy call") & (_FOLLOWS == ""),
    "G5": _BLOCKER == "synchronisation",
}
_HALF = 0.5  #: A part is most of something if it is more than this share of it.
_ALL = 0.95  #: From this share on, unclaimed idle time counts as all of the idle time.
_READBACKS = 3  #: Where no steps are known, so many readbacks make a pattern.
_LONG_STEP = 1.5  #: A step takes far longer than usual if it takes more than this many times the median.
_MOST_EXAMPLES = 5
_OFTEN = 0.8  #: Readbacks make a pattern if there are this many per step: the first or last step may lack one.
_ALLOCATIONS = 10  #: So many calls after the first step are a finding, and fewer (at least 2) if they take long enough.
_SMALL_COPIES, _SMALL_COPIES_PER_STEP = 100, 10  #: So many uploads per GPU, or per GPU and step, make a pattern.
_LEAST_SAMPLES = 20  #: The mean of fewer samples of the clock of a busy GPU says nothing.
_SLOWER_CLOCK = 0.1  #: The mean clock is a finding if it is below the highest by at least this share.
_LARGE_COPY_BYTES = 1 << 20  #: Only the rate of copies of at least this mean size is judged.
#: Cause of idle time -> what `happens` in it, and what to do (`remedy`).
_IDLE = packaged("idle_causes.toml", __package__)


def candidates(runs: MergedDiagnosis, *, has_launches: bool) -> Iterator[tuple[str, Candidate | None]]:
    """Every rule that could be checked, with its candidate; None = its cause takes too little time."""
    for rule, check in _CHECKS.items():
        if has_launches or rule not in CLAIMS or rule == "T4":  # faults are recorded whatever launched the work
            yield rule, check(runs)


def _idle_ns(runs: MergedDiagnosis, rule: str) -> float:
    """The idle time that a rule claims, as the mean of the GPUs."""
    return runs.mean(runs.cells.filter(CLAIMS[rule].fill_null(value=False))["idle_ns"])


def _share_text(runs: MergedDiagnosis, time_ns: float) -> str:
    return f"{percent(runs.share(time_ns))} of the time"


def _gaps_of(runs: MergedDiagnosis, rule: str, **texts: str) -> Candidate | None:
    """The candidate of a rule about gaps; None = they are too short.

    The sentence of the rule has places for {time}, {share}, {gaps}, {call} and those that `texts` name.
    """
    claim, idle_ns = CLAIMS[rule], _idle_ns(runs, rule)
    takes = _IS_HOST & COVERED[rule] if rule in COVERED else NOTHING
    covered_ns = runs.mean(runs.exposed.filter(takes)["exposed_ns"])  # of the gaps: communication goes on in them
    time_ns = idle_ns + covered_ns
    if not time_ns or not runs.reaches(rule, time_ns):
        return None
    evidence, gap_count = runs.idle_evidence(claim), runs.gap_count(claim)
    calls = list(dict.fromkeys(place.call for place in evidence if place.call))
    cause = RULES[rule].cause.format(
        time=duration(idle_ns),
        share=_share_text(runs, idle_ns),
        gaps=counted(gap_count, "gaps"),
        call=", ".join(calls[:2]) or "calls",
        **texts,
    )
    if covered_ns:
        cause += f"; in another {duration(covered_ns)} ({_share_text(runs, covered_ns)}) it only communicates"
    return Candidate(
        rule=rule,
        time_ns=time_ns,
        cause=cause,
        claim=claim,
        takes=takes,
        evidence=evidence,
        case_count=gap_count,
    )


def starved(runs: MergedDiagnosis, claims: Sequence[pl.Expr]) -> Candidate | None:
    """The idle time that no other rule claims: the largest part of the time always has a sentence."""
    is_claimed = pl.any_horizontal([NOTHING, *(claim.fill_null(value=False) for claim in claims)])
    edge = pl.DataFrame({"cause": ["edge"], "idle_ns": [int(total(runs.gpus["edge_ns"]))]})
    unclaimed = pl.concat([runs.cells.filter(~is_claimed).select("cause", "idle_ns"), edge])
    unclaimed_ns = runs.mean(unclaimed["idle_ns"])
    if not unclaimed_ns or not runs.reaches("G1", unclaimed_ns):
        return None
    sums = unclaimed.group_by("cause").agg(pl.col("idle_ns").sum()).sort("idle_ns", "cause", descending=[True, False])
    cause, largest_sum_ns = sums.row(0)
    cause_texts = _IDLE.get("unlinked" if cause == "unknown" and runs.has_calls else cause, _IDLE["other"])
    beside = "" if unclaimed_ns >= _ALL * runs.time("idle_ns") else ", besides what other findings name"
    largest_ns = runs.mean(largest_sum_ns)
    happens = cause_texts["happens"].format(cause=cause)
    return Candidate(
        rule="G1",
        time_ns=unclaimed_ns,
        title=f"The GPU idles {_share_text(runs, unclaimed_ns)}{beside}",
        cause=f"in {duration(largest_ns)} ({_share_text(runs, largest_ns)}) of it {happens}",
        claim=CLAIMS["G1"],
        extra_ns=runs.time("edge_ns"),
        evidence=runs.idle_evidence(~is_claimed),
        case_count=runs.gap_count(~is_claimed),
        remedies=(cause_texts["remedy"],),
    )


def _host_bound(runs: MergedDiagnosis) -> Candidate | None:
    candidate = _gaps_of(runs, "G2")
    if candidate is None:
        return None
    # the longest call of such a gap is a short one: the host is not in it
    return replace(candidate, evidence=tuple(replace(place, call="") for place in candidate.evidence))


def _launch_bound(runs: MergedDiagnosis) -> Candidate | None:
    delays = runs.gpus["delay_ns"].drop_nulls()
    delay_ns = float(delays.median()) if delays.len() else LATENCY_NS  # type: ignore[arg-type]  # a number of numbers
    if delay_ns >= LATENCY_NS:
        return None
    return _gaps_of(runs, "G3", soon=f"within {duration(delay_ns)} of" if delay_ns > 0 else "before the end of")


def _readbacks(runs: MergedDiagnosis) -> Candidate | None:
    count = runs.gap_count(CLAIMS["G4"])
    if count < max(_READBACKS, _OFTEN * runs.step_count * runs.gpu_count):
        return None
    copies = runs.copies.filter(pl.col("direction") == "D2H")
    size = f", {amount(copies['median_bytes'].median())} each" if copies["median_bytes"].count() else ""  # type: ignore[arg-type]
    texts = {
        "copies": counted(int(copies["count"].sum()), "copies to the host"),
        "readbacks": counted(count, "of them"),
    }
    return _with_copies(runs, _gaps_of(runs, "G4", size=size, **texts), "D2H")


def _small_copies(runs: MergedDiagnosis) -> Candidate | None:
    copies = runs.copies.filter(pl.col("direction") == "H2D")
    count, small_count = int(copies["count"].sum()), int(copies["small_count"].sum())
    per_gpu = count / max(1, copies.height)
    is_often = per_gpu >= _SMALL_COPIES or (runs.step_count > 0 and per_gpu >= _SMALL_COPIES_PER_STEP * runs.step_count)
    if not is_often or not (copies["median_small"].median() or 0) >= _HALF:  # type: ignore[operator]
        return None
    small = f" ({small_count:,} below 64 KiB)" if small_count else ""
    return _with_copies(runs, _gaps_of(runs, "C3", copies=counted(count, "uploads"), small=small), "H2D")


def _with_copies(runs: MergedDiagnosis, candidate: Candidate | None, direction: str) -> Candidate | None:
    """The candidate with the small copies themselves: nothing is computed while they run, even if communication is."""
    if candidate is None:
        return None
    is_small = pl.col("is_small") & (pl.col("kind") == COPY) & ~pl.col("is_edge")
    takes = is_small & (pl.col("direction") == direction)
    copies = runs.exposed.filter(takes)
    beside_ns = runs.mean(copies["length_ns"] - copies["exposed_ns"])
    return replace(candidate, takes=candidate.takes | takes, extra_ns=beside_ns)


def _allocation(runs: MergedDiagnosis) -> Candidate | None:
    late_count = runs.calls.get("allocation", (0, 0, 0))[2]  # after the first step
    if late_count < 2 or (late_count < _ALLOCATIONS and not runs.reaches("G6", _idle_ns(runs, "G6"))):
        return None
    return _gaps_of(runs, "G6", calls=counted(late_count, "calls"))


def _loading(runs: MergedDiagnosis) -> Candidate | None:
    return _gaps_of(runs, "G7") if runs.step_count >= 2 else None


def _graphs(runs: MergedDiagnosis) -> Candidate | None:
    candidate = _gaps_of(runs, "L3", length=str(GRAPH_LENGTH), times=str(GRAPH_TIMES))
    return replace(candidate, within="G3") if candidate else None


#: Where copies are most of the work of a GPU, exposed ones are a finding from this share of the time on, as anything.
_LEAST_MOVED = 0.01
_AT_EDGES = (
    "move less, or move it while kernels run: in pieces, with hipMemcpyAsync from pinned memory (hipHostMalloc)",
    "PyTorch: create tensors on the GPU (device=...), pin_memory() before .to(device, non_blocking=True)",
)


def _exposed_copies(runs: MergedDiagnosis) -> Candidate | None:
    takes = pl.col("kind") == COPY
    copies = runs.exposed.filter(takes)
    time_ns = runs.mean(copies["exposed_ns"])
    share_of_work = runs.time("copy_ns") / max(1.0, runs.window_ns - runs.time("idle_ns"))
    least = _LEAST_MOVED if share_of_work > _HALF else None
    if not time_ns or not (runs.reaches("C1", time_ns) if least is None else runs.share(time_ns) >= least):
        return None
    edge_ns = runs.mean(copies.filter("is_edge")["exposed_ns"])
    is_at_edges = edge_ns > _HALF * time_ns
    at_edges = f", {duration(edge_ns)} of it before the first or after the last kernel" if is_at_edges else ""
    largest = copies.group_by("direction").agg(pl.col("exposed_ns").sum()).sort("exposed_ns", descending=True)
    directions = [f"{name} {duration(runs.mean(sum_ns))}" for name, sum_ns in largest.iter_rows() if sum_ns]
    return Candidate(
        rule="C1",
        time_ns=time_ns,
        cause=f"{duration(time_ns)} ({_share_text(runs, time_ns)}) of copies are hidden by nothing: "
        f"{', '.join(directions)}{at_edges}; copies are {percent(share_of_work)} of the work of the GPU",
        takes=takes,
        least=least,
        remedies=_AT_EDGES if is_at_edges else (),
        evidence=runs.exposed_evidence(is_copy=True),
        case_count=copies.height,
    )


def _slow_copies(runs: MergedDiagnosis) -> Candidate | None:
    """Large copies between host and GPU below a rate that pinned memory reaches."""
    is_host = pl.col("direction").is_in(["H2D", "D2H"])
    is_large = pl.col("size_bytes") >= _LARGE_COPY_BYTES * pl.col("sized_count")
    copies = runs.copies.filter(is_host, is_large, pl.col("sized_count") > 0)
    rate, usual_rate = total(copies["size_bytes"]) / max(1.0, total(copies["sized_ns"])), RULES["C2"].say or 0.0
    if not copies.height or not 0 < rate < usual_rate:
        return None
    best_rate = max(float(copies["best_rate"].max() or 0.0), 2 * usual_rate)  # type: ignore[arg-type]
    takes = (pl.col("kind") == COPY) & ~pl.col("is_small") & is_host
    exposed_ns = runs.mean(runs.exposed.filter(takes)["exposed_ns"])
    count = int(copies["count"].sum())
    return Candidate(
        rule="C2",
        value=rate,
        time_ns=exposed_ns,
        cause=f"{amount(int(copies['size_bytes'].sum()))} in {counted(count, 'copies')} at {rate:.1f} GB/s, "
        f"{duration(exposed_ns)} of it exposed; rates this low are typical of pageable memory",
        extra_ns=exposed_ns * (1 - rate / best_rate),
        within="C1",
        evidence=runs.exposed_evidence(is_copy=True),
        case_count=count,
    )


def _tiny_kernels(runs: MergedDiagnosis) -> Candidate | None:
    tiny = pl.concat(part.kernels.tiny for part in runs.partials)
    call_count, time_ns = int(tiny["calls"].sum()), runs.mean(tiny["total_ns"])
    if not call_count or not runs.reaches("L1", time_ns):
        return None
    named = runs.kernels.filter(pl.col("calls") >= TINY_CALLS, pl.col("total_ns") < TINY_NS * pl.col("calls"))
    return Candidate(
        rule="L1",
        time_ns=time_ns,
        cause=f"{counted(call_count, 'calls')} of kernels below 10 us outside of graphs take {duration(time_ns)} "
        f"({_share_text(runs, time_ns)}); in a row with others of their kind they could be one",
        extra_ns=runs.mean(tiny["saved_ns"]),
        evidence=runs.kernel_evidence(named, "total_ns"),
        case_count=call_count,
    )


def _fusion(runs: MergedDiagnosis) -> Candidate | None:
    sequences = pl.concat(part.kernels.fused for part in runs.partials)
    saved_ns = runs.mean(sequences["saved_ns"])
    if not saved_ns or not runs.reaches("L2", saved_ns):
        return None
    sums = sequences.group_by("names", "length").agg(pl.col("times", "total_ns", "saved_ns").sum())
    longest = sums.sort("saved_ns", "length", descending=True).head(_MOST_EXAMPLES)
    longest = longest.with_columns(name=pl.col("names").list.join(" + "))
    first, time_ns, count = longest.row(0, named=True), runs.mean(sums["total_ns"]), int(sums["times"].sum())
    return Candidate(
        rule="L2",
        value=runs.share(saved_ns),
        time_ns=time_ns,
        cause=f"{counted(count, 'sequences')} of element-wise kernels, norms, reductions and copies between matrix "
        f"products, attention and other kernels take {duration(time_ns)}, all but the longest of each "
        f"{duration(saved_ns)}; the largest, of {first['length']} kernels, comes {counted(first['times'], 'times')} "
        f"and takes {duration(runs.mean(first['total_ns']))}",
        extra_ns=saved_ns,
        evidence=runs.kernel_evidence(longest, "total_ns", "times"),
        case_count=count,
    )


def _underfilled(runs: MergedDiagnosis) -> Candidate | None:
    kernels = runs.kernels.filter(pl.col("small_ns") > 0).sort("lost_ns", descending=True)
    time_ns, computation_ns = runs.mean(kernels["small_ns"]), runs.time("computation_ns")
    share = time_ns / computation_ns if computation_ns else 0.0
    if not computation_ns or share < (RULES["L4"].say or 0):
        return None
    first = kernels.row(0, named=True)
    name = short_names([first["name"]], 60)[first["name"]]
    is_most = first["small_ns"] > _HALF * total(kernels["small_ns"])
    largest = f"most of it {name} with {first['workgroups']:,} workgroups" if is_most else f"the largest is {name}"
    return Candidate(
        rule="L4",
        value=share,
        time_ns=time_ns,
        cause=f"kernels with fewer workgroups than the GPU has compute units, alone on it, take {duration(time_ns)} "
        f"({percent(share)} of the computation); {largest}",
        extra_ns=runs.mean(kernels["lost_ns"]),
        evidence=runs.kernel_evidence(kernels, "small_ns"),
        case_count=kernels.height,
        kernel=first["name"],
    )


def _clocks(runs: MergedDiagnosis) -> Candidate | None:
    clocks = pl.concat(part.clocks for part in runs.partials).filter(pl.col("sample_count") >= _LEAST_SAMPLES)
    slower = float((1 - clocks["mean_mhz"] / clocks["max_mhz"]).mean() or 0.0)  # type: ignore[arg-type]
    if slower < _SLOWER_CLOCK:
        return None
    computation_ns, sample_count = runs.time("computation_ns"), int(clocks["sample_count"].sum())
    mean_mhz, max_mhz = float(clocks["mean_mhz"].mean() or 0), float(clocks["max_mhz"].max() or 0)  # type: ignore[arg-type]
    return Candidate(
        rule="T1",
        value=slower,
        time_ns=computation_ns,
        cause=f"{mean_mhz:,.0f} MHz on average while busy, {max_mhz:,.0f} MHz at most, "
        f"in {counted(sample_count, 'samples')}",
        extra_ns=computation_ns * slower,
        case_count=sample_count,
    )


def _unequal_steps(runs: MergedDiagnosis) -> Candidate | None:
    steps = [step for step in runs.steps if step.is_usual]  # others do other work: they are not slow
    if len(steps) < 3:
        return None
    median_ns, median_busy_ns = (
        sorted(getattr(step, name) for step in steps)[len(steps) // 2] for name in ("length_ns", "computed_ns")
    )
    excesses_ns = [
        max(0, step.length_ns - median_ns - max(0, step.computed_ns - median_busy_ns))
        for step in steps
        if step.length_ns > _LONG_STEP * median_ns
    ]
    excess_ns = runs.mean(sum(excesses_ns))
    if not excesses_ns or not runs.reaches("T2", excess_ns):
        return None
    return Candidate(
        rule="T2",
        time_ns=excess_ns,
        cause=f"{len(excesses_ns)} of {counted(len(steps), 'steps')} take more than 1.5 times the median of "
        f"{duration(median_ns)}; together {duration(excess_ns)} more without computing",
        rest_ns=excess_ns,
        case_count=len(excesses_ns),
    )


_CHECKS: dict[str, Callable[[MergedDiagnosis], Candidate | None]] = {
    "G2": _host_bound, "G3": _launch_bound, "G4": _readbacks, "G5": partial(_gaps_of, rule="G5"), "G6": _allocation,
    "G7": _loading, "G8": partial(_gaps_of, rule="G8"), "C1": _exposed_copies, "C2": _slow_copies, "C3": _small_copies,
    "L1": _tiny_kernels, "L2": _fusion, "L3": _graphs, "L4": _underfilled, "T1": _clocks, "T2": _unequal_steps,
    "T3": partial(_gaps_of, rule="T3"), "T4": partial(_gaps_of, rule="T4"),
}  # fmt: skip

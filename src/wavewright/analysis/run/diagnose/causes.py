"""The rules about one GPU: each looks at the time of its cause and speaks, or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from wavewright.analysis.run.calls.kernel_names import short_names
from wavewright.analysis.run.diagnose.idle import LATENCY_NS
from wavewright.analysis.run.diagnose.kernel_patterns import GRAPH_LENGTH, GRAPH_TIMES
from wavewright.analysis.run.diagnose.ledger import NOTHING, Candidate
from wavewright.analysis.run.diagnose.merged_diagnosis import MergedDiagnosis
from wavewright.analysis.run.diagnose.sums import total
from wavewright.analysis.run.diagnose.work import COMMUNICATE, COPY
from wavewright.base.words import amount, counted, duration, percent
from wavewright.facts.run_rules import RULES

Check = Callable[[MergedDiagnosis], Candidate | None]

_CAUSE, _FOLLOWS, _BLOCKER = pl.col("cause"), pl.col("follows"), pl.col("blocker")
_IS_LATE = ~pl.col("is_early")
_NOT_FIRST = _CAUSE != "first use"
_LAUNCH_CAUSES = ["launch", "launch call", "other call"]
_READBACK = (_FOLLOWS == "readback") & _NOT_FIRST & (_CAUSE != "data loader")
_UPLOAD = (_FOLLOWS == "upload") & _NOT_FIRST & (_CAUSE != "data loader")
_IS_HOST = (pl.col("kind") == COMMUNICATE) & pl.col("is_host")
_IS_SMALL = pl.col("is_small") & (pl.col("kind") == COPY) & ~pl.col("is_edge")


def _due_to(kind: str) -> pl.Expr:
    """Gaps that are due to a kind of call as a whole, and the parts of others that are spent in one."""
    return (_BLOCKER.eq(kind) & _NOT_FIRST & _CAUSE.ne("data loader")) | _CAUSE.eq(kind)


#: Rule -> the cells of idle time that it claims.
CLAIMS: dict[str, pl.Expr] = {
    "T3": ((_BLOCKER == "data loader") & _NOT_FIRST) | (_CAUSE == "data loader"),
    "T4": pl.col("has_fault"),
    "G4": _READBACK,
    "C3": _UPLOAD,
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
_MOST = 0.5
_ALL = 0.95
_READBACKS = 3  #: Where no steps are known, so many readbacks make a pattern.
_LONG_STEP = 1.5
_MOST_EXAMPLES = 5
_OFTEN = 0.8  #: Of the steps: the first or last may lack it.
_ALLOCATIONS = 10
_SMALL_COPIES, _SMALL_COPIES_PER_STEP = 100, 10
_HIDDEN = 0.3


def candidates(runs: MergedDiagnosis, *, has_launches: bool) -> Iterator[tuple[str, Candidate | None]]:
    """Every rule that could be checked, with what it says, or None."""
    for rule, check in CHECKS.items():
        if has_launches or rule not in CLAIMS or rule == "T4":  # faults are recorded whatever launched the work
            yield rule, check(runs)


def _time(runs: MergedDiagnosis, rule: str) -> float:
    return runs.mean(runs.cells.filter(CLAIMS[rule].fill_null(value=False))["idle_ns"])


def _say(rule: str) -> float:
    return RULES[rule].say or 0.0


def _idle(runs: MergedDiagnosis, rule: str, title: str, cause: str, **more: object) -> Candidate | None:
    """Candidate of a rule about gaps that take long enough; `cause` may use {time}, {share}, {count}, {call}."""
    idle = _time(runs, rule)
    takes = _IS_HOST & COVERED[rule] if rule in COVERED else NOTHING
    talking = runs.mean(runs.exposed.filter(takes)["exposed_ns"])
    time = idle + talking
    if runs.share(time) < _say(rule) or not time:
        return None
    evidence = runs.idle_evidence(CLAIMS[rule])
    count = runs.gap_count(CLAIMS[rule])
    calls = list(dict.fromkeys(each.call for each in evidence if each.call))
    text = cause.format(
        time=duration(idle),
        share=f"{percent(runs.share(idle))} of the time",
        gaps=counted(count, "gaps"),
        call=", ".join(calls[:2]) or "calls",
    )
    if talking:
        text += f"; in another {duration(talking)} ({percent(runs.share(talking))} of the time) it only communicates"
    return Candidate(
        rule=rule,
        value=runs.share(time),
        time_ns=time,
        title=title,
        cause=text,
        claim=CLAIMS[rule],
        takes=takes,
        evidence=evidence,
        case_count=count,
        **more,  # type: ignore[arg-type]
    )


#: Cause of idle time -> what happens in it, and what to do about it.
_IDLE = {
    "unknown": (
        "the record does not tell why, because the launch of the work after the gaps is not in it",
        "record the calls as well (rocprofv3 --runtime-trace) to learn what the GPU waits for",
    ),
    "unlinked": (
        "the record does not tell why, because no call in it is linked with the work after the gaps",
        "record again with a profiler that links calls and kernels (rocprofv3 --runtime-trace --kernel-trace, one run)",
    ),
    "queued": (
        "work that was launched before waits for other work",
        "look at the events and streams that the work after the gaps waits for",
    ),
    "stream": (
        "launched work is held up in its stream, by an event or other work",
        "look at the events and streams that the work after the gaps waits for",
    ),
    "edge": (
        "a GPU has not begun or is done while others of its node work",
        "give the GPUs equal parts of the work, or start them together",
    ),
    "preparation": (
        "the host prepares its first kernel",
        "record more of the run: libraries set themselves up once; choose the part after it with --time",
    ),
    "first use": (
        "the first launch of a kernel takes long: its code is loaded",
        "launch each kernel once before the part that counts, or record more of the run after its first use",
    ),
    "loading code": (
        "code is loaded or compiled",
        "load code before the part that counts; ship code objects for the target instead of hiprtc",
    ),
    "allocation": ("memory is allocated or released", "allocate once, before the part that counts"),
}


def starved(runs: MergedDiagnosis, claims: Sequence[pl.Expr]) -> Candidate | None:
    """The idle time that no other rule speaks about: the largest part of the time always has a sentence."""
    is_claimed = pl.any_horizontal([NOTHING, *(claim.fill_null(value=False) for claim in claims)])
    edge = pl.DataFrame({"cause": ["edge"], "idle_ns": [int(total(runs.gpus["edge_ns"]))]})
    unclaimed = pl.concat([runs.cells.filter(~is_claimed).select("cause", "idle_ns"), edge])
    idle, rest_ns = runs.time("idle_ns"), runs.mean(unclaimed["idle_ns"])
    if runs.share(rest_ns) < _say("G1") or not rest_ns:
        return None
    parts = unclaimed.group_by("cause").agg(pl.col("idle_ns").sum()).sort("idle_ns", "cause", descending=[True, False])
    cause, largest = parts.row(0)
    key = "unlinked" if cause == "unknown" and runs.has_calls else cause
    happens, remedy = _IDLE.get(
        key,
        (f"the launching thread is busy with: {cause}", "launch the next work before these calls, or make them fewer"),
    )
    beside = "" if rest_ns >= _ALL * idle else ", besides what other findings name"
    title = f"The GPU idles {percent(runs.share(rest_ns))} of the time{beside}"
    reason = (
        f"in {duration(runs.mean(largest))} ({percent(runs.share(runs.mean(largest)))} of the time) of it {happens}"
    )
    return Candidate(
        rule="G1",
        value=runs.share(rest_ns),
        time_ns=rest_ns,
        title=title,
        cause=reason,
        claim=CLAIMS["G1"],
        extra_ns=runs.time("edge_ns"),
        evidence=runs.idle_evidence(~is_claimed),
        case_count=runs.gap_count(~is_claimed),
        remedies=(remedy,),
    )


def _host_bound(runs: MergedDiagnosis) -> Candidate | None:
    candidate = _idle(
        runs,
        "G2",
        "The host is slower than the GPU",
        "the GPU idles {time} ({share}) while the launching thread runs its own code, in {gaps}",
    )
    if candidate is None:
        return None
    # the longest call of such a gap is a short one: the host is not in it
    return replace(candidate, evidence=tuple(replace(place, call="") for place in candidate.evidence))


def _launch_bound(runs: MergedDiagnosis) -> Candidate | None:
    delay = runs.gpus["delay_ns"].median()
    if delay is None or delay >= LATENCY_NS:  # type: ignore[operator]
        return None
    soon = f"within {duration(float(delay))} of" if delay > 0 else "before the end of"  # type: ignore[operator, arg-type]
    why = f"the GPU idles {{time}} ({{share}}) for launches, in {{gaps}}: half of the kernels start {soon} their launch"
    return _idle(runs, "G3", "Kernels are launched just in time", why)


def _readbacks(runs: MergedDiagnosis) -> Candidate | None:
    count = runs.gap_count(CLAIMS["G4"])
    enough = max(_READBACKS, _OFTEN * runs.step_count * runs.gpu_count)
    if count < enough:
        return None
    copies = runs.copies.filter(pl.col("direction") == "D2H")
    what = counted(int(copies["count"].sum()), "copies to the host")
    each = f", {amount(copies['median_bytes'].median())} each" if copies["median_bytes"].count() else ""  # type: ignore[arg-type]
    return _with_copies(
        runs,
        _idle(
            runs,
            "G4",
            "Readbacks stall the pipeline",
            f"{what}{each}: the host waits for them before it launches more; the GPU idles {{time}} ({{share}}) after "
            "{gaps}".replace("{gaps}", counted(count, "of them")),
        ),
        "D2H",
    )


def _small_copies(runs: MergedDiagnosis) -> Candidate | None:
    copies = runs.copies.filter(pl.col("direction") == "H2D")
    count, small = int(copies["count"].sum()), int(copies["small_count"].sum())
    per_gpu = count / max(1, copies.height)
    is_often = per_gpu >= _SMALL_COPIES or (runs.step_count > 0 and per_gpu >= _SMALL_COPIES_PER_STEP * runs.step_count)
    if not is_often or not (copies["median_small"].median() or 0) >= _MOST:  # type: ignore[operator]
        return None
    below = f" ({small:,} below 64 KiB)" if small else ""
    return _with_copies(
        runs,
        _idle(
            runs,
            "C3",
            "Small copies stop the pipeline",
            f"{counted(count, 'uploads')}{below}: the GPU idles {{time}} ({{share}}) after them",
        ),
        "H2D",
    )


def _with_copies(runs: MergedDiagnosis, candidate: Candidate | None, direction: str) -> Candidate | None:
    """With the small copies themselves: nothing is computed while they run, even if communication goes on."""
    if candidate is None:
        return None
    takes = _IS_SMALL & (pl.col("direction") == direction)
    rows = runs.exposed.filter(takes)
    beside = runs.mean(rows["length_ns"] - rows["exposed_ns"])
    return replace(candidate, takes=candidate.takes | takes, extra_ns=beside)


def _synchronisation(runs: MergedDiagnosis) -> Candidate | None:
    return _idle(
        runs,
        "G5",
        "The host waits for the GPU before it launches more",
        "{call}: the GPU runs dry and idles {time} ({share}) in {gaps} until the next launch",
    )


def _allocation(runs: MergedDiagnosis) -> Candidate | None:
    late = runs.calls.get("allocation", (0, 0, 0))[2]
    if late < 2 or (late < _ALLOCATIONS and runs.share(_time(runs, "G6")) < _say("G6")):
        return None
    return _idle(
        runs,
        "G6",
        "Memory is allocated or released in the loop",
        f"{counted(late, 'calls')} after the first step ({{call}}): the GPU idles {{time}} ({{share}}) in {{gaps}}",
    )


def _loading(runs: MergedDiagnosis) -> Candidate | None:
    if runs.step_count < 2:
        return None
    return _idle(
        runs,
        "G7",
        "Code is loaded or compiled in the loop",
        "the GPU idles {time} ({share}) in {gaps} while code is loaded, after the first step",
    )


def _blocking_copies(runs: MergedDiagnosis) -> Candidate | None:
    return _idle(
        runs, "G8", "The host blocks in copies", "{call}: the GPU idles {time} ({share}) in {gaps} of blocking copies"
    )


def _data_loader(runs: MergedDiagnosis) -> Candidate | None:
    return _idle(
        runs,
        "T3",
        "The GPU waits for the data loader",
        "the GPU idles {time} ({share}) while the launching thread is in the data loader, in {gaps}",
        confidence="medium",
        confidence_reason="told by the names of markers and functions",
    )


def _faults(runs: MergedDiagnosis) -> Candidate | None:
    return _idle(
        runs,
        "T4",
        "Page faults or migrations hold up the GPU",
        "the GPU idles {time} ({share}) in {gaps} with page faults, migrations or evictions",
    )


#: Copies that are most of the work of a GPU are told from this share of the time on: what any finding has at least.
_LEAST_MOVED = 0.01
_AT_EDGES = (
    "move less, or move it while kernels run: in pieces, with hipMemcpyAsync from pinned memory (hipHostMalloc)",
    "PyTorch: create tensors on the GPU (device=...), pin_memory() before .to(device, non_blocking=True)",
)


def _exposed_copies(runs: MergedDiagnosis) -> Candidate | None:
    takes = pl.col("kind") == COPY
    rows = runs.exposed.filter(takes)
    time = runs.mean(rows["exposed_ns"])
    of_work = runs.time("copy_ns") / max(1.0, runs.window_ns - runs.time("idle_ns"))
    is_most = of_work > _MOST
    if runs.share(time) < (_LEAST_MOVED if is_most else _say("C1")) or not time:
        return None
    edges = runs.mean(rows.filter("is_edge")["exposed_ns"])
    at_edges = f", {duration(edges)} of it before the first or after the last kernel" if edges > _MOST * time else ""
    largest = rows.group_by("direction").agg(pl.col("exposed_ns").sum()).sort("exposed_ns", descending=True)
    directions = [f"{name} {duration(runs.mean(each))}" for name, each in largest.iter_rows() if each]
    return Candidate(
        rule="C1",
        value=runs.share(time),
        time_ns=time,
        title="Copies run while no kernel does",
        cause=f"{duration(time)} ({percent(runs.share(time))} of the time) of copies are hidden by nothing: "
        f"{', '.join(directions)}{at_edges}; copies are {percent(of_work)} of the work of the GPU",
        takes=takes,
        least=_LEAST_MOVED if is_most else None,
        remedies=_AT_EDGES if at_edges else (),
        evidence=runs.exposed_evidence(is_copy=True),
        case_count=rows.height,
    )


def _slow_copies(runs: MergedDiagnosis) -> Candidate | None:
    """Large copies between host and GPU below a rate that pinned memory reaches."""
    is_host = pl.col("direction").is_in(["H2D", "D2H"])
    rows = runs.copies.filter(
        is_host, pl.col("sized_count") > 0, pl.col("size_bytes") >= (1 << 20) * pl.col("sized_count")
    )
    rate = total(rows["size_bytes"]) / max(1.0, total(rows["sized_ns"]))
    if not rows.height or not 0 < rate < _say("C2"):
        return None
    best = max(float(rows["best_rate"].max() or 0.0), 2 * _say("C2"))  # type: ignore[arg-type]
    takes = (pl.col("kind") == COPY) & ~pl.col("is_small") & is_host
    exposed = runs.mean(runs.exposed.filter(takes)["exposed_ns"])
    bound = exposed * (1 - rate / best)
    size = amount(int(rows["size_bytes"].sum()))
    return Candidate(
        rule="C2",
        value=rate,
        time_ns=exposed,
        title="Copies between host and GPU are slow",
        cause=f"{size} in {counted(int(rows['count'].sum()), 'copies')} at {rate:.1f} GB/s, {duration(exposed)} of it "
        "exposed; rates this low are typical of pageable memory",
        extra_ns=bound,
        within="C1",
        evidence=runs.exposed_evidence(is_copy=True),
        case_count=int(rows["count"].sum()),
        confidence="low",
        confidence_reason="whether memory is pinned is not recorded",
    )


def _tiny_kernels(runs: MergedDiagnosis) -> Candidate | None:
    rows = pl.concat(part.kernels.tiny for part in runs.partials)
    calls, spent, saved = (int(rows["calls"].sum()), runs.mean(rows["total_ns"]), runs.mean(rows["saved_ns"]))
    if not calls or runs.share(spent) < _say("L1"):
        return None
    named = runs.kernels.filter(pl.col("calls") >= 100, pl.col("total_ns") < 10_000 * pl.col("calls"))
    return Candidate(
        rule="L1",
        value=runs.share(spent),
        time_ns=spent,
        title="Many kernels are tiny",
        cause=f"{counted(calls, 'calls')} of kernels below 10 us outside of graphs take {duration(spent)} "
        f"({percent(runs.share(spent))} of the time); in a row with others of their kind they could be one",
        extra_ns=saved,
        evidence=runs.kernel_evidence(named, "total_ns"),
        case_count=calls,
        confidence="medium",
        confidence_reason="whether they can be fused depends on their data",
    )


def _fusion(runs: MergedDiagnosis) -> Candidate | None:
    rows = pl.concat(part.kernels.fused for part in runs.partials)
    saved = runs.mean(rows["saved_ns"])
    if runs.share(saved) < _say("L2") or not saved:
        return None
    every = rows.group_by("names", "length").agg(pl.col("times", "total_ns", "saved_ns").sum())
    sums = (
        every.sort("saved_ns", "length", descending=True)
        .head(_MOST_EXAMPLES)
        .with_columns(name=pl.col("names").list.join(" + "))
    )
    first = sums.row(0, named=True)
    return Candidate(
        rule="L2",
        value=runs.share(saved),
        time_ns=runs.mean(every["total_ns"]),
        title="Element-wise kernels follow each other: candidates for fusion",
        cause=f"{counted(int(every['times'].sum()), 'sequences')} of element-wise kernels, norms, reductions and copies"
        f" between matrix products, attention and other kernels take {duration(runs.mean(every['total_ns']))}, all but "
        f"the longest of each {duration(saved)}; the largest, of {first['length']} kernels, comes "
        f"{counted(first['times'], 'times')} and takes {duration(runs.mean(first['total_ns']))}",
        extra_ns=saved,
        evidence=runs.kernel_evidence(sums, "total_ns", "times"),
        case_count=int(every["times"].sum()),
        confidence="low",
        confidence_reason="the dependence of data is not recorded",
    )


def _graphs(runs: MergedDiagnosis) -> Candidate | None:
    return _idle(
        runs,
        "L3",
        "A sequence of kernels repeats: candidate for a graph",
        f"sequences of {GRAPH_LENGTH} kernels that repeat at least {GRAPH_TIMES} times, launched one by one, contain "
        "{time} ({share}) of these gaps",
        within="G3",
        confidence="medium",
        confidence_reason="whether arguments change between repetitions is not recorded",
    )


def _underfilled(runs: MergedDiagnosis) -> Candidate | None:
    rows = runs.kernels.filter(pl.col("small_ns") > 0).sort("lost_ns", descending=True)
    small, lost = runs.mean(rows["small_ns"]), runs.mean(rows["lost_ns"])
    computation = runs.time("computation_ns")
    if not computation or small / computation < _say("L4"):
        return None
    first = rows.row(0, named=True)
    name = short_names([first["name"]], 60)[first["name"]]
    is_most = first["small_ns"] > _MOST * total(rows["small_ns"])
    largest = f"most of it {name} with {first['workgroups']:,} workgroups" if is_most else f"the largest is {name}"
    return Candidate(
        rule="L4",
        value=small / computation,
        time_ns=small,
        title="Launches leave compute units without work",
        cause=f"kernels with fewer workgroups than the GPU has compute units, alone on it, take {duration(small)} "
        f"({percent(small / computation)} of the computation); {largest}",
        extra_ns=lost,
        evidence=runs.kernel_evidence(rows, "small_ns"),
        case_count=rows.height,
        kernel=first["name"],
        confidence="medium",
        confidence_reason="a persistent kernel may be right with few workgroups",
    )


def _clocks(runs: MergedDiagnosis) -> Candidate | None:
    rows = pl.concat(part.clocks for part in runs.partials).filter(pl.col("sample_count") >= 20)
    if not rows.height:
        return None
    slower = float((1 - rows["mean_mhz"] / rows["max_mhz"]).mean() or 0.0)  # type: ignore[arg-type]
    if slower < 0.10:
        return None
    computation = runs.time("computation_ns")
    mean, top = float(rows["mean_mhz"].mean() or 0), float(rows["max_mhz"].max() or 0)  # type: ignore[arg-type]
    return Candidate(
        rule="T1",
        value=slower,
        time_ns=computation,
        title="The clock is below its highest while the GPU works",
        cause=f"{mean:,.0f} MHz on average while busy, {top:,.0f} MHz at most, "
        f"in {counted(int(rows['sample_count'].sum()), 'samples')}",
        extra_ns=computation * slower,
        case_count=int(rows["sample_count"].sum()),
        confidence="medium",
        confidence_reason="kernels that wait for memory do not get faster with the clock",
    )


def _unequal_steps(runs: MergedDiagnosis) -> Candidate | None:
    steps = [step for step in runs.steps if step.is_usual]  # others do other work: they are not slow
    if len(steps) < 3:
        return None
    middle = len(steps) // 2
    median = sorted(step.length_ns for step in steps)[middle]
    median_busy_ns = sorted(step.computed_ns for step in steps)[middle]
    long = [
        max(0, step.length_ns - median - max(0, step.computed_ns - median_busy_ns))
        for step in steps
        if step.length_ns > _LONG_STEP * median
    ]
    excess = runs.mean(sum(long))
    if runs.share(excess) < _say("T2") or not long:
        return None
    return Candidate(
        rule="T2",
        value=runs.share(excess),
        time_ns=excess,
        title="Some steps take far longer than usual",
        cause=f"{len(long)} of {counted(len(steps), 'steps')} take more than 1.5 times the median of "
        f"{duration(median)}; together {duration(excess)} more without computing",
        rest_ns=excess,
        case_count=len(long),
    )


CHECKS: dict[str, Check] = {
    "G2": _host_bound, "G3": _launch_bound, "G4": _readbacks, "G5": _synchronisation, "G6": _allocation,
    "G7": _loading, "G8": _blocking_copies, "C1": _exposed_copies, "C2": _slow_copies, "C3": _small_copies,
    "L1": _tiny_kernels, "L2": _fusion, "L3": _graphs, "L4": _underfilled, "T1": _clocks, "T2": _unequal_steps,
    "T3": _data_loader, "T4": _faults,
}  # fmt: skip

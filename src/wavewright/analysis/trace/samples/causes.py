"""Causes of PC samples, and which samples an answer is about.

The cause says why a wave did not issue, or, where that is not recorded, at what kind of instruction it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.codeobj.classes import waits_of
from wavewright.codeobj.targets import FAMILIES, family_of
from wavewright.facts.loader import Fact, decoded, packaged
from wavewright.model.schema import SAMPLE_COUNTS
from wavewright.model.trace import ThreadTrace


class Cause(Fact, frozen=True):
    """Common cause of a group of samples."""

    name: str
    meaning: str
    remedy: str = ""  #: What to try; empty = nothing follows from it.


class _Causes(Fact, frozen=True):
    """The declarations of sample_causes.toml."""

    counted: dict[str, str]  #: Counter of waits -> what it counts.
    pipes: dict[str, tuple[str, ...]]  #: Pipe -> starts of the classes of its instructions.
    pipe_remedies: dict[str, str]
    reasons: dict[str, Cause]  #: Causes of reasons that need nothing but themselves.


_FILE = "sample_causes.toml"
_CAUSES = decoded(packaged(_FILE), _Causes, where=_FILE)
_WAIT_REMEDY = (
    "issue the awaited operations earlier, or have more of them in flight; a thread trace tells which ones they are"
)
_S_NOP = Cause("s_nop", "waves spend cycles that the code asks for, to keep hazards apart")
#: Another wave issued to the same pipe in that cycle: the SIMD was not idle.
LOST = Cause("arbiter loss", "another wave issued to the same kind of pipe in that cycle")
ISSUED = Cause("issued", "the wave issued its instruction")


def causes_of_samples(trace: ThreadTrace) -> pl.DataFrame:
    """The samples of every code row by cause: `row`, `cause`, `meaning`, `remedy`, `count`.

    Samples with a reason have the cause of the reason, issued ones the cause `issued`; of samples that tell neither,
    the kind of instruction is all there is.
    """
    code = {row: (name, text) for row, name, text in trace.code.select("row", "class", "text").iter_rows()}
    family = family_of(trace.source.target) if trace.source.target else None
    groups: list[tuple[int, Cause, int]] = []
    for row, issued, unknown in trace.samples.select("row", "issued_count", "unknown_count").iter_rows():
        groups += [(row, ISSUED, issued)] if issued else []
        groups += [(row, _at(*code.get(row, ("", "")), family), unknown)] if unknown else []
    for row, reason, count in trace.sample_reasons.select("row", "reason", "count").iter_rows():
        groups.append((row, _because(reason, *code.get(row, ("", "")), family), count))
    columns = ("row", "cause", "meaning", "remedy", "count")
    rows = [(row, cause.name, cause.meaning, cause.remedy, count) for row, cause, count in groups]
    schema = dict.fromkeys(columns, pl.String) | {"row": pl.Int32, "count": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _because(reason: str, kind: str, text: str, family: str | None) -> Cause:
    """The cause of a reason at an instruction."""
    if reason == "waitcnt":
        return _wait(text, family)
    if reason == "arbiter loss":
        return LOST
    if reason == "internal" and kind in ("nop", "delay"):
        return _S_NOP
    if reason == "ALU dependency":
        what = "matrix" if kind == "matrix" else "ALU"
        meaning = "waves wait for a result of an earlier instruction, or for a hazard to pass"
        return Cause(f"{what} dependency", meaning, "put independent work between the two instructions")
    if reason == "pipe stall":
        pipe = _pipe(kind)
        meaning = f"the {pipe} pipe takes no further instruction"
        return Cause(f"{pipe} issue", meaning, _CAUSES.pipe_remedies.get(pipe, ""))
    return _CAUSES.reasons.get(reason) or Cause(reason, "a reason that this version of wavewright does not know")


def _at(kind: str, text: str, family: str | None) -> Cause:
    """The cause of a sample that tells the instruction only."""
    if kind == "wait":
        return _wait(text, family)
    if kind in ("barrier", "barrier_wait"):
        return _CAUSES.reasons["barrier"]
    if kind == "sleep":
        return _CAUSES.reasons["sleeping"]
    if kind == "end":
        return Cause("s_endpgm", "waves end, which takes until their stores are done")
    pipe = _pipe(kind)
    remedy = _CAUSES.pipe_remedies.get(pipe, "") if pipe in ("VMEM", "FLAT", "scratch", "LDS") else ""
    return Cause(f"{pipe} instructions", f"waves are at {pipe} instructions; whether they wait is not recorded", remedy)


def _wait(text: str, family: str | None) -> Cause:
    """A wait, named by the counters that it waits for."""
    waits = next(filter(None, (waits_of(text, name) for name in ([family] if family else FAMILIES))), ())
    counters = [wait.counter for wait in waits]
    if not counters:
        return Cause("wait", "waves wait for accesses to memory or LDS in flight", _WAIT_REMEDY)
    meaning = " and ".join(dict.fromkeys(_CAUSES.counted.get(counter, counter) for counter in counters))
    return Cause(f"wait {' '.join(counters)}", f"waves wait for {meaning} in flight", _WAIT_REMEDY)


def _pipe(kind: str) -> str:
    return next((pipe for pipe, starts in _CAUSES.pipes.items() if kind.startswith(starts)), "other")


#: Kernels of the runtime, for fills and copies.
_RUNTIME = "__amd_rocclr_"


@dataclass(frozen=True)
class SampleScope:
    """Some samples of a trace, in numbers."""

    kernel_name: str | None  #: The kernel they are of; None = all kernels, or not recorded.
    kernel_count: int  #: Kernels with samples; 0 = not recorded.
    dispatch_count: int | None  #: Dispatches with samples; None = not recorded.
    sample_count: int
    all_sample_count: int  #: Samples of all kernels.
    issued_count: int
    stalled_count: int
    unknown_count: int  #: Samples of a method that does not tell whether the wave issued.
    moment_count: int | None  #: Different times at which each dispatch was sampled, added up; None = not recorded.
    cu_wave_count_mean: float | None  #: Waves on the CU of a sample; None = not recorded.

    @property
    def independent_count(self) -> int:
        """Least number of independent observations.

        Waves that are sampled in the same moment often are in the same place, so moments count, not waves.
        """
        return self.sample_count if self.moment_count is None else min(self.sample_count, self.moment_count)


def scope_of(trace: ThreadTrace, *, one_kernel: bool = False) -> tuple[SampleScope, pl.DataFrame]:
    """All samples, or those of the kernel with the most (of the user, if any); with their rows of `samples`."""
    samples = trace.samples.join(trace.code.select("row", "function"), on="row", how="left", maintain_order="left")
    samples = samples.with_columns(sample_count=pl.sum_horizontal(SAMPLE_COUNTS)).filter(pl.col("sample_count") > 0)
    totals = samples.drop_nulls("function").group_by("function").agg(pl.col("sample_count").sum())
    kernels = totals.sort(pl.col("function").str.starts_with(_RUNTIME), -pl.col("sample_count"), "function")
    dispatches = trace.sampled_dispatches
    function = kernels["function"][0] if kernels.height and (one_kernel or kernels.height == 1) else None
    chosen = samples
    if function is not None:
        chosen = samples.filter(pl.col("function") == function)
        of_kernel = dispatches.filter(pl.col("kernel_name") == function)
        dispatches = of_kernel if of_kernel.height else dispatches
    sums = chosen.select(pl.col("sample_count", *SAMPLE_COUNTS).sum()).row(0, named=True)
    weights = dispatches.drop_nulls("cu_wave_count_mean")
    weighted = float((weights["cu_wave_count_mean"] * weights["sample_count"]).sum())
    readable = trace.kernels.filter(pl.col("name") == function)["demangled"] if function is not None else ()
    scope = SampleScope(
        kernel_name=next(iter(readable), function),
        kernel_count=kernels.height,
        dispatch_count=dispatches.height or None,
        all_sample_count=int(samples["sample_count"].sum()),
        moment_count=int(dispatches["moment_count"].sum()) if dispatches.height else None,
        cu_wave_count_mean=weighted / int(weights["sample_count"].sum()) if weights.height else None,
        **sums,
    )
    return scope, chosen.select("row", "sample_count")

"""Causes of samples: why a wave did not issue, or, where that is not recorded, at what kind of instruction it was."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from wavewright.codeobj.classes import waits_of
from wavewright.codeobj.targets import FAMILIES, family_of
from wavewright.model.trace import ThreadTrace


@dataclass(frozen=True)
class Cause:
    """Common cause of a group of samples."""

    name: str
    meaning: str
    remedy: str  #: What to try; empty = nothing follows from it.


#: What the counters of waits count (the ISA documents of CDNA and RDNA, "Data Dependency Resolution").
_COUNTED = {
    "vmcnt": "vector memory accesses",
    "lgkmcnt": "LDS accesses and scalar loads",
    "vscnt": "stores",
    "expcnt": "exports",
    "loadcnt": "vector loads",
    "storecnt": "stores",
    "samplecnt": "texture samples",
    "bvhcnt": "ray intersections",
    "dscnt": "LDS accesses",
    "kmcnt": "scalar loads",
    "asynccnt": "copies between memory and LDS",
    "tensorcnt": "tensor copies",
}
_WAIT_REMEDY = (
    "issue the awaited operations earlier, or have more of them in flight; a thread trace tells which ones they are"
)
_PIPES = {
    "VMEM": ("vmem_", "image_", "bvh", "tensor_"),
    "FLAT": ("flat_",),
    "scratch": ("scratch_",),
    "LDS": ("lds_",),
    "scalar memory": ("smem_",),
    "matrix": ("matrix",),
    "VALU": ("valu",),
    "SALU": ("salu",),
    "branch": ("branch", "jump", "call"),
    "s_nop": ("nop", "delay", "clause"),
}
_MEMORY_REMEDY = (
    "the pipe takes no more: fewer accesses (more bytes per lane) and loads issued earlier, both together; counters "
    "tell which level of the memory is full"
)
_PIPE_REMEDIES = {
    "VMEM": _MEMORY_REMEDY,
    "FLAT": _MEMORY_REMEDY,
    "scratch": "use fewer registers, so that less is spilled; index private arrays with constants only",
    "LDS": "fewer or wider LDS accesses; counters tell whether banks conflict",
    "matrix": "",
    "VALU": "",
}

#: Reasons that need nothing but themselves: reason -> cause.
_PLAIN = {
    "barrier": Cause(
        "barrier",
        "waves wait for the other waves of their workgroup",
        "balance the work between the waves of a workgroup, or synchronise less often",
    ),
    "instruction fetch": Cause(
        "instruction fetch",
        "waves have no instruction to issue: it is fetched, after a branch or because it is not in the cache",
        "shorten the code that runs in turn, or have fewer jumps; a first launch fetches everything once",
    ),
    "internal": Cause("internal instruction", "waves issue an instruction of the hardware's own, such as s_nop", ""),
    "other wait": Cause("other wait", "waves wait for something that the hardware does not tell", ""),
    "sleeping": Cause("s_sleep", "waves sleep because the code asks for it", ""),
    "none": Cause("no reason recorded", "waves did not issue and no reason was recorded", ""),
}
_S_NOP = Cause("s_nop", "waves spend cycles that the code asks for, to keep hazards apart", "")
#: Another wave issued to the same pipe in that cycle: the SIMD was not idle.
LOST = Cause("arbiter loss", "another wave issued to the same kind of pipe in that cycle", "")
ISSUED = Cause("issued", "the wave issued its instruction", "")


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
        return Cause(f"{pipe} issue", meaning, _PIPE_REMEDIES.get(pipe, ""))
    return _PLAIN.get(reason) or Cause(reason, "a reason that this version of wavewright does not know", "")


def _at(kind: str, text: str, family: str | None) -> Cause:
    """The cause of a sample that tells the instruction only."""
    if kind == "wait":
        return _wait(text, family)
    if kind in ("barrier", "barrier_wait"):
        return _PLAIN["barrier"]
    if kind == "sleep":
        return _PLAIN["sleeping"]
    if kind == "end":
        return Cause("s_endpgm", "waves end, which takes until their stores are done", "")
    pipe = _pipe(kind)
    remedy = _PIPE_REMEDIES.get(pipe, "") if pipe in ("VMEM", "FLAT", "scratch", "LDS") else ""
    return Cause(f"{pipe} instructions", f"waves are at {pipe} instructions; whether they wait is not recorded", remedy)


def _wait(text: str, family: str | None) -> Cause:
    """A wait, named by the counters that it waits for."""
    waits = next(filter(None, (waits_of(text, name) for name in ([family] if family else FAMILIES))), ())
    counters = [wait.counter for wait in waits]
    if not counters:
        return Cause("wait", "waves wait for accesses to memory or LDS in flight", _WAIT_REMEDY)
    meaning = " and ".join(dict.fromkeys(_COUNTED.get(counter, counter) for counter in counters))
    return Cause(f"wait {' '.join(counters)}", f"waves wait for {meaning} in flight", _WAIT_REMEDY)


def _pipe(kind: str) -> str:
    return next((pipe for pipe, starts in _PIPES.items() if kind.startswith(starts)), "other")

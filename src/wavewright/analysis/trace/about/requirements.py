"""Requirements of questions about instructions, and the errors that say what it has instead."""

from __future__ import annotations

from wavewright.base.shown import quoted
from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace


def require_instructions(trace: ThreadTrace, where: str) -> ThreadTrace:
    """Return the trace if it has instructions; the error names the verb that fits its content.

    Raises `UsageError` when it has none.
    """
    if trace.instruction_count:
        return trace
    source = trace.source
    place = quoted(where)
    arguments = f"{place} --dispatch {source.dispatch_key}" if source.other_dispatches else place
    if trace.samples.height:
        what = "these are PC samples: they record how often a row was seen, not when"
        raise UsageError(what, where=where, advice=f"wavewright hotspots {arguments}")
    if "placeholder" in trace.losses["kind"]:
        number = f"dispatch {source.dispatch_key} is " if source.dispatch_key else ""
        what = f"{number}an empty placeholder: nothing was captured"
        raise UsageError(what, where=where, advice=f"wavewright info {place} lists the other dispatches")
    if trace.stored_totals["hit_count"].sum():
        what = "the wave files are missing: there are totals per instruction, but no instructions"
        advice = f"copy the whole directory; wavewright hotspots {arguments} and stalls --classic use the totals"
        raise UsageError(what, where=where, advice=advice)
    what = "no wave ran on the traced CU, so there are no instructions"
    if trace.occupancy.height:
        advice = f"wavewright occupancy {arguments} shows the waves of the other CUs"
        raise UsageError(what, where=where, advice=advice)
    raise UsageError(what, where=where, advice=f"wavewright info {arguments}")


def has_only_samples(trace: ThreadTrace) -> bool:
    """True if the trace has PC samples and no instructions."""
    return trace.samples.height > 0 and not trace.instruction_count

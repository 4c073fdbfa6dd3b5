"""Selection of PC samples: those of some kernels."""

from __future__ import annotations

import polars as pl

from wavewright.errors import UsageError
from wavewright.model.trace import ThreadTrace

_NAMED = 6


def select_samples(trace: ThreadTrace, kernel: str) -> ThreadTrace:
    """Return the trace with only the samples of kernels with `kernel` in their name, mangled or not.

    Raises
    ------
    UsageError
        When nothing is left.
    """
    functions = trace.code.select("row", name="function").join(
        trace.kernels.select("name", "demangled").unique("name", keep="first"), on="name", how="left"
    )
    is_named = pl.any_horizontal(pl.col("name", "demangled").str.contains(kernel, literal=True).fill_null(value=False))
    named = functions.filter(is_named)
    samples, reasons = (table.join(named, on="row", how="semi") for table in (trace.samples, trace.sample_reasons))
    if not samples.height:
        names = trace.kernels["demangled"].head(_NAMED).to_list()
        advice = f"kernels: {', '.join(names)}" if names else "the samples do not record their kernels"
        raise UsageError(f"no sample of a kernel with {kernel!r} in its name", where=trace.source.path, advice=advice)
    dispatches = trace.sampled_dispatches.filter(pl.col("kernel_name").is_in(named["name"].unique().implode()))
    tables = {name: trace.table(name) for name in ("code", "kernels", "shader_engines", "losses", "sources")}
    tables |= {"samples": samples, "sample_reasons": reasons, "sampled_dispatches": dispatches}
    return ThreadTrace(tables, trace.source)

"""Recorded stacks of allocations: the call site of each, and the category of what it is for."""

from __future__ import annotations

import polars as pl

from wavewright.analysis.run.calls.call_sites import SEPARATOR, UNKNOWN
from wavewright.analysis.run.measures.event_rows import first_label
from wavewright.facts.loader import packaged
from wavewright.model.run import Run

_KEY = ["process", "event"]
_SITE_FRAMES = 3  #: Innermost frames that make a site.
#: Frames of the framework and of native code: the site is the code that calls them.
_FRAMEWORK = r"/(torch|triton)/|\.(c|cc|cpp|h|hpp|o):\d|<eval_with_key>"
#: What native code computes: names of operators and of their derivatives.
_OPERATOR = r"(?:autograd::generated::|at::_ops::)(\w+)"
_WITH_LINE = r"\([^()]+:\d+\)$"  #: The end of the name of a frame of Python: file and line.
OTHER, WITHOUT = "other", "no stack was recorded"


def allocation_stacks(run: Run, lives: pl.DataFrame) -> pl.DataFrame:
    """`site` and `category` of each allocation (`process`, `event`); null where no allocation of the run has frames.

    A site are the innermost frames of own code; where there is none, names of operators; else the innermost frames.
    """
    keys = lives.select(_KEY).drop_nulls().unique()
    pieces = [piece.join(keys, on=_KEY, how="semi") for piece in run.chunks("frames")] if keys.height else []
    empty = pl.DataFrame(schema={"process": pl.UInt32, "event": pl.Int64, "depth": pl.Int64, "name": pl.String})
    frames = pl.concat([empty, *(piece.select(empty.columns).cast({"name": pl.String}) for piece in pieces)])
    name = pl.col("name")
    frames = frames.sort(*_KEY, "depth").with_columns(
        is_own=~name.str.contains(_FRAMEWORK) & name.str.contains(_WITH_LINE),
        shown=name.str.replace(r"\((?:[^)]*/)?([^/)]*)\)$", "(${1})"),
        operator=name.str.extract(_OPERATOR),
    )
    own_code = pl.col("shown").filter("is_own")
    operators = pl.col("operator").drop_nulls().unique(maintain_order=True)
    inner = pl.col("shown").head(_SITE_FRAMES).implode()
    for names in (operators, own_code):
        inner = pl.when(names.len() > 0).then(names.head(_SITE_FRAMES).implode()).otherwise(inner)
    patterns = packaged("categories.toml", __package__).items()
    category = first_label(*((label, name.str.contains(text).any()) for label, text in patterns), otherwise=OTHER)
    groups = frames.group_by(_KEY)
    stacks = groups.agg(site=inner.first().list.reverse().list.join(SEPARATOR).replace("", UNKNOWN), category=category)
    rows = lives.select(_KEY).join(stacks, on=_KEY, how="left", maintain_order="left").select("site", "category")
    return rows.with_columns(pl.col("category").fill_null(WITHOUT)) if stacks.height else rows

"""Names of a run for the page: of everything that can be searched for, of kernels, and of the tracks of GPUs."""

from __future__ import annotations

from typing import Any

import polars as pl

from wavewright.analysis.run.calls.kernel_names import readable_names, short_names
from wavewright.analysis.run.select.gpus import index_gpus
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, once_per_document
from wavewright.page.run.answers import summary_by
from wavewright.page.run.layers import timeline_of
from wavewright.page.run.times import nodes_by_machine

_MOST_KERNELS = 2_000  #: Kernels that get short names.
_WIDTH = 44  #: Characters of a short name.
_MOST_TRACKS = 256  #: Tracks of one GPU that are named.
MOST_NAMES = 100_000  #: Names that are sent to the page.


def names(document: Document) -> pl.DataFrame:
    """Every name of the run with its domain, calls and total time in ns, most time first."""
    things = summary_by(document, "all").things
    columns = ("domain", pl.col("name").fill_null(""), pl.col("calls", "total_ns").cast(pl.Float64))
    return things.sort("total_ns", descending=True).select(columns).head(MOST_NAMES)


@once_per_document
def kernel_names(document: Document) -> list[tuple[str, str, str]]:
    """Full, short and demangled names of the kernels that take most time."""
    kernels = names(document).filter(pl.col("domain") == "KERNEL")["name"].unique(maintain_order=True)
    longest = kernels.head(_MOST_KERNELS).to_list()
    short, readable = short_names(longest, _WIDTH), readable_names(longest)
    return [(name, short_name, readable[name]) for name, short_name in short.items()]


def gpu_tracks(document: Document) -> list[dict[str, Any]]:
    """The timeline's tracks of each GPU, which answers name by `node` and `gpu`."""
    tracks = timeline_of(document).tracks.filter(pl.col("kind") == "stream").select("track", "agent").drop_nulls()
    index = index_gpus(document.run)
    names_of = nodes_by_machine(document)
    places = tracks.with_columns(place=index.numbers.gather(tracks["agent"]))
    by_gpu = places.join(index.table, on="place").group_by("machine", "gpu", maintain_order=True).agg("track")
    return [
        {"node": names_of.get(row["machine"], ""), "gpu": row["gpu"], "tracks": row["track"][:_MOST_TRACKS]}
        for row in by_gpu.to_dicts()
    ]


QUESTIONS = (
    PageQuestion("run_gpu_tracks", gpu_tracks),
    PageQuestion("names", names),
    PageQuestion("run_kernel_names", kernel_names),
)

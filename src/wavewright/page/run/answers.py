"""Results of run analyses for the page, which shows their numbers and computes none of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from wavewright.analysis.beside import with_evidence
from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.run.contents.regions import Regions, regions
from wavewright.analysis.run.contents.summary import Summary, summary
from wavewright.analysis.run.gpu_time.gaps import gaps
from wavewright.analysis.run.kernels import Kernels, kernels
from wavewright.errors import UsageError
from wavewright.model.document import Document
from wavewright.page.protocol.question import PageQuestion, every_other, once_per_document
from wavewright.page.protocol.serialize import MOST_ROWS, doubles, serialize
from wavewright.page.run.times import since_begin
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import place, text
from wavewright.questions.kit.question import Wording

_MOST_NODES = 20_000  #: Of a call tree, those that take most time.
GROUPINGS = ("all", "process", "rank", "gpu", "stream", "marker")  #: What a summary can be grouped by.
_GROUPED = [{}, *({"by": name} for name in GROUPINGS)]  #: The summaries that an exported page stores.
_NO_REGIONS = ("KERNEL", "COPY", "ALLOCATION", "SCRATCH")  #: Domains of a summary that are no regions.
_MOST_GAPS = 500  #: Single gaps, the longest.
_EXPORTED_KERNELS = 200  #: Kernels whose details an exported page stores, those that take most time.


def serialized(document: Document, answer: Any, *, top: int = MOST_ROWS) -> Any:
    """A result for JSON, with times counted from the start of their node."""
    return serialize(answer, top=top, prepare=lambda frame: since_begin(document, frame))


@once_per_document
def summary_of_run(document: Document, *, by: str = "all") -> Any:
    """Time by kind of thing and name (`analysis.run.contents.summary`)."""
    return serialized(document, summary_by(document, by))


@once_per_document
def summary_by(document: Document, by: str) -> Summary:
    """All rows of the summary of the run, grouped by one of `GROUPINGS`."""
    if by not in GROUPINGS:
        raise UsageError(f"no grouping {by[:40]!r}", advice=f"groupings: {', '.join(GROUPINGS)}")
    return summary(document.run, by=by)  # type: ignore[arg-type]


@once_per_document
def _kernels(document: Document) -> Kernels:
    return with_evidence(kernels(document.run), document.path)


@once_per_document
def kernels_of_run(document: Document) -> Any:
    """All kernels with their durations and launch latencies (`analysis.run.kernels`), most time first.

    The tables about single kernels are empty: `kernel_of_run` gives their rows.
    """
    answer = _kernels(document)
    empty_tables = {name: getattr(answer, name).clear() for name in answer.tables if name != "kernels"}
    return serialized(document, replace(answer, **empty_tables))


def kernel_of_run(document: Document, *, name: str) -> Any:
    """One kernel: its durations as a histogram and over time, launch sizes, longest dispatches, by GPU and by rank."""
    answer = _kernels(document)
    has_name = pl.col("name") == name
    if not answer.kernels.filter(has_name).height:
        raise UsageError(f"there is no kernel {name[:80]!r}")
    of_kernel = replace(answer, **{table: getattr(answer, table).filter(has_name) for table in answer.tables})
    is_kernel = has_name & (pl.col("domain") == "KERNEL")
    groups = {by: summary_by(document, by).things.filter(is_kernel).head(MOST_ROWS) for by in ("gpu", "process")}
    return serialized(document, of_kernel) | {f"by_{by}": rows.to_dicts() for by, rows in groups.items()}


def regions_of_run(document: Document, *, domain: str = "all") -> pl.DataFrame:
    """The call tree of all regions, or of those of one domain (MARKER, HIP, ...).

    At most 20,000 nodes, those that take most time; `node_count` counts all.
    """
    choices = ["all", *region_domains(document)]
    if domain not in choices:
        raise UsageError(f"no regions of domain {domain[:40]!r}", advice=f"domains: {', '.join(choices)}")
    return _tree(document, domain)


@once_per_document
def whole_tree(document: Document, domain: str) -> Regions:
    """All nodes of the call tree (`analysis.run.contents.regions`) of a domain; "all" = of all regions."""
    return regions(document.run, domains=() if domain == "all" else (domain,))


@once_per_document
def _tree(document: Document, domain: str) -> pl.DataFrame:
    answer = whole_tree(document, domain)
    tree = answer.tree.drop("path", "domain")
    if tree.height > _MOST_NODES:
        # A parent takes at least as long as its children, and comes first where it takes as long: so it is never cut.
        longest = tree.sort("total_ns", -pl.col("depth"), descending=True, maintain_order=True)
        tree = longest.head(_MOST_NODES).sort("node")
    numbers = pl.col("node", "parent", "depth").cast(pl.Int32)
    return doubles(tree.with_columns(numbers)).with_columns(
        node_count=pl.lit(answer.tree.height, pl.UInt32),
        region_count=pl.lit(float(answer.region_count)),
        thread_count=pl.lit(answer.thread_count, pl.UInt32),
        unlinked_gpu_ns=pl.lit(float(answer.unlinked_gpu_ns)),
        untimed_count=pl.lit(float(answer.untimed_count)),
    )


@once_per_document
def gaps_of_run(document: Document) -> Any:
    """Idle time of GPUs between work, by cause (`analysis.run.gpu_time.gaps`)."""
    return serialized(document, gaps(document.run, keep=_MOST_GAPS))


def _declared(name: str) -> PageQuestion:
    """A declared question: its result, and the verdict that the command line prints."""
    question = question_of("run", name)

    def answer(document: Document) -> Any:
        result = question.asked(document)
        verdict: Any = next(iter(question.words(result, Wording())))
        content = document.kept(("run", name), lambda: serialized(document, result))
        return content | {"verdict": verdict.text}

    return PageQuestion(f"run_{name}", answer, is_of_time=True)


def region_domains(document: Document) -> list[str]:
    """The domains that have regions (MARKER, HIP, ...), those that take most time first."""
    domains = summary_by(document, "all").domains["domain"].to_list()
    return [name for name in domains if name not in _NO_REGIONS]


def _every_choice(document: Document) -> list[dict[str, str]]:
    return [{}, *({"domain": name} for name in ("all", *region_domains(document)))]


def _longest(document: Document) -> list[dict[str, str]]:
    return [{"name": name} for name in _kernels(document).kernels["name"].head(_EXPORTED_KERNELS)]


@once_per_document
def run_against(document: Document, *, base: int) -> Any:
    """The changes from the run of document `base` to this one, beyond noise (`analysis.run.compare.compare`)."""
    if document.library is None or base == document.number:
        raise UsageError("a run is compared with another one", advice="open both: wavewright open BEFORE AFTER")
    other = document.library.document(base)
    labels = [other.label, document.label]
    if labels[0] == labels[1]:
        labels = [f"{label} ({letter})" for label, letter in zip(labels, "AB", strict=True)]
    answer = compare_runs([other.run, document.run], labels=labels)
    verdicts = {name: getattr(answer, name)(1) for name in ("verdict", "time_verdict", "structure_verdict")}
    return serialized(document, answer) | verdicts


QUESTIONS = (
    PageQuestion("run_summary", summary_of_run, {"by": text}, exported=lambda _: _GROUPED, is_of_time=True),
    PageQuestion("run_kernels", kernels_of_run, is_of_time=True),
    PageQuestion("run_kernel", kernel_of_run, {"name": text}, required=("name",), exported=_longest, is_of_time=True),
    PageQuestion("run_region_domains", region_domains, is_of_time=True),
    PageQuestion("run_regions", regions_of_run, {"domain": text}, exported=_every_choice, is_of_time=True),
    PageQuestion("run_gaps", gaps_of_run, is_of_time=True),
    *map(_declared, ("overlap", "ranks", "collectives", "launches", "memory")),
    PageQuestion("run_compare", run_against, {"base": place}, required=("base",), exported=every_other),
)

"""Answers of the analyses of runs, as they are: the page shows these numbers and makes none of its own."""

from __future__ import annotations

from collections.abc import Callable
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
from wavewright.page.protocol.question import PageQuestion, every_other
from wavewright.page.protocol.serialize import MOST_ROWS, doubles, serialize
from wavewright.page.run.times import since_begin
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.parameters import place, text
from wavewright.questions.kit.question import Wording

_MOST_NODES = 20_000
GROUPINGS = ("all", "process", "rank", "gpu", "stream", "marker")  #: What a summary can be grouped by.
_GROUPED = [{}, *({"by": name} for name in GROUPINGS)]
_NO_REGIONS = ("KERNEL", "COPY", "ALLOCATION", "SCRATCH")  #: Domains of a summary that are no regions.
_KEPT_GAPS = 500


def serialized(document: Document, answer: Any, *, top: int = MOST_ROWS) -> Any:
    """An answer for JSON, with times since the start of their node."""
    return serialize(answer, top=top, prepare=lambda frame: since_begin(document, frame))


def _kept(document: Document, key: str, make: Callable[[], Any]) -> Any:
    return document.kept(("run", key), lambda: serialized(document, make()))


def summary_of_run(document: Document, *, by: str = "all") -> Any:
    """Time by kind of thing and name (`analysis.run.contents.summary`)."""
    return _kept(document, f"summary {by}", lambda: summary_by(document, by))


def summary_by(document: Document, by: str) -> Summary:
    """The whole summary of the run (`analysis.run.contents.summary`), asked once."""
    if by not in GROUPINGS:
        raise UsageError(f"no grouping {by[:40]!r}", advice=f"groupings: {', '.join(GROUPINGS)}")
    answer: Summary = document.kept(("run", "whole summary", by), lambda: summary(document.run, by=by))  # type: ignore[arg-type]
    return answer


def _kernels(document: Document) -> Kernels:
    return document.kept(("run", "whole kernels"), lambda: with_evidence(kernels(document.run), document.path))


def kernels_of_run(document: Document) -> Any:
    """All kernels with their durations and launch latencies (`analysis.run.kernels`), most time first."""
    answer = _kernels(document)
    return _kept(document, "kernels", lambda: _cut(answer, answer.kernels.height, keep=("kernels",)))


def _cut(answer: Kernels, height: int, *, keep: tuple[str, ...]) -> Kernels:
    """The answer without rows of the tables that are not to be kept."""
    empty = {name: getattr(answer, name).clear() for name in answer.tables if name not in keep}
    return replace(answer, **empty, kernels=answer.kernels.head(height))


def kernel_of_run(document: Document, *, name: str) -> Any:
    """One kernel: its durations as a histogram and over time, launch sizes, longest dispatches, by GPU and by rank."""
    answer = _kernels(document)
    is_it = pl.col("name") == name
    if not answer.kernels.filter(is_it).height:
        raise UsageError(f"there is no kernel {name[:80]!r}")
    of_kernel = replace(answer, **{table: getattr(answer, table).filter(is_it) for table in answer.tables})
    is_kernel = is_it & (pl.col("domain") == "KERNEL")
    groups = {by: summary_by(document, by).things.filter(is_kernel).head(MOST_ROWS) for by in ("gpu", "process")}
    return serialized(document, of_kernel) | {f"by_{by}": rows.to_dicts() for by, rows in groups.items()}


def regions_of_run(document: Document, *, domain: str = "all") -> pl.DataFrame:
    """The call tree (`analysis.run.contents.regions`): of all regions, or of those of one domain (MARKER, HIP, ...).

    At most 20,000 nodes, those that take most time: `node_count` says how many there are.
    """
    choices = ["all", *region_domains(document)]
    if domain not in choices:
        raise UsageError(f"no regions of domain {domain[:40]!r}", advice=f"domains: {', '.join(choices)}")
    return document.kept(("run", "regions", domain), lambda: _tree(document, domain))


def whole_tree(document: Document, domain: str) -> Regions:
    """The whole call tree (`analysis.run.contents.regions`) of all regions, or of those of one domain, asked once."""
    domains = () if domain == "all" else (domain,)
    return document.kept(("run", "whole tree", domain), lambda: regions(document.run, domains=domains))


def _tree(document: Document, domain: str) -> pl.DataFrame:
    answer = whole_tree(document, domain)
    tree = answer.tree.drop("path", "domain")
    if tree.height > _MOST_NODES:
        longest = tree.sort("total_ns", -pl.col("depth"), descending=True, maintain_order=True)
        tree = longest.head(_MOST_NODES).sort("node")  # no node without its parent: that takes at least as long
    counts = pl.col("node", "parent", "depth").cast(pl.Int32)
    return doubles(tree.with_columns(counts)).with_columns(
        node_count=pl.lit(answer.tree.height, pl.UInt32),
        region_count=pl.lit(float(answer.region_count)),
        thread_count=pl.lit(answer.thread_count, pl.UInt32),
        unlinked_gpu_ns=pl.lit(float(answer.unlinked_gpu_ns)),
        untimed_count=pl.lit(float(answer.untimed_count)),
    )


def gaps_of_run(document: Document) -> Any:
    """Idle time of GPUs between work, by cause (`analysis.run.gpu_time.gaps`)."""
    return _kept(document, "gaps", lambda: gaps(document.run, keep=_KEPT_GAPS))


def _declared(name: str) -> PageQuestion:
    """A declared question: its answer as it is, and the verdict of the command line."""
    question = question_of("run", name)

    def answer(document: Document) -> Any:
        result = question.asked(document)
        verdict: Any = next(iter(question.words(result, Wording())))
        return _kept(document, name, lambda: result) | {"verdict": verdict.text}

    return PageQuestion(f"run_{name}", answer, is_of_time=True)


def region_domains(document: Document) -> list[str]:
    """Domains that have regions, those that take most time first (MARKER, HIP, ...)."""
    domains = summary_by(document, "all").domains["domain"].to_list()
    return [name for name in domains if name not in _NO_REGIONS]


def _every_choice(document: Document) -> list[dict[str, str]]:
    return [{}, *({"domain": name} for name in ("all", *region_domains(document)))]


def _top_kernels(document: Document) -> list[dict[str, str]]:
    return [{"name": name} for name in _kernels(document).kernels["name"].head(200)]


def run_against(document: Document, *, base: int) -> Any:
    """The run against the document `base` (`analysis.run.compare.compare`): what got slower or faster, beyond noise."""
    if document.library is None or base == document.number:
        raise UsageError("a run is compared with another one", advice="open both: wavewright open BEFORE AFTER")
    other = document.library.document(base)
    labels = [other.label, document.label]
    if labels[0] == labels[1]:
        labels = [f"{label} ({letter})" for label, letter in zip(labels, "AB", strict=True)]

    def make() -> Any:
        answer = compare_runs([other.run, document.run], labels=labels)
        words = {"verdict": answer.verdict(1), "time_verdict": answer.time_verdict(1)}
        return serialized(document, answer) | words | {"structure_verdict": answer.structure_verdict(1)}

    return document.kept(("run", "compare", base), make)


QUESTIONS = (
    PageQuestion("run_summary", summary_of_run, {"by": text}, (), lambda _: _GROUPED, is_of_time=True),
    PageQuestion("run_kernels", kernels_of_run, is_of_time=True),
    PageQuestion("run_kernel", kernel_of_run, {"name": text}, ("name",), _top_kernels, is_of_time=True),
    PageQuestion("run_region_domains", region_domains, is_of_time=True),
    PageQuestion("run_regions", regions_of_run, {"domain": text}, (), _every_choice, is_of_time=True),
    PageQuestion("run_gaps", gaps_of_run, is_of_time=True),
    *map(_declared, ("overlap", "ranks", "collectives", "launches", "memory")),
    PageQuestion("run_compare", run_against, {"base": place}, ("base",), every_other),
)

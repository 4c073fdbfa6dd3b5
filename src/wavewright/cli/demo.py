"""`wavewright demo`: decode a capture that comes with wavewright, explain what it shows, and show it."""

from __future__ import annotations

import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from wavewright.analysis.counters.compare import counter_compare
from wavewright.analysis.counters.engine.panels import counter_panels
from wavewright.analysis.counters.limiters import limiters
from wavewright.analysis.run.compare.compare import compare_runs
from wavewright.analysis.trace.about.overview import overview
from wavewright.analysis.trace.costs.hotspots import hotspots
from wavewright.analysis.trace.diagnose import diagnose
from wavewright.analysis.trace.waits import waits
from wavewright.analysis.trace.waves.resident import residency
from wavewright.base.scratch import scratch_folder
from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.viewer import Listener, import_server
from wavewright.model.blocks import AnyBlock
from wavewright.model.document import Document, Library
from wavewright.model.trace import ThreadTrace
from wavewright.questions.catalog import question_of
from wavewright.questions.kit.question import Wording
from wavewright.readers.counters import open_counters
from wavewright.readers.run.inputs import open_run
from wavewright.readers.trace.att import decode
from wavewright.readers.trace.sources import add_sources

GPUS = {"gfx942": "MI300X", "gfx950": "MI350X", "gfx1100": "RX 7900 XTX", "gfx1201": "RX 9070 XT"}


def command(
    target: str, keep: Path | None, prefetch: bool, kind: str | None, port: int, no_browser: bool, as_json: bool
) -> None:
    """Explain a capture, and show it."""
    viewer = None
    if sys.stdout.isatty() and not as_json:  # into a pipe or a file the story is printed instead
        import_server()
        viewer = Listener(port)
    demo = _PAIRS[kind] if kind else _Kernel("tiled_gemm_prefetch" if prefetch else "tiled_gemm", target)
    with viewer or nullcontext(), scratch_folder() as scratch:
        folder = keep or scratch
        if viewer is None:
            demo.tell(folder, keep, as_json=as_json)
            return
        library = demo.shown(folder)
        if keep is not None:
            for document in library.documents:
                document.notes = f"{Path(document.path).resolve()}.wavewright-notes.json"
        viewer.serve(library, no_browser=no_browser)


class _Kernel(NamedTuple):
    """A thread trace of a kernel on a GPU."""

    kernel: str
    target: str

    def _decoded(self, folder: Path) -> tuple[list[Path], ThreadTrace, float]:
        """The files of the capture, whose source is in `folder`/src; the trace, and the seconds that decoding took."""
        with progress("unpacking the capture"):
            files = _unpack("traces", f"{self.target}/{self.kernel}", folder)
        start = time.perf_counter()
        trace = decode(folder)
        return [file for file in files if file.parent == folder], trace, time.perf_counter() - start

    def shown(self, folder: Path) -> Library:
        """The capture as the only document, after its story in short."""
        from wavewright.words.demo import short_story

        _, trace, seconds = self._decoded(folder)
        add_sources(trace, folder / "src")
        for part in short_story(f"{self.target} ({GPUS[self.target]})", overview(trace), diagnose(trace), seconds):
            console().print(part)
        library = Library()
        _ = library.add(f"{self.kernel} on {self.target}", str(folder), lambda: trace).opened
        return library

    def tell(self, folder: Path, keep: Path | None, *, as_json: bool) -> None:
        """The story of the capture."""
        files, trace, seconds = self._decoded(folder)
        if as_json:
            facts = msgspec.to_builtins(overview(trace))
            names = [file.name for file in files]
            emit_json({"target": self.target, "files": names, "overview": facts}, losses=facts["losses"])
            return
        from wavewright.words.demo import Answers, story

        sizes = [(file.name, file.stat().st_size) for file in files]
        answers = Answers(overview(trace), residency(trace), hotspots(trace), waits(trace), diagnose(trace))
        where = str(keep or "capture")
        out = console()
        for part in story(f"{self.target} ({GPUS[self.target]})", sizes, answers, seconds, where=where):
            out.print(part)
        hint = "" if keep else "wavewright demo --keep capture   |   "
        out.print(f"Next: {hint}wavewright source {where}   |   wavewright --help")


class _Pair(NamedTuple):
    """Runs or captures of counters before and after a change."""

    name: str  #: Of the archive, of the option, and of the folder in the story.
    capture: str  #: One of the two, in words.
    pattern: str  #: Of its files.
    line: str  #: About each of the two, with {count}.
    dispatch_count: Callable[[Path], int]  #: Of the folder of one of the two.
    open: Callable[..., Any]
    chapters: Callable[[Document, Document], Iterator[tuple[str, str, Iterator[AnyBlock]]]]
    then: str  #: A verb that is worth calling next.

    def _unpacked(self, folder: Path) -> dict[str, int]:
        """Unpack both; return their numbers of dispatches."""
        with progress("unpacking what was recorded"):
            _unpack(self.name, self.name, folder)
            return {side: self.dispatch_count(folder / side) for side in _SIDES}

    def _library(self, folder: Path) -> Library:
        library = Library()
        for side in _SIDES:
            library.add(side, str(folder / side), partial(self.open, folder / side))
        return library

    def shown(self, folder: Path) -> Library:
        """Both as documents, after what was made."""
        for side, count in self._unpacked(folder).items():
            console().print(f"the {self.capture} {side}: {self.line.format(count=count)}")
        library = self._library(folder)
        _ = library.documents[0].opened
        return library

    def tell(self, folder: Path, keep: Path | None, *, as_json: bool) -> None:
        """The story of both."""
        counts = self._unpacked(folder)
        if as_json:
            files = sorted(str(file.relative_to(folder)) for file in folder.glob(f"*/{self.pattern}"))
            emit_json({"files": files, "dispatches": counts})
            return
        from wavewright.words.demo import run_story

        where = str(keep or self.name)
        listing = [f"{where}/{side}: {self.line.format(count=count)}" for side, count in counts.items()]
        chapters = [
            (question, f"wavewright {command.format(where=where)}", report)
            for question, command, report in self.chapters(*self._library(folder).documents)
        ]
        out = console()
        for part in run_story(listing, chapters):
            out.print(part)
        option = "run" if self.name == "runs" else self.name
        hint = "" if keep else f"wavewright demo --{option} --keep {self.name}   |   "
        out.print(f"Next: {hint}wavewright {self.then} {where}/before   |   wavewright --help")


def _unpack(archive: str, member: str, folder: Path) -> list[Path]:
    """Copy one synthetic capture of the package into `folder`: the files below `member` of an archive."""
    from importlib.resources import as_file, files

    folder.mkdir(parents=True, exist_ok=True)
    with as_file(files("wavewright.cli.demo_data") / f"{archive}.tar.xz") as path, tarfile.open(path) as tar:
        # Not extractall(filter="data"): Python 3.11.2 of Debian 12 does not have it yet.
        entries = [entry for entry in tar.getmembers() if entry.isfile() and entry.name.startswith(f"{member}/")]
        targets = [folder / entry.name.removeprefix(f"{member}/") for entry in entries]
        for entry, target in zip(entries, targets, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            content = tar.extractfile(entry)
            target.write_bytes(content.read() if content else b"")
    return targets


def _words(document: Document, name: str) -> Iterator[AnyBlock]:
    """The words of the answer to a declared question."""
    question = question_of(document.kind, name)
    return iter(question.words(question.answer(document), Wording(limit=5, width=console().width)))


def _run_chapters(before: Document, after: Document) -> Iterator[tuple[str, str, Iterator[AnyBlock]]]:
    from wavewright.words.run.run_changes import comparison_report

    yield "Where did the time go?", "summary {where}/before", _words(before, "summary")
    yield "Who keeps the GPUs waiting?", "gaps {where}/before", _words(before, "gaps")
    yield "Is the work spread evenly?", "ranks {where}/before", _words(before, "ranks")
    changes = comparison_report(compare_runs([before.run, after.run]))
    yield "What changed?", "compare {where}/before {where}/after", changes


def _counter_chapters(before: Document, after: Document) -> Iterator[tuple[str, str, Iterator[AnyBlock]]]:
    from wavewright.words.counters.capture_changes import counter_comparison_report
    from wavewright.words.counters.limiters import verdict_lines
    from wavewright.words.counters.summary import kernel_table

    kernels = counter_panels(before.counters, panels=("sol",)).kernels
    yield "Which kernels take the time?", "counters {where}/before", iter([kernel_table(kernels, limit=5)])
    yield "Arithmetic or memory?", "roofline {where}/before", _words(before, "roofline")
    limits = iter([verdict_lines(limiters(before.counters))])
    yield "Which limit is each kernel at?", "diagnose {where}/before", limits
    answer = counter_compare([before.counters, after.counters])
    changes = counter_comparison_report(answer, width=console().width)
    yield "What changed?", "compare {where}/before {where}/after", changes


_SIDES = ("before", "after")  # of the change that the demo's runs and counters show
_PAIRS = {
    "run": _Pair(
        name="runs",
        capture="run",
        pattern="*.db",
        line="4 ROCpd databases, one per rank, {count:,} dispatches",
        dispatch_count=lambda _folder: 8000,  # known: counting would read all databases
        open=open_run,
        chapters=_run_chapters,
        then="regions",
    ),
    "counters": _Pair(
        name="counters",
        capture="capture",
        pattern="*.csv",
        line="{count} dispatches of 3 kernels on an MI300X, every counter of the panels",
        dispatch_count=lambda folder: open_counters(folder).dispatches.height,
        open=open_counters,
        chapters=_counter_chapters,
        then="memory-chart",
    ),
}

"""`wavewright demo`: decode a capture that comes with wavewright, explain what it shows, and show it."""

from __future__ import annotations

import sys
import tarfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.base.scratch import scratch_folder
from wavewright.cli.kit.io import console, emit_json, progress
from wavewright.cli.kit.options import declared_command
from wavewright.cli.kit.viewer import Listener, import_server

if TYPE_CHECKING:
    from wavewright.model.document import Library
    from wavewright.model.trace import ThreadTrace

GPUS = {"gfx942": "MI300X", "gfx950": "MI350X", "gfx1100": "RX 7900 XTX", "gfx1201": "RX 9070 XT"}


@declared_command("demo")
def command(
    target: str, keep: Path | None, prefetch: bool, kind: str | None, port: int, no_browser: bool, as_json: bool
) -> None:
    """Explain a capture, and show it."""
    viewer = None if as_json else _viewer(port)
    if viewer is None:
        tell = {"run": _run, "counters": _counters}.get(kind or "", partial(_trace, target, prefetch=prefetch))
        tell(keep, as_json=as_json)
        return
    with viewer, scratch_folder() as scratch:
        folder = keep or scratch
        show = {"run": _runs_to_show, "counters": _counters_to_show}.get(
            kind or "", partial(_trace_to_show, target, prefetch=prefetch)
        )
        library = show(folder)
        if keep is not None:
            for document in library.documents:
                document.notes = f"{Path(document.path).resolve()}.wavewright-notes.json"
        viewer.serve(library, no_browser=no_browser)


def _is_watched() -> bool:
    return sys.stdout.isatty()


def _viewer(port: int) -> Listener | None:
    """The port of the viewer; None where nobody watches."""
    if not _is_watched():
        return None
    import_server()
    return Listener(port)


def _trace_to_show(target: str, folder: Path, *, prefetch: bool) -> Library:
    """The capture as the only document, after its story in short."""
    from wavewright.analysis.trace.diagnose import diagnose
    from wavewright.analysis.trace.overview import overview
    from wavewright.model.document import Library
    from wavewright.readers.trace.att import decode
    from wavewright.readers.trace.sources import add_sources
    from wavewright.words.demo import short_story

    kernel = "tiled_gemm_prefetch" if prefetch else "tiled_gemm"
    with progress("unpacking the capture"):
        _unpack_trace(kernel, target, folder)
        began = time.perf_counter()
        trace = decode(folder)
        seconds = time.perf_counter() - began
        add_sources(trace, folder / "src")
    for part in short_story(f"{target} ({GPUS[target]})", overview(trace), diagnose(trace), seconds):
        console().print(part)
    library = Library()
    _ = library.add(f"{kernel} on {target}", str(folder), lambda: trace).opened
    return library


def _runs_to_show(folder: Path) -> Library:
    """Both runs, after what was made."""
    from wavewright.model.document import Library
    from wavewright.readers.run.inputs import open_run

    with progress("unpacking two runs of a program"):
        counts = _unpack_runs(folder)
    library = Library()
    for name, count in counts.items():
        console().print(f"the run {name}: 4 ROCpd databases, one per rank, {count:,} dispatches")
        library.add(name, str(folder / name), partial(open_run, folder / name))
    _ = library.documents[0].opened
    return library


def _counters_to_show(folder: Path) -> Library:
    """Both captures, after what was made."""
    from wavewright.model.document import Library
    from wavewright.readers.counters import open_counters

    library = Library()
    for name, count in _unpack_counters(folder).items():
        console().print(
            f"the capture {name}: {count} dispatches of 3 kernels on an MI300X, every counter of the panels"
        )
        library.add(name, str(folder / name), partial(open_counters, folder / name))
    _ = library.documents[0].opened
    return library


def _trace(target: str, keep: Path | None, *, prefetch: bool, as_json: bool) -> None:
    """A capture, and its story."""
    from wavewright.readers.trace.att import decode

    with scratch_folder() as scratch:
        folder = keep or scratch
        with progress("unpacking the capture"):
            files = _unpack_trace("tiled_gemm_prefetch" if prefetch else "tiled_gemm", target, folder)
        began = time.perf_counter()
        trace = decode(folder)
        seconds = time.perf_counter() - began
        if as_json:
            import msgspec

            from wavewright.analysis.trace.overview import overview

            facts = msgspec.to_builtins(overview(trace))
            names = [file.name for file in files]
            emit_json({"target": target, "files": names, "overview": facts}, losses=facts["losses"])
        else:
            _tell(target, files, trace, seconds, folder=keep)


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


def _unpack_trace(kernel: str, target: str, folder: Path) -> list[Path]:
    """The files of the capture; its kernel's source is in `folder`/src."""
    return [path for path in _unpack("traces", f"{target}/{kernel}", folder) if path.parent == folder]


def _tell(target: str, files: list[Path], trace: ThreadTrace, seconds: float, *, folder: Path | None) -> None:
    from wavewright.analysis.trace.costs.hotspots import hotspots
    from wavewright.analysis.trace.diagnose import diagnose
    from wavewright.analysis.trace.overview import overview
    from wavewright.analysis.trace.waits import waits
    from wavewright.analysis.trace.waves.residency import residency
    from wavewright.words.demo import Answers, story

    sizes = [(file.name, file.stat().st_size) for file in files]
    answers = Answers(overview(trace), residency(trace), hotspots(trace), waits(trace), diagnose(trace))
    out = console()
    where = str(folder or "capture")
    for renderable in story(f"{target} ({GPUS[target]})", sizes, answers, seconds, where=where):
        out.print(renderable)
    keep = "" if folder else "wavewright demo --keep capture   |   "
    out.print(f"Next: {keep}wavewright source {where}   |   wavewright --help")


_SIDES = ("before", "after")  # of the change that the demo's runs and counters show


def _run(keep: Path | None, *, as_json: bool) -> None:
    """Databases of two runs of a program, and their story."""
    with scratch_folder() as scratch:
        folder = keep or scratch
        with progress("unpacking two runs of a program"):
            counts = _unpack_runs(folder)
        if as_json:
            files = sorted(str(file.relative_to(folder)) for file in folder.glob("*/*.db"))
            emit_json({"files": files, "dispatches": counts})
            return
        _tell_run(folder, counts, where=str(keep or "runs"))
    hint = "" if keep else "wavewright demo --run --keep runs   |   "
    console().print(f"Next: {hint}wavewright regions {keep or 'runs'}/before   |   wavewright --help")


def _unpack_runs(folder: Path) -> dict[str, int]:
    """The databases, one per rank; dispatches of each run."""
    _unpack("runs", "runs", folder)
    return dict.fromkeys(_SIDES, 8000)


def _tell_run(folder: Path, counts: dict[str, int], *, where: str) -> None:
    from wavewright.analysis.run.compare.compare import compare_runs
    from wavewright.analysis.run.contents.summary import summary
    from wavewright.analysis.run.gpu_time.gaps import gaps
    from wavewright.analysis.run.ranks.ranks import ranks
    from wavewright.readers.run.inputs import open_run
    from wavewright.words.demo import run_story
    from wavewright.words.run.gaps import gaps_report
    from wavewright.words.run.ranks import ranks_report
    from wavewright.words.run.run_changes import comparison_report
    from wavewright.words.run.summary import summary_report

    before, after = (open_run(folder / name) for name in ("before", "after"))
    listing = [
        f"{where}/{name}: 4 ROCpd databases, one per rank, {count:,} dispatches" for name, count in counts.items()
    ]
    chapters = [
        ("Where did the time go?", f"wavewright summary {where}/before", summary_report(summary(before))),
        ("Who keeps the GPUs waiting?", f"wavewright gaps {where}/before", gaps_report(gaps(before))),
        ("Is the work spread evenly?", f"wavewright ranks {where}/before", ranks_report(ranks(before))),
        (
            "What changed?",
            f"wavewright compare {where}/before {where}/after",
            comparison_report(compare_runs([before, after])),
        ),
    ]
    out = console()
    for part in run_story(listing, chapters):
        out.print(part)


def _counters(keep: Path | None, *, as_json: bool) -> None:
    """Captures of counters before and after a change, and their story."""
    with scratch_folder() as scratch:
        folder = keep or scratch
        counts = _unpack_counters(folder)
        if as_json:
            files = sorted(str(file.relative_to(folder)) for file in folder.glob("*/*.csv"))
            emit_json({"files": files, "dispatches": counts})
            return
        _tell_counters(folder, counts, where=str(keep or "counters"))
    hint = "" if keep else "wavewright demo --counters --keep counters   |   "
    console().print(f"Next: {hint}wavewright memory-chart {keep or 'counters'}/before   |   wavewright --help")


def _unpack_counters(folder: Path) -> dict[str, int]:
    """Two captures: in the second one, neighbouring lanes of the gathering kernel read neighbouring bytes."""
    from wavewright.readers.counters import open_counters

    _unpack("counters", "counters", folder)
    return {side: open_counters(folder / side).dispatches.height for side in _SIDES}


def _tell_counters(folder: Path, counts: dict[str, int], *, where: str) -> None:
    from wavewright.analysis.counters.compare import counter_compare
    from wavewright.analysis.counters.engine.panels import counter_panels
    from wavewright.analysis.counters.limiters import limiters
    from wavewright.analysis.counters.roofline import roofline
    from wavewright.readers.counters import open_counters
    from wavewright.words.counters.capture_changes import counter_comparison_report
    from wavewright.words.counters.limiters import verdict_lines
    from wavewright.words.counters.roofline import roofline_report
    from wavewright.words.counters.summary import kernel_table
    from wavewright.words.demo import run_story

    before, after = (open_counters(folder / name) for name in ("before", "after"))
    out = console()
    listing = [
        f"{where}/{name}: {count} dispatches of 3 kernels on an MI300X, every counter of the panels"
        for name, count in counts.items()
    ]
    kernels = counter_panels(before, panels=("sol",)).kernels
    chapters = [
        (
            "Which kernels take the time?",
            f"wavewright counters {where}/before",
            iter([kernel_table(kernels, limit=5)]),
        ),
        (
            "Arithmetic or memory?",
            f"wavewright roofline {where}/before",
            roofline_report(roofline(before), limit=5, width=out.width),
        ),
        (
            "Which limit is each kernel at?",
            f"wavewright diagnose {where}/before",
            iter([verdict_lines(limiters(before))]),
        ),
        (
            "What changed?",
            f"wavewright compare {where}/before {where}/after",
            counter_comparison_report(counter_compare([before, after]), width=out.width),
        ),
    ]
    for part in run_story(listing, chapters):
        out.print(part)

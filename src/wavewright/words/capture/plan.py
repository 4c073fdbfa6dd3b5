"""Plans of captures: what was chosen, the command, and the attempts that would follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wavewright.base.shown import printable
from wavewright.base.words import counted
from wavewright.capture.gpus.topology import Gpu
from wavewright.capture.judgement import Judgement, Verdict
from wavewright.capture.kinds import Counters, Recording, ThreadTraces
from wavewright.capture.plans.command import Command
from wavewright.capture.rocprofv3.releases import Installation
from wavewright.facts.loader import packaged
from wavewright.model.blocks import GAP, AnyBlock, Grid, GridColumn, Sentence, headline, sentence
from wavewright.words.capture.shell import command_text

#: Kind of capture -> what it is called in sentences.
TITLES: dict[str, str] = packaged("texts.toml", __package__)["titles"]
#: Verdicts after which another attempt may follow.
_RETRIED = (Verdict.EMPTY, Verdict.TRUNCATED, Verdict.LOSSY, Verdict.NO_DISPATCH, Verdict.INCOMPLETE, Verdict.HUNG)


def plan_report(
    recording: Recording,
    commands: Sequence[Command],
    installation: Installation | None,
    gpu: Gpu | None,
    *,
    width: int,
    notes: Sequence[str] = (),
    attempts: int = 1,
    step: tuple[int, int] = (1, 1),
) -> Iterator[AnyBlock]:
    """Blocks of the plan of one capture: what was chosen and why, each command for a shell, and what would follow.

    `step` is its place in a row of captures, and how many there are.
    """
    if step[0] > 1:
        yield GAP
    position = f"step {step[0]} of {step[1]}, " if step[1] > 1 else ""
    yield headline(f"{position}{title_of(recording)}: what would be run")
    if installation is not None:
        yield labelled_row("release", _release(installation))
    yield labelled_row("GPU", gpu_line(gpu))
    for label, text in _choices(recording):
        yield labelled_row(label, text)
    for note in dict.fromkeys([*notes, *(note for command in commands for note in command.notes)]):
        yield labelled_row("note", printable(note))
    for number, command in enumerate(commands, 1):
        yield GAP
        yield sentence(("command" if len(commands) == 1 else f"command {number} of {len(commands)}", "bold"))
        yield command_text(command, width)
    if step[0] == step[1]:
        yield GAP
        yield from _follow_ups(recording, gpu, attempts)


def labelled_row(label: str, text: str, label_width: int = 11) -> Grid:
    """A paragraph whose lines hang behind its label; long words, such as paths, are folded and never cut."""
    return Grid(((label, text),), (GridColumn("cyan", label_width), GridColumn(takes_rest=True)), indent=3)


def title_of(recording: Recording) -> str:
    """The name of a kind of capture."""
    return TITLES[str(recording.__struct_config__.tag)]


def gpu_line(gpu: Gpu | None) -> str:
    """A GPU in one line."""
    if gpu is None:
        return "none on this machine: what depends on it is left to the profiler"
    name = " ".join(part for part in (gpu.target, gpu.product) if part)
    engines = f"{gpu.cu_count} CUs in {counted(gpu.se_count, 'shader engines')}"
    xccs = f" of {counted(gpu.xcc_count, 'XCCs')}" if gpu.xcc_count > 1 else ""
    return printable(f"{gpu.index}: {name}, {engines}{xccs}")


def _release(installation: Installation) -> str:
    version = installation.rocm_version or "of unknown version"
    sdk = f" (rocprofiler-sdk {installation.sdk_version})" if installation.sdk_version else ""
    where = "assumed" if installation.is_assumed else installation.rocprofv3
    return printable(f"ROCm {version}{sdk}, {where}")


def _choices(recording: Recording) -> Iterator[tuple[str, str]]:
    """(label, text) of the choices that only some kinds of capture have, whether asked for or by default."""
    if isinstance(recording, ThreadTraces | Counters):
        yield "kernel", printable(recording.kernel_regex) if recording.kernel_regex else "every kernel"
        default = "every one" if isinstance(recording, Counters) else "the first, as rocprofv3 does by itself"
        yield "launch", " ".join(map(str, recording.launches)) or default
    if isinstance(recording, Counters):
        yield "passes", f"{len(recording.passes)}, one run of the program each"


def _follow_ups(recording: Recording, gpu: Gpu | None, attempts: int) -> Iterator[AnyBlock]:
    """The change that would follow each verdict, by the rules that a capture uses."""
    if attempts < 2:
        yield Sentence("one attempt, whatever becomes of it (--attempts)")
        return
    from wavewright.capture.plans.retries import next_try

    retries = [(verdict, next_try(recording, Judgement(verdict=verdict, reasons=()), gpu, ())) for verdict in _RETRIED]
    followed = [(verdict, retry) for verdict, retry in retries if retry is not None]
    if not followed:
        yield Sentence("no other attempt would follow")
        return
    yield Sentence(f"then it is judged by the data, and tried again up to {counted(attempts - 1, 'times')} if it is")
    for verdict, retry in followed:
        pause = f", after {retry.pause_seconds:g} s" if retry.pause_seconds else ""
        yield labelled_row(verdict.value, printable(f"{retry.why}{pause}"))

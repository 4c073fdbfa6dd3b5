"""Raw captures and code objects, for the terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from wavewright.analysis.trace.about.traced_call import launch_sentence, launch_source
from wavewright.base.shown import quoted
from wavewright.base.words import counted, shortened
from wavewright.report.kit.losses import loss_lines
from wavewright.report.kit.tables import printable
from wavewright.report.trace.dispatches import chosen_line, dispatch_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from rich.console import RenderableType

    from wavewright.analysis.trace.overview import Overview
    from wavewright.codeobj.code_object import Kernel
    from wavewright.codeobj.embedded import Contents
    from wavewright.errors import WavewrightError
    from wavewright.model.losses import Loss

_NAMED = 8  #: Dispatches that the line of a loss names.
_LISTED = 20  #: Code objects of a file that are shown.


def capture_report(
    path: str,
    files: str,
    facts: Sequence[Overview],
    rows: pl.DataFrame,
    problems: Sequence[WavewrightError],
    *,
    width: int,
) -> Iterator[RenderableType]:
    """The answer of `wavewright info` on a raw capture: `rows` has one row per dispatch, in the order of `facts`."""
    yield Text.assemble((path, "bold"), f": raw thread-trace capture, {files}")
    clock = next((f.clock_mhz for f in facts if f.clock_mhz), None)
    running = f", shader clock {clock:,.0f} MHz" if clock else ""
    yield Text(f"GPU: {printable(', '.join(dict.fromkeys(rows['gpu'])))}{running}")
    yield dispatch_table(rows, width=width)
    yield from chosen_line(rows)
    for fact, key in zip(facts, rows["key"], strict=True):
        if fact.launch is not None:
            sentence = f"{launch_sentence(fact.launch)}; {launch_source(fact.launch)}"
            yield Text(printable(f"  dispatch {key}: {sentence}"))
    yield from _losses(facts, rows)
    for problem in problems:
        yield Text.assemble(("unreadable: ", "bold red"), str(problem))
    yield Text.assemble(("next: ", "bold"), _next_step(path, facts))


def _losses(facts: Sequence[Overview], rows: pl.DataFrame) -> Iterator[Text]:
    """Losses, each once, with the dispatches that have it."""
    keys_of: dict[str, list[str]] = {}
    lines: dict[str, Text] = {}
    for fact, key in zip(facts, rows["key"], strict=True):
        for line in loss_lines(fact.losses):
            lines[line.plain] = line
            keys_of.setdefault(line.plain, []).append(key)
    for plain, line in lines.items():
        keys = [printable(key) for key in keys_of[plain] if key]
        named = ", ".join(keys[:_NAMED]) + (f" and {len(keys) - _NAMED:,} more" if len(keys) > _NAMED else "")
        yield Text.assemble(f"dispatch {named} " if keys else "", line)


def code_object_report(
    path: str, target: str | None, kernels: Sequence[Kernel], losses: Sequence[Loss]
) -> Iterator[RenderableType]:
    """The answer of `wavewright info` on a code object.

    Examples
    --------
    >>> str(next(iter(code_object_report("a.out", "gfx942", [], []))))
    'a.out: GPU code object for gfx942, 0 kernels'
    """
    yield Text.assemble(
        (path, "bold"), f": GPU code object for {target or 'an unnamed GPU'}, {counted(len(kernels), 'kernels')}"
    )
    columns = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "wave_size", "workgroup_size_max")
    table = Table("kernel", box=None, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right")
    for kernel in kernels:
        values = (getattr(kernel, column) for column in columns)
        table.add_row(shortened(kernel.name), *("-" if value is None else f"{value:,}" for value in values))
    if kernels:
        yield table
    for loss in losses:
        yield Text.assemble(("loss: ", "bold yellow"), printable(f"{loss.message}; {loss.advice}"))


def code_objects_report(path: str, contents: Contents) -> Iterator[RenderableType]:
    """The answer of `wavewright info` on a file with several code objects.

    Examples
    --------
    >>> from wavewright.codeobj.embedded import Contents
    >>> str(next(iter(code_objects_report("lib.so", Contents("lib.so", ())))))
    'lib.so: 0 GPU code objects'
    """
    yield Text.assemble((path, "bold"), f": {counted(len(contents.objects), 'GPU code objects')}")
    targets = Counter(f"{each.target or 'unnamed'}{each.settings}" for each in contents.objects)
    yield Text(", ".join(f"{target}: {count:,}" for target, count in sorted(targets.items())))
    table = Table("number", "GPU", "place", "bytes", "packed", box=None, header_style="bold")
    for each in contents.objects[:_LISTED]:
        target, size = f"{each.target or '-'}{each.settings}", f"{each.size_bytes:,}"
        table.add_row(str(each.number), target, printable(each.place) or "-", size, each.packing or "-")
    if contents.objects:
        yield table
    if len(contents.objects) > _LISTED:
        yield Text(f"showing {_LISTED} of {len(contents.objects):,}, --json has all")
    for loss in contents.losses:
        yield Text.assemble(("loss: ", "bold yellow"), printable(f"{loss.message}; {loss.advice}"))


def _next_step(path: str, facts: Sequence[Overview]) -> str:
    if not any(f.waves for f in facts):
        return "capture again: no wave ran on the traced CU (--att-target-cu, --att-shader-engine-mask, a larger grid)"
    if any(f.damaged for f in facts):
        return f"fix the losses above, or check what can be trusted: wavewright coverage {quoted(path)}"
    return f"wavewright diagnose {quoted(path)} (what to change first); hotspots, stalls, waits, ... take the same path"

"""Raw captures and code objects in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from wavewright.analysis.trace.about.overview import Overview, launch_sentence, launch_source
from wavewright.base.shown import printable, quoted
from wavewright.base.words import counted, grouped, shortened, some_of
from wavewright.codeobj.code_object import Kernel
from wavewright.codeobj.containers.embedded_objects import EmbeddedObjects
from wavewright.errors import WavewrightError
from wavewright.model.blocks import AnyBlock, Column, Sentence, Table, sentence
from wavewright.model.losses import Loss
from wavewright.words.kit.declared_tables import block_columns
from wavewright.words.kit.losses import loss_lines
from wavewright.words.trace.input.dispatches import chosen_line, dispatch_table

_NAMED = 8  #: Dispatches that the line of a loss names.
_LISTED = 20  #: Code objects of a file that are shown.
_OBJECTS = block_columns("trace/input_raw_capture/objects")


def capture_report(
    path: str, files: str, facts: Sequence[Overview], rows: pl.DataFrame, problems: Sequence[WavewrightError]
) -> Iterator[AnyBlock]:
    """The answer of `wavewright info` on a raw capture: `rows` has one row per dispatch, in the order of `facts`."""
    yield sentence((path, "bold"), f": raw thread-trace capture, {files}")
    clock = next((fact.clock_mhz for fact in facts if fact.clock_mhz), None)
    clock_text = f", shader clock {clock:,.0f} MHz" if clock else ""
    yield Sentence(f"GPU: {', '.join(dict.fromkeys(rows['gpu']))}{clock_text}")
    yield dispatch_table(rows)
    yield from chosen_line(rows)
    for fact, key in zip(facts, rows["key"], strict=True):
        if fact.launch is not None:
            launch = f"{launch_sentence(fact.launch)}; {launch_source(fact.launch)}"
            yield Sentence(f"  dispatch {key}: {launch}")
    yield from _losses(facts, rows)
    for problem in problems:
        yield sentence(("unreadable: ", "bold red"), str(problem))
    yield sentence(("next: ", "bold"), _next_step(path, facts), style="advice")


def _losses(facts: Sequence[Overview], rows: pl.DataFrame) -> Iterator[Sentence]:
    """Losses, each once, with the dispatches that have it."""
    keys_of: dict[Sentence, list[str]] = {}
    for fact, key in zip(facts, rows["key"], strict=True):
        for line in loss_lines(fact.losses):
            keys_of.setdefault(line, []).append(key)
    for line, all_keys in keys_of.items():
        keys = [printable(key) for key in all_keys if key]
        named = some_of(keys, _NAMED)
        yield sentence(f"dispatch {named}: " if keys else "", line, style=line.style)


def code_object_report(
    path: str, target: str | None, kernels: Sequence[Kernel], losses: Sequence[Loss]
) -> Iterator[AnyBlock]:
    """The answer of `wavewright info` on a code object."""
    yield sentence(
        (path, "bold"), f": GPU code object for {target or 'an unnamed GPU'}, {counted(len(kernels), 'kernels')}"
    )
    names = ("vgprs", "agprs", "sgprs", "lds_bytes", "scratch_bytes", "wave_size", "workgroup_size_max")
    rows = tuple((shortened(kernel.name), *(grouped(getattr(kernel, name)) for name in names)) for kernel in kernels)
    if kernels:
        yield Table("", (Column("kernel", "rest", is_name=True), *(Column(name, "number") for name in names)), rows)
    for loss in losses:
        yield Sentence(f"{loss.message}; {loss.advice}", "loss")


def code_objects_report(path: str, contents: EmbeddedObjects) -> Iterator[AnyBlock]:
    """The answer of `wavewright info` on a file with several code objects."""
    yield sentence((path, "bold"), f": {counted(len(contents.objects), 'GPU code objects')}")
    targets = Counter(f"{code.target or 'unnamed'}{code.settings}" for code in contents.objects)
    yield Sentence(", ".join(f"{target}: {count:,}" for target, count in sorted(targets.items())))
    rows = tuple(
        (
            str(code.number),
            f"{code.target or '-'}{code.settings}",
            code.place or "-",
            f"{code.size_bytes:,}",
            code.packing or "-",
        )
        for code in contents.objects[:_LISTED]
    )
    if contents.objects:
        yield Table("", _OBJECTS, rows)
    if len(contents.objects) > _LISTED:
        yield Sentence(f"showing {_LISTED} of {len(contents.objects):,}, --json has all")
    for loss in contents.losses:
        yield Sentence(f"{loss.message}; {loss.advice}", "loss")


def _next_step(path: str, facts: Sequence[Overview]) -> str:
    if not any(fact.waves for fact in facts):
        return "capture again: no wave ran on the traced CU (--att-target-cu, --att-shader-engine-mask, a larger grid)"
    if any(fact.damaged for fact in facts):
        return f"fix the losses above, or check what can be trusted: wavewright coverage {quoted(path)}"
    return f"wavewright diagnose {quoted(path)} (what to change first); hotspots, stalls, waits, ... take the same path"

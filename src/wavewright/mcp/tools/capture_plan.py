"""The tool `plan_capture`: the commands that make a capture, as text; nothing is run."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from wavewright.base.shown import command_line, quoted
from wavewright.capture.kinds import Recording
from wavewright.errors import UsageError
from wavewright.mcp.captures import Captures
from wavewright.mcp.reply import Reply
from wavewright.mcp.rows import Rows
from wavewright.model.blocks import Block, Preformatted, Sentence
from wavewright.model.report import Section

_PROGRAM = "./program"
_FOLDER = "capture"
_WIDTH = 10_000  #: A command stays on one line.
_VERBS = {"trace": "att", "run": "run", "counters": "counters"}  #: Goal -> verb of `wavewright capture`.
_WORDS = {
    "trace": "a thread trace: where the waves of a kernel spend their cycles",
    "run": "a run: kernels, copies, calls and markers over time",
    "counters": "hardware counters: which unit is at its limit",
}


def plan_capture(_captures: Captures, arguments: dict[str, Any], _say: Callable[[str], None]) -> Reply:
    """The commands that make a capture for a goal."""
    goal, kernel = arguments["goal"], arguments.get("kernel", "")
    try:
        program = tuple(shlex.split(arguments.get("command") or _PROGRAM))
    except ValueError as error:
        raise UsageError(f"the command cannot be read: {error}", advice="write it as in a shell") from error
    lines, notes = _counters(arguments, program) if goal == "counters" else _planned(goal, kernel, program)
    chosen = ["--kernel", kernel] if kernel and goal != "run" else []
    easy = command_line(["wavewright", "capture", _VERBS[goal], *chosen, "--", *program])
    rows = [("rocprofv3", line) for line in lines] + [("or, with retries and a verdict", easy)]
    headline = f"this records {_WORDS[goal]}; nothing was run"
    blocks: list[Block] = [Sentence(headline, "headline"), Preformatted("\n".join([*lines, f"# or: {easy}"]))]
    blocks += [Sentence(note, "note") for note in notes]
    return Reply(
        headline,
        (Section("plan", "Plan", "How is it recorded?", tuple(blocks)),),
        (Rows("commands", ("tool", "command"), tuple(rows), len(rows)),),
        notes=("run it on the machine with the GPU, then open_capture the folder",),
    )


def _planned(goal: str, kernel: str, program: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    from wavewright.capture.kinds import RunTrace, ThreadTraces
    from wavewright.capture.plans.commands import planned
    from wavewright.capture.rocprofv3.releases import assumed
    from wavewright.words.capture.shell import command_text

    recording: Recording = RunTrace(program=program)
    notes: tuple[str, ...] = ()
    if goal == "trace":
        recording = ThreadTraces(program=program, kernel=kernel, launches=(2,) if kernel else ())
        if not kernel:
            notes = ("without `kernel` every kernel is traced: name the hottest, from a run",)
    plan = planned(recording, assumed(), None, raw=_FOLDER, variables={})
    texts = [command_text(command, _WIDTH).text for command in plan.commands]
    return [" ".join(text.replace("\\\n", " ").split()) for text in texts], (*notes, *plan.notes)


def _counters(arguments: dict[str, Any], program: tuple[str, ...]) -> tuple[list[str], tuple[str, ...]]:
    from wavewright.analysis.counters.plan import plan_capture as plan_counters
    from wavewright.capture.plans.counter_passes import commands, input_text, remarks, summary

    target = arguments.get("target")
    if not target:
        what = "for which GPU are counters to be recorded?"
        raise UsageError(what, advice="give `target`: gfx942 or MI300X")
    kernels = (arguments["kernel"],) if arguments.get("kernel") else ()
    plan = plan_counters(target)
    run, _ = commands(plan)
    verb = f"wavewright counters --plan --target {quoted(target)} -o counters.json"
    size = f"{len(input_text(plan, kernels=kernels)):,}"
    written = f"the first command writes the passes ({size} characters) to counters.json"
    return [verb, run.replace(_PROGRAM, command_line(program))], (summary(plan), *remarks(plan), written)

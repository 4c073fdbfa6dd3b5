"""Write docs/reference/rocprofv3.md: releases, what our options become, refusals, every option. `--check` compares."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from wavewright.capture.kinds import Counters, Discovery, Recording, RunTrace, Samples, ThreadTraces
from wavewright.capture.plans.choices import chosen
from wavewright.capture.plans.command import LEFTOVERS, VISIBILITY
from wavewright.capture.plans.commands import RUN_PARTS, commands_of
from wavewright.capture.rocprofv3.options import Kind, Option, all_options, groups
from wavewright.capture.rocprofv3.refusals import REFUSALS
from wavewright.capture.rocprofv3.releases import RELEASES, TRAPS, Release, assumed
from wavewright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "rocprofv3.md"
PROGRAM = ("./program",)
FOLDER = "OUT"
BASES: dict[str, Recording] = {
    "discover": Discovery(program=PROGRAM),
    "att": ThreadTraces(program=PROGRAM, target_cu=1, simds=0xF, se_mask=0x1, buffer_bytes=256 << 20),
    "counters": Counters(program=PROGRAM, passes=(("SQ_WAVES", "GRBM_COUNT"), ("TCC_HIT_sum",))),
    "samples": Samples(program=PROGRAM, method="host_trap", unit="time", interval=512),
    "run": RunTrace(program=PROGRAM),
}
ONE_PASS = Counters(program=PROGRAM, passes=(("SQ_WAVES",),))
#: Option of `wavewright capture` -> verb, and the field that it sets.
OURS: list[tuple[str, str, dict[str, object]]] = [
    ("--kernel NAME", "one pass", {"kernel": "NAME"}),
    ("--regex R", "one pass", {"kernel_regex": "R"}),
    ("--launch 7-8", "one pass", {"launches": (7, 8)}),
    ("--launch 5-9", "one pass", {"launches": (5, 6, 7, 8, 9)}),
    ("--cu 3", "att", {"target_cu": 3}),
    ("--simd 0x3", "att", {"simds": 0x3}),
    ("--se 0x11", "att", {"se_mask": 0x11}),
    ("--buffer 96MiB", "att", {"buffer_bytes": 96 << 20}),
    ("--counters SQ_WAVES --period 3", "att", {"counters": ("SQ_WAVES",), "counter_period": 3}),
    ("--activity 5", "att", {"activity": 5}),
    ("--target-only", "att", {"target_only": True}),
    ("--serialize", "att", {"serialize_all": True}),
    ("--next 4", "att", {"consecutive": 4}),
    ("--gpu 2", "discover", {"gpu_index": 2}),
    ("--env A=B", "discover", {"variables": {"A": "B"}}),
    ("--method stochastic", "samples", {"method": "stochastic", "unit": "cycles", "interval": 1 << 20}),
    ("--interval 1000", "samples", {"interval": 1000}),
]
KINDS = {
    Kind.NOTHING: "",
    Kind.BOOLEAN: "yes or no",
    Kind.TEXT: "text",
    Kind.FILE: "file",
    Kind.WORDS: "words",
    Kind.ANY_WORDS: "words",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number, also 0x...",
}
INTRODUCTION = (
    "What `wavewright capture` makes of its options in every release of rocprofv3, and what it refuses because the "
    "release would. Everything follows from tables in the code. For releases known from their scripts, the tests "
    "compare the tables with the script: names, values, variables that it hands to the program, and what it refuses. "
    "[Capturing](../explanation/capturing.md) explains why."
)


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# rocprofv3, release by release",
        "",
        "<!-- made by tools/make_rocprofv3_docs.py from src/wavewright/capture -->",
        "",
        INTRODUCTION,
        "",
        *releases(),
        *commands(),
        *our_options(),
        *run_parts(),
        *variables(),
        *refusals(),
        *surprises(),
        *amd_options(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table and an empty line."""
    return [
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
        *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows),
        "",
    ]


def releases() -> Iterator[str]:
    """The releases."""
    yield from ("## Releases", "")
    rows = [
        (
            release.rocm,
            release.sdk,
            "its script" if release.is_script_tested else "AMD's sources",
            release.format,
            f"{release.buffer_mib} MiB" if release.buffer_mib else "none",
            "AMD's own" if release.version >= (7, 1) else "std::regex",
        )
        for release in RELEASES
    ]
    yield from table(("ROCm", "SDK", "known from", "default format", "default buffer", "regexes of names"), rows)
    yield "A release between two of these is taken for the earlier one."
    yield "The options of an installed release come from its `--help`, and only those are used."
    yield ""


def planned(recording: Recording, release: Release) -> str:
    """The command lines of a release, one per line; empty = it cannot."""
    try:
        lines = commands_of(recording, assumed(release.rocm), folder=FOLDER, environment={})
    except UsageError:
        return ""
    return "\n".join(command.line for command in lines)


def commands() -> Iterator[str]:
    """Command lines of every kind of capture."""
    yield from ("## Commands", "", "`OUT` is the folder of raw data of an attempt.", "")
    for verb, recording in BASES.items():
        yield from (f"### capture {verb}", "")
        for text, first, last in spans(recording):
            until = f" to {last}" if last and last != first else ("" if last else " and newer")
            yield from (f"ROCm {first}{until}:" if text else f"ROCm {first}{until}: not possible.", "")
            if text:
                yield from ("```", text, "```", "")


def spans(recording: Recording) -> list[tuple[str, str, str]]:
    """Texts of commands with the first and last release that they are for; empty last = the newest."""
    texts: list[tuple[str, str, str]] = []
    for release in RELEASES:
        text = planned(recording, release)
        if texts and texts[-1][0] == text:
            texts[-1] = (text, texts[-1][1], release.rocm)
        else:
            texts.append((text, release.rocm, release.rocm))
    return [*texts[:-1], (*texts[-1][:2], "")]


def our_options() -> Iterator[str]:
    """Our options."""
    yield from ("## What our options become", "")
    rows = []
    for option, verb, fields in OURS:
        base = BASES.get(verb, ONE_PASS)
        recording = replace(base, **fields)
        for text, first, _ in spans(recording):
            if not text:
                continue
            words = [word for word in text.split() if word not in planned(base, release_named(first)).split()]
            names = named_words(text, words)
            if not rows or rows[-1][:2] != (f"`{option}`", f"`{names}`"):
                rows.append((f"`{option}`", f"`{names}`", first))
    yield from table(("option", "becomes", "from ROCm"), rows)
    notes = chosen(ThreadTraces(program=PROGRAM), None)[1]
    yield "What is not given is chosen per architecture, and the choice is printed, as: " + "; ".join(notes) + "."
    yield ""


def release_named(rocm: str) -> Release:
    """A release of the list."""
    return next(release for release in RELEASES if release.rocm == rocm)


def named_words(text: str, words: list[str]) -> str:
    """New words of a command, each value behind its option."""
    parts: list[str] = []
    for word, following in zip(text.split(), [*text.split()[1:], ""], strict=True):
        if word in words or (word.startswith("--") and following in words and not following.startswith("-")):
            parts.append(word)
    return " ".join(part for part in parts if part != "env")


def run_parts() -> Iterator[str]:
    """Parts of `capture run`."""
    yield from ("## Parts of a run", "", "`capture run --what PARTS`:", "")
    rows = [
        (f"`{part}`", " ".join(f"`{name}`" for name in names), all_options()[names[0]].since)
        for part, names in RUN_PARTS.items()
    ]
    yield from table(("part", "options, as far as the release has them", "from ROCm"), rows)


def variables() -> Iterator[str]:
    """Variables of the caller."""
    yield from ("## Variables that are taken out", "")
    rows = [(f"`{pattern}`", reason) for pattern, reason in LEFTOVERS.items()]
    rows.append(("`LD_PRELOAD`: libraries of other profilers", "another tool would be loaded first"))
    rows.append(
        (", ".join(f"`{name}`" for name in VISIBILITY) + ", when a GPU is chosen", "they count within that one")
    )
    yield from table(("names (regex)", "why"), rows)


def refusals() -> Iterator[str]:
    """The table of refusals."""
    yield from ("## What is refused before anything runs", "")
    words = {"script": "the script", "tool": "the tool: it ends the program", "nobody": "nobody: it is not done"}
    rows = []
    for refusal in REFUSALS:
        where = span(refusal.since, refusal.last) if refusal.last else "all"
        rows.append((refusal.what, refusal.advice, words[refusal.by], where))
    yield from table(("what", "what to do", "otherwise refused by", "ROCm"), rows)


def surprises() -> Iterator[str]:
    """The table of traps."""
    yield from ("## What differs between releases", "")
    rows = [(span(trap.since, trap.last), trap.sentence) for trap in TRAPS]
    yield from table(("ROCm", "behaviour"), rows)


def span(since: str, last: str) -> str:
    """Releases in words."""
    if not last:
        return f"{since} and newer"
    if last == "9":
        return f"{since} and newer, before 10.0"
    return since if since == last else f"{since} to {last}"


def amd_options() -> Iterator[str]:
    """Every option of AMD's script."""
    yield from (
        "## Options of rocprofv3",
        "",
        "`--extra WORDS` passes them on. `--help` does not list those with *.",
        "",
    )
    for title, options in groups().items():
        yield from (f"### {title}", "")
        yield from table(
            ("option", "takes", "sets", "key in files", "ROCm", "meaning"), [row(each) for each in options]
        )


def row(option: Option) -> tuple[str, ...]:
    """An option as cells of a table."""
    names = [
        f"`{option.name}`{'*' if option.is_hidden else ''}",
        *(f"`{a.name}`" + (f" ({span(a.since, a.last)})" if a.since else "") for a in option.aliases),
    ]
    values = [f"{value}{f' ({since})' if since != option.since else ''}" for value, since in option.choices.items()]
    implied = f"as {', '.join(f'`{name}`' for name in option.implies)}" if option.implies else ""
    settings = ", ".join(f"`{name}`" for name in option.variables)
    return (
        ", ".join(names),
        " ".join(values) or KINDS[option.kind],
        "; ".join(part for part in (settings, implied) if part),
        f"`{option.key}`" if option.in_files else "",
        span(option.since, option.last) if option.last else option.since,
        option.meaning,
    )


def main() -> int:
    """Write or check the page; 1 when it is out of date."""
    if "--check" in sys.argv:
        return int(not PAGE.is_file() or PAGE.read_text("utf-8") != page())
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What was meant by a verb or an option that does not exist: words of other tools, and slips of the keyboard."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

#: Words of other profilers, and of the question itself -> verbs that answer it.
_VERBS: dict[str, tuple[str, ...]] = {
    "analyze": ("diagnose",),
    "analyse": ("diagnose",),
    "advice": ("diagnose",),
    "advise": ("diagnose",),
    "bottleneck": ("diagnose",),
    "profile": ("capture", "diagnose", "summary"),
    "record": ("capture",),
    "collect": ("capture",),
    "att": ("capture",),
    "discover": ("capture",),
    "pool": ("capture",),
    "check": ("doctor", "coverage"),
    "setup": ("doctor",),
    "asm": ("source",),
    "assembly": ("source",),
    "code": ("source",),
    "disasm": ("source",),
    "disassemble": ("source",),
    "isa": ("source",),
    "listing": ("source",),
    "sass": ("source",),
    "lines": ("source", "hotspots"),
    "bandwidth": ("roofline", "l2", "memory-chart"),
    "cache": ("l2", "memory-chart"),
    "dram": ("memory-chart", "l2"),
    "hbm": ("memory-chart", "l2"),
    "allocations": ("memory",),
    "leaks": ("memory",),
    "oom": ("memory",),
    "coalescing": ("counters", "l2"),
    "conflicts": ("counters",),
    "lds": ("counters", "occupancy"),
    "speed-of-light": ("counters",),
    "pmc": ("counters",),
    "sol": ("counters",),
    "diff": ("compare",),
    "dispatches": ("info", "kernels"),
    "list": ("info",),
    "ls": ("info",),
    "show": ("open", "info"),
    "stat": ("summary", "info"),
    "stats": ("summary", "hotspots"),
    "export": ("convert", "decode"),
    "perfetto": ("convert",),
    "gui": ("open",),
    "serve": ("open",),
    "timeline": ("open", "states"),
    "view": ("open",),
    "viewer": ("open",),
    "registers": ("occupancy",),
    "utilization": ("states", "counters"),
    "quality": ("coverage",),
    "trust": ("coverage",),
    "iterations": ("loops",),
    "outliers": ("waves",),
    "slowest": ("waves",),
    "wave": ("waves",),
    "sql": ("query",),
}

#: Words of other profilers -> kinds of capture.
_CAPTURES: dict[str, tuple[str, ...]] = {
    "trace": ("att", "run"),
    "thread-trace": ("att",),
    "sqtt": ("att",),
    "kernel": ("discover", "att"),
    "kernels": ("discover",),
    "stats": ("discover",),
    "pmc": ("counters",),
    "profile": ("att", "counters", "run"),
    "pc-sampling": ("samples",),
    "sampling": ("samples",),
    "system": ("run",),
    "sys-trace": ("run",),
    "timeline": ("run",),
    "jobs": ("pool",),
    "resume": ("pool", "status"),
}

#: Options of other tools -> ours, where the verb has it.
_OPTIONS = {
    "--count": "--top",
    "--head": "--top",
    "--limit": "--top",
    "--max-rows": "--top",
    "--num": "--top",
    "--rows": "--top",
    "-n": "--top",
    "--dryrun": "--dry-run",
    "-d": "--dispatch",
    "--dispatch-id": "--dispatch",
    "--filter": "--kernel",
    "--kernel-name": "--kernel",
    "--name": "--kernel",
    "-k": "--kernel",
    "--arch": "--target",
    "--gpu": "--target",
    "--group-by": "--by",
    "--sort-by": "--sort",
    "--markdown": "--format",
    "--md": "--format",
    "--out": "--output",
}

_MOST = 3  #: Suggestions at once.


def verbs_meant(word: str, verbs: Collection[str]) -> list[str]:
    """Verbs that may have been meant, the likeliest first.

    Examples
    --------
    >>> verbs_meant("isa", ["source", "stalls"]), verbs_meant("Stall", ["source", "stalls"])
    (['source'], ['stalls'])
    """
    return _meant(word, verbs, _VERBS)


def captures_meant(word: str, captures: Collection[str]) -> list[str]:
    """Kinds of capture that may have been meant, the likeliest first.

    Examples
    --------
    >>> captures_meant("pmc", ["att", "counters"]), captures_meant("discovery", ["discover", "att"])
    (['counters'], ['discover'])
    """
    return _meant(word, captures, _CAPTURES)


def _meant(word: str, verbs: Collection[str], synonyms: Mapping[str, tuple[str, ...]]) -> list[str]:
    typed = word.lower().replace("_", "-")
    meant = [verb for verb in synonyms.get(typed, ()) if verb in verbs]
    starts = [verb for verb in verbs if len(typed) > 1 and (verb.startswith(typed) or typed.startswith(verb))]
    near = get_close_matches(typed, verbs, n=_MOST, cutoff=0.7)
    exact = [typed] if typed in verbs else []  # but for capitals and underscores
    return list(dict.fromkeys([*exact, *meant, *starts, *([] if meant else near)]))[:_MOST]


def options_meant(word: str, options: Collection[str]) -> list[str]:
    """Options that may have been meant, the likeliest first.

    Examples
    --------
    >>> options_meant("--limit", ["--top", "--time"]), options_meant("--disptach", ["--dispatch", "--time"])
    (['--top'], ['--dispatch'])
    """
    same = _OPTIONS.get(word)
    if same in options:
        return [str(same)]
    return get_close_matches(word, options, n=_MOST, cutoff=0.7)

"""Launch numbers of dispatches, and reasons why no launch passed the filters: from the kernel trace of the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from msgspec import json, structs

from wavewright.base.words import counted, shortened
from wavewright.capture.judgement import Judgement, TracedDispatch, Verdict
from wavewright.capture.kinds import KernelChoice
from wavewright.capture.plans.discovery import DiscoveredKernels, discovered
from wavewright.capture.rocprofv3.messages import printable_line
from wavewright.codeobj.names import demangle_all
from wavewright.errors import NotATraceError, UsageError, WavewrightError
from wavewright.facts.kernel_titles import kernel_title
from wavewright.readers.trace.arguments_file import NAME, ArgumentsDocument
from wavewright.readers.trace.kerncap import decoded_file

_NAMED_KERNELS = 3  #: Nearest names that a reason lists.
_NAME_WIDTH = 60  #: Characters of each of these names.
_NAMES_COMPARED = 2_000  #: Kernels whose names are compared with a regex that matches none.


@dataclass
class LaunchTables:
    """The kernel traces below a folder, each read once."""

    raw: Path
    _tables: dict[Path, DiscoveredKernels | None] = field(default_factory=dict)

    @property
    def everything(self) -> DiscoveredKernels | None:
        """All processes; None = no kernel was recorded."""
        return self._at(self.raw)

    def launch_of(self, dispatch: int, folder: Path) -> tuple[str, int] | None:
        """Kernel and launch number of a dispatch, by the kernel trace in its own folder, else by that of the run."""
        for place in dict.fromkeys((folder, self.raw)):
            table = self._at(place)
            hit = table.launch_of(dispatch) if table is not None else None
            if hit is not None:
                kernel, _, launch = hit
                return kernel.name, launch
        return None

    def _at(self, place: Path) -> DiscoveredKernels | None:
        if place not in self._tables:
            try:
                self._tables[place] = discovered(place)
            except (WavewrightError, OSError):
                self._tables[place] = None
        return self._tables[place]


def passes(recording: KernelChoice, name: str) -> bool:
    """True when the filters of a capture let a kernel pass; what cannot be told passes."""
    is_included = _finds(recording.kernel_regex, name, if_empty=True)
    return is_included and not _finds(recording.exclude_regex, name, if_empty=False)


def _finds(pattern: str, name: str, *, if_empty: bool) -> bool:
    """True when the pattern finds a name; what is not judged here counts as found."""
    from wavewright.capture.rocprofv3.regex import names_found
    from wavewright.capture.rocprofv3.releases import NEWEST

    if not pattern:
        return if_empty
    try:
        return names_found(pattern, [name], NEWEST.version) != ()  # None = not judged
    except UsageError:
        return False


def launch_count(recording: KernelChoice, kernels: DiscoveredKernels | None) -> int | None:
    """Most launches of one symbol of a kernel that the filters let pass; None = there is no kernel trace."""
    if kernels is None:
        return None
    return max((kernel.symbols[0].calls for kernel in kernels.kernels if passes(recording, kernel.name)), default=0)


def why_none(recording: KernelChoice, kernels: DiscoveredKernels | None, *, has_output: bool) -> Judgement:
    """The reason why nothing was recorded: the filter, the launch numbers, or a process that was not seen."""
    if kernels is None:
        if has_output:
            return _none(
                "no dispatch was traced, and no kernel trace of the same run tells which kernels ran.",
                "Find the names with `wavewright capture discover`; kernels of other processes are not seen.",
            )
        return _none(
            "the profiler left no file: no process with a GPU was seen to its end.",
            "Does the program launch kernels, in a process that ends by itself? Servers: end them by Ctrl-C.",
        )
    matching = [kernel for kernel in kernels.kernels if passes(recording, kernel.name)]
    if not matching:
        nearest = _nearest(recording.kernel_regex, kernels.names)
        count = counted(len(kernels.names), "kernels")
        what = f"the regex {printable_line(recording.kernel_regex)!r} matches none of the {count}"
        regex = recording.kernel_regex
        if regex and any(_finds(regex, name, if_empty=True) for name in kernels.names):
            what = f"every kernel that matches is excluded by {printable_line(recording.exclude_regex)!r}"
        near = f"; nearest: {', '.join(nearest)}" if nearest else ""
        return _none(f"{what}{near}.", "Choose a kernel by --kernel NAME.", 0)
    last_launch = max(kernel.symbols[0].calls for kernel in matching)
    if recording.launches and min(recording.launches) > last_launch:
        asked = ", ".join(map(str, recording.launches))
        return _none(
            f"launches {asked} were asked for, but the kernel is launched {counted(last_launch, 'times')} only.",
            f"Choose launches from 1 to {last_launch} (--launch).",
            last_launch,
        )
    launches = counted(last_launch, "launches")
    return _none(
        f"{counted(len(matching), 'kernels')} passed the filters, with up to {launches}: not traced.",
        "They may have run on another GPU than the chosen one (--gpu), or the trace was refused: see the log.",
        last_launch,
    )


def _none(reason: str, advice: str, launch_count: int | None = None) -> Judgement:
    """The judgement; `launch_count`: most launches of a symbol that the filters let pass."""
    return Judgement(verdict=Verdict.NO_DISPATCH, reasons=(reason,), advice=advice, launch_count=launch_count)


def _nearest(regex: str, names: Iterable[str]) -> list[str]:
    """The kernels whose titles look most like the regex without its special characters."""
    text = "".join(letter for letter in regex.replace(".*", "") if letter not in "\\^$*+?()[]{}|").lower()
    titles: dict[str, str] = {}
    for name in list(names)[:_NAMES_COMPARED]:
        titles.setdefault(kernel_title(name)[:200].lower(), name)
    words = {title: title.split("<")[0].split("::")[-1] for title in titles}
    near = get_close_matches(text, words.values(), n=_NAMED_KERNELS, cutoff=0.4)
    hits = [titles[title] for near_word in near for title, word in words.items() if word == near_word]
    chosen = list(dict.fromkeys(hits)) or list(titles.values())
    return [printable_line(shortened(kernel_title(name), _NAME_WIDTH)) for name in chosen[:_NAMED_KERNELS]]


# --- arguments of launches, recorded beside a thread trace: those of the traced dispatches get their numbers ---


def number_arguments(attempt: Path, dispatches: Sequence[TracedDispatch]) -> int:
    """Number the recorded launches that were traced, and drop all others; how many were.

    A recording counts launches of a kernel, a trace counts dispatches: the kernel trace beside it knows both. Launches
    of two functions with the same name cannot be told apart, and are dropped.
    """
    count = 0
    for path in (attempt / "raw").glob(f"*/{NAME}"):
        with suppress(NotATraceError, OSError):  # of a program that was killed while it wrote
            document = decoded_file(path.parent, path.name, ArgumentsDocument)
            places = (path.parent, path.parent.parent)
            neighbours = [dispatch for dispatch in dispatches if attempt / dispatch.folder in places]
            numbers = {(dispatch.kernel, dispatch.launch): dispatch.dispatch for dispatch in neighbours}
            plain = demangle_all({entry.kernel for entry in document.dispatches})
            copies = Counter((entry.kernel, entry.launch) for entry in document.dispatches)
            entries = []
            for entry in document.dispatches:
                if entry.launch is None or copies[entry.kernel, entry.launch] > 1:
                    continue
                for name in {entry.kernel, plain[entry.kernel]}:  # the trace may have either
                    number = numbers.get((name, entry.launch))
                    entries += [] if number is None else [structs.replace(entry, dispatch=number)]
            path.write_bytes(json.encode(structs.replace(document, dispatches=entries)))
            count += len(entries)
    return count

"""Checks of ROCm: its roots, rocprofv3 and what belongs to it."""

from __future__ import annotations

import re
from typing import Any

from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.capture.doctor.check import Level, Outcome, bad, ok, skipped
from wavewright.capture.doctor.view import MachineView, printable
from wavewright.capture.rocprofv3.installation import DECODER, decoder_files, release_of_root
from wavewright.capture.rocprofv3.messages import trouble_of_release
from wavewright.capture.rocprofv3.options import version_of

_OLDEST = (6, 2)  #: The first ROCm whose rocprofv3 captures.
_THREAD_TRACES = (7, 0)  #: Also the first whose rocprofv3-avail takes arguments.
_INCLUDED = (7, 13)  #: From here on the decoder comes with ROCm, and aqlprofile is a part of the SDK.
_DECODER_OPTIONAL = (10, 0)  #: From here on AMD's tool starts without a decoder.
_AVAIL_SECONDS = 60.0  #: After which rocprofv3-avail is killed.
#: Libraries without which rocprofv3 refuses to start. Source: rocprofv3.py 0.4.0 to 1.3.2.
TOOL_LIBRARIES = (
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool.so",
    "lib/librocprofiler-sdk.so",
    "lib/librocprofiler-sdk-roctx.so",
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool-kokkosp.so",
)
_LIST_AVAIL = ("lib/rocprofiler-sdk/librocprofv3-list-avail.so", "libexec/rocprofiler-sdk/librocprofv3-list-avail.so")
_DEFINITIONS = ("config.yaml", "counter_defs.yaml")
_COUNTER = "SQ_WAVES"  #: Every GPU since gfx9 has it.


def root(view: MachineView) -> Outcome:
    """Look for a ROCm."""
    if not view.roots:
        return bad("none") if view.has_gpu else skipped("no GPU")
    reason = next(found.reason for found in view.roots if found.path == view.root)
    used = f"{printable(view.root)} ({reason})"
    path = view.variables.get("ROCM_PATH", "")
    if path and view.machine.real_path(path) != view.root:
        return bad("other path", used=used, path=printable(path), root=quoted(view.root), level=Level.WARNING)
    if len(view.roots) == 1:
        return ok("one", used=used)
    paths = [found.path for found in view.roots]
    details = tuple(f"{printable(path)} ({release_of_root(view.machine, path) or 'unknown release'})" for path in paths)
    return ok("several", details=details, used=used, count=counted(len(details), "installations"))


def version(view: MachineView) -> Outcome:
    """Look for a release with rocprofv3."""
    release = release_of_root(view.machine, view.root)
    script_release = view.script.versions.get("rocm_version", "") if view.script else ""
    numbers, script_numbers = version_of(release or script_release), version_of(script_release)
    values: dict[str, Any] = {"release": release or script_release, "script": printable(script_release, 20)}
    if not numbers:
        return bad("unknown", level=Level.NOTE)
    if numbers < _OLDEST:
        return bad("old", **values)
    if release and script_numbers and script_numbers[:2] != numbers[:2]:
        return bad("mixed", **values, level=Level.WARNING)
    return ok("new", **values)


def rocprofv3(view: MachineView) -> Outcome:
    """Ask the program for its version."""
    script = view.script
    if script is None:
        return bad("missing", root=printable(view.root))
    if script.problem:
        return bad("silent", path=printable(script.path), problem=script.problem, program=quoted(script.path))
    sdk = script.versions.get("version")
    trouble = trouble_of_release(sdk) if sdk else None
    details = () if trouble is None else (f"{trouble.cause} {trouble.remedy}",)
    text = f"version {printable(sdk, 20)}" if sdk else "which tells no version"
    return ok("answers", details=details, path=_brief(view, script.path), version=text)


def tool_libraries(view: MachineView) -> Outcome:
    """Look for the libraries that rocprofv3 loads into programs, under their plain names or with a version."""
    missing = [path for path in TOOL_LIBRARIES if not _library(view, path)]
    if view.version >= _THREAD_TRACES and not any(_library(view, path) for path in _LIST_AVAIL):
        missing.append(_LIST_AVAIL[0])
    names = ", ".join(path.rpartition("/")[2] for path in missing)
    return bad("missing", names=names) if missing else ok("complete")


def decoder(view: MachineView) -> Outcome:
    """Look for AMD's decoder: its tool refuses thread traces without, although wavewright decodes them itself."""
    if view.version and view.version < _THREAD_TRACES:
        return skipped("no thread traces")
    if folder := view.installation.decoder_folder if view.installation else "":
        return ok("there", path=_brief(view, f"{folder}/{DECODER}"))
    if view.version >= _DECODER_OPTIONAL:
        return ok("not needed")
    near = next(decoder_files(view.machine, view.root), None)
    if near:
        path, link = f"{near[0]}/{near[1][-1]}", quoted(f"{near[0]}/{DECODER}")
        return bad("other name", path=printable(path), plain=DECODER, name=quoted(near[1][-1]), link=link)
    return bad("not included" if view.version >= _INCLUDED else "none")


def aqlprofile(view: MachineView) -> Outcome:
    """Look for the library that programs the counters and the trace."""
    name = "libhsa-amd-aqlprofile64.so"
    library, other = _library(view, f"lib/{name}"), _other_copy(view, name)
    if other:
        values: dict[str, Any] = {"path": printable(other), "root": printable(view.root)}
        return bad("other", _without(view, other), **values)
    if library:
        return ok("one", path=_brief(view, library))
    return ok("included") if view.version >= _INCLUDED else bad("missing", name=name, root=printable(view.root))


def comgr(view: MachineView) -> Outcome:
    """Look for two copies of comgr (or of LLVM in it): in one process they abort it."""
    name = "libamd_comgr.so"
    library = _library(view, f"lib/{name}")
    if library is None:
        return bad("missing", name=name, root=printable(view.root))
    other = _other_copy(view, name, *re.split(r"[ :]+", view.variables.get("LD_PRELOAD", "")))
    if other:
        return bad("two", _without(view, other), first=printable(library), other=printable(other))
    return ok("one", path=_brief(view, library))


def counter_definitions(view: MachineView) -> Outcome:
    """Look for the file that says what each counter is."""
    variable = view.variables.get("ROCPROFILER_METRICS_PATH")
    folder = variable or f"{view.root}/share/rocprofiler-sdk"
    if any(view.machine.facts(f"{folder}/{name}") for name in _DEFINITIONS):
        return ok("there", folder=_brief(view, folder))
    return bad("wrong variable" if variable else "missing", folder=printable(folder), file=_DEFINITIONS[0])


def counters_and_samples(view: MachineView) -> Outcome:
    """Ask rocprofv3-avail, which opens every GPU: only on request."""
    if not view.asks_gpu:
        return skipped("not asked for")
    if view.version and view.version < _THREAD_TRACES:
        return skipped("old")
    path = view.machine.program(f"{view.root}/bin/rocprofv3-avail")
    if path is None:
        return bad("missing", root=printable(view.root))
    refused = []
    for gpu in view.gpus:
        words = [path, "-d", str(gpu.index), "pmc-check", _COUNTER]  # -d must come before the subcommand
        answer = view.machine.run(words, seconds=_AVAIL_SECONDS)
        if answer.status is None:  # it would take as long with each of the others
            refused.append(f"GPU {gpu.index}: {printable(answer.problem)}")
            break
        if answer.status != 0:
            lines = [line for line in (answer.stderr or answer.stdout).splitlines() if line.strip()]
            refused.append(f"GPU {gpu.index}: {printable(lines[-1]) if lines else 'no reason is given'}")
    if refused:
        return bad("refused", refused="; ".join(refused), counter=_COUNTER, program=quoted(path))
    samples = view.machine.run([path, "list", "--pc-sampling"], seconds=_AVAIL_SECONDS)
    count = len(re.findall(r"(?m)^GPU\s*:", samples.stdout))
    sampling = f"; {count} of {len(view.gpus)} can sample PCs" if samples.status == 0 else ""
    return ok("counted", counter=_COUNTER, samples=sampling)


def end_to_end(view: MachineView) -> Outcome:
    """Compile and capture a tiny program: only on request."""
    return skipped("not asked for") if view.trial is None else view.trial(view)


def _brief(view: MachineView, path: str) -> str:
    """A path, without the root if it is below it."""
    return printable(path.removeprefix(f"{view.root}/"))


def _library(view: MachineView, path: str, root: str | None = None) -> str | None:
    """A library, under its plain name or with a version, as the script looks for it; None = it is not there."""
    folder, _, name = f"{view.root if root is None else root}/{path}".rpartition("/")
    files = [file for file in view.machine.names(folder) if file == name or file.startswith(f"{name}.")]
    return f"{folder}/{files[0]}" if files else None


def _other_copy(view: MachineView, name: str, *preloaded: str) -> str:
    """A copy of a library of ROCm that would be loaded before its own; empty = there is none."""
    library = _library(view, f"lib/{name}")
    folders = [path.rstrip("/") for path in view.variables.get("LD_LIBRARY_PATH", "").split(":")]
    folders += [path.rpartition("/")[0] for path in preloaded if name in path]
    for folder in dict.fromkeys(folder for folder in folders if folder.startswith("/")):
        path = _library(view, name, folder)
        if path and (library is None or view.machine.real_path(path) != view.machine.real_path(library)):
            return path
    return ""


def _without(view: MachineView, path: str) -> str:
    """The line that takes the folder of a library out of LD_LIBRARY_PATH."""
    folder, folders = path.rpartition("/")[0], view.variables.get("LD_LIBRARY_PATH", "").split(":")
    rest = [other for other in folders if other.rstrip("/") != folder and other]
    return f"export LD_LIBRARY_PATH={quoted(':'.join(rest))}" if rest else "unset LD_LIBRARY_PATH"

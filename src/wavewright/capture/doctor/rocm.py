"""Checks of ROCm: its roots, rocprofv3 and what belongs to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.capture.doctor.check import Answer, Level, not_checked, unhealthy
from wavewright.capture.doctor.sight import printable, version_numbers
from wavewright.capture.rocprofv3.installed import DECODER, decoder_files, release_of_root

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

_OLDEST = (6, 2)  #: The first ROCm whose rocprofv3 captures.
_THREAD_TRACES = (7, 0)
_DECODER_INCLUDED = (7, 13)
_DECODER_OPTIONAL = (10, 0)  #: From here on AMD's tool starts without a decoder, and aqlprofile is a part of the SDK.
_AQLPROFILE_INCLUDED = (7, 13)
_ANSWER_SECONDS = 30.0
_MI300_DECODER = (0, 1, 2)
#: Libraries without which rocprofv3 refuses to start. Source: rocprofv3.py 0.4.0 to 1.3.2.
TOOL_LIBRARIES = (
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool.so",
    "lib/librocprofiler-sdk.so",
    "lib/librocprofiler-sdk-roctx.so",
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool-kokkosp.so",
)
_LIST_AVAIL = ("lib/rocprofiler-sdk/librocprofv3-list-avail.so", "libexec/rocprofiler-sdk/librocprofv3-list-avail.so")
_INSTALL = "sudo apt install rocprofiler-sdk    # or: sudo dnf install rocprofiler-sdk"
_DECODER_URL = "https://github.com/ROCm/rocprof-trace-decoder/releases"
_SYMBOLS = (
    "rocprof_trace_decoder_parse_data rocprof_trace_decoder_get_info_string rocprof_trace_decoder_get_status_string"
)
_NEW_SYMBOL = "rocprof_trace_decoder_create_handle"
#: Loads a library in a process of its own, and prints those of the names that it has.
_LOAD = "import ctypes,sys; l=ctypes.CDLL(sys.argv[1]); print(*[n for n in sys.argv[2:] if hasattr(l,n)])"
_DEFINITIONS = ("config.yaml", "counter_defs.yaml")


def root(sight: Sight) -> Answer:
    """A ROCm, and which."""
    if not sight.roots:
        if not sight.has_gpu:
            return not_checked("there is no AMD GPU here, and no ROCm, which only captures need")
        remedy = "install ROCm 7.0 or newer (thread traces), at least rocprofiler-sdk; or name its folder by ROCM_PATH"
        return unhealthy(
            "there is no ROCm: not on PATH, in ROCM_PATH, in /opt, or as a Python package", remedy, _INSTALL
        )
    reason = next(each.reason for each in sight.roots if each.path == sight.root)
    used = f"{printable(sight.root)} ({reason})"
    path = sight.variables.get("ROCM_PATH", "")
    if path and sight.machine.real_path(path) != sight.root:
        remedy = "let both name the same ROCm, or libraries of one meet programs of the other"
        line = f"export ROCM_PATH={quoted(sight.root)}"
        return unhealthy(f"{used}, but ROCM_PATH is {printable(path)}", remedy, line, level=Level.WARNING)
    others = [
        f"{printable(each.path)} ({release_of_root(sight.machine, each.path) or 'unknown release'})"
        for each in sight.roots
    ]
    if len(sight.roots) > 1:
        hint = "capture --rocprofv3 PATH takes another one"
        return Answer(f"{used}, one of {counted(len(others), 'installations')}", remedy=hint, details=tuple(others))
    return Answer(used)


def version(sight: Sight) -> Answer:
    """A release with rocprofv3."""
    release = release_of_root(sight.machine, sight.root)
    script_release = sight.script.versions.get("rocm_version", "") if sight.script else ""
    numbers = version_numbers(release or script_release)
    if not numbers:
        return unhealthy(
            "unknown: neither a file nor the program tells",
            "options are taken from --help; nothing to do",
            level=Level.NOTE,
        )
    if numbers < _OLDEST:
        return unhealthy(
            f"{release or script_release}: too old",
            "rocprofv3 captures from ROCm 6.2 on: install a newer one",
            _INSTALL,
        )
    script_numbers = version_numbers(script_release)
    if release and script_numbers and script_numbers[:2] != numbers[:2]:
        remedy = "the folder holds a mixture of two releases: install one of them afresh"
        return unhealthy(
            f"the folder is of {release}, its rocprofv3 of {printable(script_release, 20)}", remedy, level=Level.WARNING
        )
    return Answer(release or script_release)


def rocprofv3(sight: Sight) -> Answer:
    """The program answers."""
    script = sight.script
    if script is None:
        return unhealthy(
            f"{printable(sight.root)}/bin/rocprofv3 is missing", "install the package rocprofiler-sdk", _INSTALL
        )
    if script.problem:
        remedy = "run it yourself: it must answer without a GPU"
        return unhealthy(f"{printable(script.path)}: {script.problem}", remedy, f"{quoted(script.path)} --version")
    sdk = script.versions.get("version")
    return Answer(
        f"{_brief(sight, script.path)}, {f'version {printable(sdk, 20)}' if sdk else 'which tells no version'}"
    )


def tool_libraries(sight: Sight) -> Answer:
    """The libraries that rocprofv3 loads into programs."""
    missing = [path for path in TOOL_LIBRARIES if not _exists(sight, path)]
    if sight.version >= _THREAD_TRACES and not any(_exists(sight, path) for path in _LIST_AVAIL):
        missing.append(_LIST_AVAIL[0])
    if missing:
        names = ", ".join(path.rpartition("/")[2] for path in missing)
        return unhealthy(f"missing: {names}", "the package rocprofiler-sdk is incomplete: install it again", _INSTALL)
    return Answer("complete")


def decoder(sight: Sight) -> Answer:
    """AMD's tool refuses thread traces without its decoder, although wavewright decodes them itself."""
    if sight.version and sight.version < _THREAD_TRACES:
        return not_checked("this release has no thread traces")
    folder = sight.installation.decoder_folder if sight.installation else ""
    if folder:
        return _loaded_decoder(sight, folder)
    if sight.version >= _DECODER_OPTIONAL:
        return Answer("none; not needed: wavewright decodes thread traces itself")
    near = next(decoder_files(sight.machine, sight.root), None)
    if near:
        path = f"{near[0]}/{near[1][-1]}"
        line = f"sudo ln -s {quoted(path.rpartition('/')[2])} {quoted(f'{near[0]}/{DECODER}')}"
        return unhealthy(
            f"{printable(path)} is there, but the tool opens only {DECODER}", "make a link of that name", line
        )
    if sight.version >= _DECODER_INCLUDED:
        return unhealthy("none, although this release brings it", "install rocprofiler-sdk again", _INSTALL)
    remedy = f"install a release of {_DECODER_URL}, or name its folder: capture --decoder DIR"
    return unhealthy("none where rocprofv3 looks for it", remedy)


def _loaded_decoder(sight: Sight, folder: str) -> Answer:
    path = f"{folder}/{DECODER}"
    interpreter = sight.machine.program("python3")
    if interpreter is None:
        return Answer(f"{printable(path)}; not loaded for a test, as there is no python3")
    words = [interpreter, "-c", _LOAD, path, *_SYMBOLS.split()]
    answer = sight.machine.run(words, seconds=_ANSWER_SECONDS)
    if answer.status == 0 and len(answer.stdout.split()) == len(_SYMBOLS.split()):
        return Answer(f"{_brief(sight, path)} loads")
    if answer.status == 0:
        what = f"{printable(path)} is not a decoder: it has {counted(len(answer.stdout.split()), 'functions')} of one"
    else:
        lines = (answer.stderr or answer.problem).strip().splitlines() or ["no reason is given"]
        what = f"{printable(path)} cannot be loaded: {printable(lines[-1].removeprefix('OSError: '), 160)}"
    return unhealthy(what, f"install one for this system: {_DECODER_URL}", f"ldd {quoted(path)}")


def decoder_version(sight: Sight) -> Answer:
    """Streams of MI300 and MI350 need a decoder that knows their header."""
    folder = sight.installation.decoder_folder if sight.installation else ""
    if not folder:
        return not_checked("there is no decoder")
    real = sight.machine.real_path(f"{folder}/{DECODER}")
    match = re.search(r"\.so\.(\d{1,4}(?:\.\d{1,4}){1,3})$", real)
    if not match:
        interpreter = sight.machine.program("python3")
        words = [interpreter or "", "-c", _LOAD, real, _NEW_SYMBOL]
        has_handles = interpreter and _NEW_SYMBOL in sight.machine.run(words, seconds=_ANSWER_SECONDS).stdout
        return Answer("0.2 or newer, by its functions" if has_handles else "its file name tells no version")
    numbers = version_numbers(match[1])
    targets = [gpu.target for gpu in sight.gpus if gpu.target.startswith(("gfx94", "gfx95"))]
    if numbers < _MI300_DECODER and targets:
        remedy = f"{targets[0]} needs 0.1.2 or newer, for what rocprofv3 decodes itself: {_DECODER_URL}"
        return unhealthy(f"{match[1]}: too old for {targets[0]}", remedy)
    return Answer(match[1])


def aqlprofile(sight: Sight) -> Answer:
    """The library that programs the counters and the trace."""
    name = "libhsa-amd-aqlprofile64.so"
    in_root = _first(sight, f"{sight.root}/lib", name)
    for folder in _library_folders(sight):
        path = _first(sight, folder, name)
        if path and sight.machine.real_path(path) != sight.machine.real_path(in_root or path + "?"):
            remedy = "the profiler would load that of another ROCm: take the folder out of LD_LIBRARY_PATH"
            return unhealthy(
                f"{printable(path)} comes before that of {printable(sight.root)}", remedy, _without(sight, folder)
            )
    if in_root:
        return Answer(_brief(sight, in_root))
    if sight.version >= _AQLPROFILE_INCLUDED:
        return Answer("a part of rocprofiler-sdk in this release")
    return unhealthy(
        f"{name} is missing in {printable(sight.root)}/lib",
        "counters and thread traces need it: install the package",
        "sudo apt install hsa-amd-aqlprofile    # or: sudo dnf install hsa-amd-aqlprofile",
    )


def comgr(sight: Sight) -> Answer:
    """Two copies of comgr (or of LLVM in it) in one process abort it."""
    name = "libamd_comgr.so"
    in_root = _first(sight, f"{sight.root}/lib", name)
    folders = [*_library_folders(sight), *(path.rpartition("/")[0] for path in _preloaded(sight) if name in path)]
    for folder in folders:
        path = _first(sight, folder, name)
        if path and in_root and sight.machine.real_path(path) != sight.machine.real_path(in_root):
            remedy = "a process with both ends in `registered more than once`: take the folder out of LD_LIBRARY_PATH"
            return unhealthy(f"two copies: {printable(in_root)} and {printable(path)}", remedy, _without(sight, folder))
    if in_root is None:
        remedy = "the profiler disassembles code with it: install the package"
        return unhealthy(
            f"{name} is missing in {printable(sight.root)}/lib", remedy, "sudo apt install comgr    # or: dnf"
        )
    return Answer(_brief(sight, in_root))


def counter_definitions(sight: Sight) -> Answer:
    """The file that says what each counter is."""
    given = sight.variables.get("ROCPROFILER_METRICS_PATH")
    folder = given or f"{sight.root}/share/rocprofiler-sdk"
    if any(sight.machine.facts(f"{folder}/{name}") for name in _DEFINITIONS):
        return Answer(_brief(sight, folder))
    if given:
        remedy = "the variable points elsewhere: counters cannot be collected"
        return unhealthy(
            f"ROCPROFILER_METRICS_PATH={printable(given)} has no {_DEFINITIONS[0]}",
            remedy,
            "unset ROCPROFILER_METRICS_PATH",
        )
    return unhealthy(
        f"{printable(folder)} has no {_DEFINITIONS[0]}", "counters cannot be collected: install it again", _INSTALL
    )


def _brief(sight: Sight, path: str) -> str:
    """A path, without the root if it is below it."""
    return printable(path.removeprefix(f"{sight.root}/"))


def _exists(sight: Sight, path: str) -> bool:
    """Whether a library is there, under its plain name or with a version, as the script looks for it."""
    if sight.machine.facts(f"{sight.root}/{path}"):
        return True
    folder, _, name = f"{sight.root}/{path}".rpartition("/")
    return any(each.startswith(f"{name}.") for each in sight.machine.names(folder))


def _first(sight: Sight, folder: str, name: str) -> str | None:
    """A library in a folder, under its plain name or with a version."""
    names = [each for each in sight.machine.names(folder) if each == name or each.startswith(f"{name}.")]
    return f"{folder}/{names[0]}" if names else None


def _library_folders(sight: Sight) -> list[str]:
    paths = sight.variables.get("LD_LIBRARY_PATH", "").split(":")
    return list(dict.fromkeys(path.rstrip("/") for path in paths if path.startswith("/")))


def _preloaded(sight: Sight) -> list[str]:
    return [path for path in re.split(r"[ :]+", sight.variables.get("LD_PRELOAD", "")) if path.startswith("/")]


def _without(sight: Sight, folder: str) -> str:
    """The line that takes a folder out of LD_LIBRARY_PATH."""
    rest = [
        path for path in sight.variables.get("LD_LIBRARY_PATH", "").split(":") if path.rstrip("/") != folder and path
    ]
    return f"export LD_LIBRARY_PATH={quoted(':'.join(rest))}" if rest else "unset LD_LIBRARY_PATH"

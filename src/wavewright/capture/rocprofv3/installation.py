"""ROCm and its profiler on a machine: every root, every rocprofv3, its release and its options, its decoder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from wavewright.base.secrets import masked
from wavewright.capture.machines.machine import Completed, Machine
from wavewright.capture.rocprofv3.options import all_options
from wavewright.capture.rocprofv3.releases import Installation, options_of_help
from wavewright.errors import MissingToolError

DECODER = "librocprof-trace-decoder.so"  #: rocprofv3's tool opens exactly this name.
PLACEHOLDER = "@"  #: A script that was never configured by CMake prints names between two of these.
_ANSWER_SECONDS = 30.0  #: For --version and --help of a script on a slow disk.
_LINE_LENGTH = 1000  #: Letters of a line that are looked at.
_VERSION = re.compile(r"\d{1,3}(?:\.\d{1,4}){1,3}")
_RELEASE = re.compile(r"rocm-(\d{1,3}(?:\.\d{1,4}){1,3})")
_PACKAGES = ("_rocm_sdk_core", "_rocm_sdk_devel")  #: Wheels of TheRock.
_STARTER_BYTES = 2000  #: Bytes of a program that are searched for the name of a wheel that it starts.
_MANIFEST = "share/therock/therock_manifest.json"  #: Where TheRock's builds tell their release.


@dataclass(frozen=True)
class Root:
    """A folder that holds a ROCm, and what led to it."""

    path: str
    reason: str  #: As "ROCM_PATH", "rocprofv3 on PATH" or "/opt".


@dataclass(frozen=True)
class Script:
    """The answers of a rocprofv3 about itself."""

    path: str
    versions: dict[str, str]  #: Lines of --version by key, without placeholders; empty = the script has no --version.
    options: frozenset[str]
    problem: str  #: Why it cannot be used; empty = it answers.


def roots_of(machine: Machine) -> tuple[Root, ...]:
    """Every ROCm of the machine once, that whose rocprofv3 a shell would start first."""
    roots: dict[str, Root] = {}
    for path, reason in _candidates(machine):
        real = machine.real_path(path)
        if real not in roots and _is_root(machine, real):
            roots[real] = Root(real, reason)
    return tuple(roots.values())


def script_of(machine: Machine, root: str) -> str | None:
    """The rocprofv3 of a root; None = it has none."""
    return machine.program(f"{root}/bin/rocprofv3")


def asked(machine: Machine, path: str) -> Script:
    """The answers of a rocprofv3 to --version and --help; both need neither a GPU nor a library."""
    answer = machine.run([path, "--version"], seconds=_ANSWER_SECONDS)
    is_older = answer.status == 2 and "unrecognized arguments: --version" in answer.stderr  # before ROCm 7.0
    if answer.status != 0 and not is_older:
        return Script(path, {}, frozenset(), _failure("--version", answer))
    help_text = machine.run([path, "--help"], seconds=_ANSWER_SECONDS)
    if help_text.status != 0:
        return Script(path, {}, frozenset(), _failure("--help", help_text))
    options = options_of_help(help_text.stdout)
    problem = "" if options else "--help lists no options"
    return Script(path, {} if is_older else version_lines(answer.stdout), options, problem)


def version_lines(text: str) -> dict[str, str]:
    """The lines `key: value` of `rocprofv3 --version`; values that CMake never filled in are left out.

    >>> version_lines("         version: 1.1.0\\n    rocm_version: @rocm_version_FULL_VERSION@")
    {'version': '1.1.0'}
    """
    pairs = (line.partition(":") for line in text.splitlines())
    lines = {key.strip(): value.strip()[:200] for key, colon, value in pairs if colon}
    return {key: value for key, value in lines.items() if key.isidentifier() and value and value[:1] != PLACEHOLDER}


def release_of_root(machine: Machine, root: str) -> str:
    """The release of a root, as 7.2.0: by its version file, its manifest, else its folder's name; empty = unknown."""
    text = machine.text(f"{root}/.info/version") or ""
    if match := _VERSION.match(text):
        return match[0]
    manifest = machine.text(f"{root}/{_MANIFEST}")
    if manifest:
        try:
            document = json.loads(manifest)
        except (ValueError, RecursionError):
            document = None
        version = document.get("rocm_version") if isinstance(document, dict) else None
        if isinstance(version, str) and (match := _VERSION.match(version)):
            return match[0]
    match = _RELEASE.search(root)
    return match[1] if match else ""


def decoder_files(machine: Machine, root: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Folders in which rocprofv3 looks, and some more, with the names of decoders in them, if there are any.

    Source: rocprofv3.py 1.3.2: the variable, LD_LIBRARY_PATH, `<root>/lib`. It walks all subfolders, where the tool
    then does not find a decoder by its plain name unless the folder itself is given: so it has to be the folder itself.
    """
    variables = (machine.variables.get(name, "") for name in ("ROCPROF_ATT_LIBRARY_PATH", "LD_LIBRARY_PATH"))
    folders = [folder.rstrip("/") for paths in variables for folder in paths.split(":") if folder.startswith("/")]
    folders += [f"{root}/lib", f"{root}/lib64", f"{root}/lib/rocprof-trace-decoder", "/opt/rocm/lib"]
    folders += ["/opt/rocprof-trace-decoder/lib", "/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu"]
    for folder in dict.fromkeys(folders):
        names = tuple(name for name in machine.names(folder) if DECODER in name)
        if names:
            yield folder, names


def find_installation(machine: Machine, rocprofv3: str | None = None) -> Installation:
    """The rocprofv3 that is used: the given one, that on PATH, else that of a ROCm of the machine."""
    scripts = (script_of(machine, root.path) for root in roots_of(machine))
    problem = ""
    for name in [rocprofv3] if rocprofv3 else filter(None, scripts):
        path = machine.program(name)
        if path is None:
            problem = problem or (f"there is no program {rocprofv3!r}" if rocprofv3 else "")
            continue
        script = asked(machine, path)
        if not script.problem:
            return installation_of(machine, script, root_of_script(machine, path))
        problem = problem or f"{path}: {script.problem}"
    advice = "`wavewright doctor` says what is missing; --dry-run shows the command for a machine that has ROCm"
    raise MissingToolError(problem or "there is no rocprofv3", advice=advice)


def installation_of(machine: Machine, script: Script, root: str) -> Installation:
    """The installation of a script that answers."""
    sdk = _VERSION.match(script.versions.get("version", ""))
    release = _VERSION.match(script.versions.get("rocm_version", ""))
    installation = Installation(
        rocprofv3=script.path,
        root=root,
        rocm_version=release_of_root(machine, root) or (release[0] if release else ""),
        sdk_version=sdk[0] if sdk else "",
        options=script.options,
        # Under its plain name: the tool opens no other.
        decoder_folder=next((folder for folder, names in decoder_files(machine, root) if DECODER in names), ""),
    )
    every_option, version = all_options().values(), installation.version
    hidden = {option.name for option in every_option if option.is_hidden and option.exists_in(version)}
    return replace(installation, options=installation.options | hidden)


def root_of_script(machine: Machine, path: str) -> str:
    """The root of a rocprofv3: the parent of the folder in which it really is, as the script itself takes it."""
    return machine.real_path(path).rsplit("/", 2)[0] or "/"


def site_packages(machine: Machine) -> tuple[str, ...]:
    """Folders of Python packages: of the virtual or conda environment, of the python3 on PATH, of the system."""
    prefixes = [machine.variables.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    python = machine.program("python3") or machine.program("python")
    if python:
        prefixes += [python.rsplit("/", 2)[0], machine.real_path(python).rsplit("/", 2)[0]]
    folders = []
    for prefix in dict.fromkeys(prefix.rstrip("/") for prefix in prefixes if prefix.startswith("/")):
        for name in machine.names(f"{prefix}/lib"):
            if name.startswith("python3"):
                folders += [f"{prefix}/lib/{name}/{kind}" for kind in ("site-packages", "dist-packages")]
    return tuple(folder for folder in dict.fromkeys(folders) if machine.facts(folder))


def _candidates(machine: Machine) -> Iterator[tuple[str, str]]:
    on_path = machine.program("rocprofv3")
    # Wheels of TheRock put a few lines of Python onto PATH that start the program of their package, listed below.
    if on_path and b"rocm_sdk" not in (machine.read(on_path) or b"")[:_STARTER_BYTES]:
        yield root_of_script(machine, on_path), "rocprofv3 on PATH"
    for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        path = machine.variables.get(name, "")
        if path.startswith("/"):
            yield path, name
    yield "/opt/rocm", "/opt/rocm"
    names = [name for name in machine.names("/opt") if name.startswith("rocm-")]
    for name in sorted(names, key=_numbers, reverse=True):
        yield f"/opt/{name}", "/opt"
    cores = [name for name in machine.names("/opt/rocm") if name.startswith("core")]
    for name in sorted(cores, key=_numbers, reverse=True):
        yield f"/opt/rocm/{name}", "/opt/rocm"
    for folder in site_packages(machine):
        for package in _PACKAGES:
            yield f"{folder}/{package}", "Python package"


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", name)]


def _is_root(machine: Machine, path: str) -> bool:
    """True when a folder is a ROCm rather than a name that was left behind, or a prefix such as /usr without one."""
    if machine.program(f"{path}/bin/rocprofv3") or machine.facts(f"{path}/.info/version"):
        return True
    return any(machine.facts(f"{path}/lib/{name}") for name in ("libhsa-runtime64.so", "libhsa-runtime64.so.1"))


def _failure(option: str, answer: Completed) -> str:
    """The reason why a script cannot be used."""
    if answer.status is None:
        return f"{option}: {answer.problem}"
    lines = [line.strip() for line in (answer.stderr or answer.stdout).splitlines() if line.strip()]
    last = lines[-1][:_LINE_LENGTH] if lines else "it printed nothing"
    end = masked("".join(letter for letter in last if letter.isprintable()))[:200]
    return f"{option} ended with status {answer.status}: {end}"

"""A ROCm for tests on machines without one: AMD's real rocprofv3 of a release where it is at hand, else a stand-in.

AMD's scripts are copied when a test runs, and never committed; the libraries around them are links to this machine's C
library, which the loader preloads without a word. The stand-in is made of our table of options: it hands the same
variables to the program, but knows none of the combinations that AMD's script rejects.
"""

from __future__ import annotations

import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path

#: Release -> folder of AMD's script below `data/rocprofv3-tree/scripts`, and what the script calls itself.
SCRIPTS = {
    "6.2": ("0.4.0_rocm-6.2", "0.4.0"),
    "6.3": ("0.5.0_rocm-6.3", "0.5.0"),
    "7.0": ("1.0.0_rocm-7.0", "1.0.0"),
    "7.11": ("1.1.0_2026-01-14", "1.1.0"),
    "7.13": ("1.3.0_therock-7.13", "1.3.0"),
    "7.14": ("1.3.2_2026-07-13", "1.3.2"),
}
NEWEST = "7.14"
#: What any release looks for below its root (spec: rocprofv3.py of six releases).
_LIBRARIES = (
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool.so",
    "lib/librocprofiler-sdk.so",
    "lib/librocprofiler-sdk-roctx.so",
    "lib/rocprofiler-sdk/librocprofiler-sdk-tool-kokkosp.so",
    "lib/rocprofiler-sdk/librocprofv3-list-avail.so",
    "libexec/rocprofiler-sdk/librocprofv3-list-avail.so",
    "lib/rocprofiler-sdk/librocprofv3-attach.so",
    "lib/librocprofiler-sdk-rocattach.so",
)
_DECODER = "lib/librocprof-trace-decoder.so"
_VERSION_LINES = {
    "ROCPROFILER_SDK_GIT_REVISION": "0" * 40,
    "CMAKE_LIBRARY_ARCHITECTURE": "x86_64-linux-gnu",
    "CMAKE_SYSTEM_NAME": "Linux",
    "CMAKE_SYSTEM_PROCESSOR": "x86_64",
    "CMAKE_SYSTEM_VERSION": "6.8.0",
    "CMAKE_CXX_COMPILER_ID": "GNU",
    "CMAKE_CXX_COMPILER_VERSION": "13.3.0",
}
PROGRAM = Path(__file__).with_name("profiled_program.py")


@dataclass(frozen=True)
class RocmTree:
    """A folder that looks like a ROCm."""

    root: Path
    rocm: str
    is_real: bool  #: The script is AMD's.

    @property
    def rocprofv3(self) -> str:
        """Path of the script."""
        return str(self.root / "bin" / "rocprofv3")


def make_rocm_tree(root: Path, rocm: str = NEWEST, *, shared: Path | None = None, has_decoder: bool = True) -> RocmTree:
    """Make a ROCm of a release below `root`; with AMD's script where `shared` has it."""
    folder, sdk = SCRIPTS[rocm]
    script = None if shared is None else shared / "data" / "rocprofv3-tree" / "scripts" / folder / "rocprofv3.py"
    is_real = script is not None and script.is_file()
    text = script.read_text(encoding="utf-8") if script is not None and is_real else _stand_in(rocm, sdk)
    for name, value in {**_VERSION_LINES, "FULL_VERSION_STRING": sdk, "rocm_version_FULL_VERSION": rocm}.items():
        text = text.replace(f"@{name}@", value)
    path = root / "bin" / "rocprofv3"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    library = _loaded_library()
    for name in (*_LIBRARIES, *((_DECODER,) if has_decoder else ())):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(library)
    (root / ".info").mkdir(exist_ok=True)
    (root / ".info" / "version").write_text(f"{rocm}\n", encoding="ascii")
    return RocmTree(root, rocm, is_real)


def steered(folder: Path, **steering: object) -> tuple[tuple[str, ...], dict[str, str]]:
    """A program for `-- PROGRAM`, and the variables that it needs: see `profiled_program`."""
    import sys

    from synth.profiled_program import STEERING

    path = folder / "stand_in.json"
    path.write_text(json.dumps(steering), encoding="utf-8")
    return (sys.executable, "-I", "-S", str(PROGRAM), "a b"), {STEERING: str(path)}


def _loaded_library() -> Path:
    """The C library of this process."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if match := re.search(r"(/\S*/libc(?:-[\d.]+)?\.so[.\d]*)$", line):
            return Path(match[1])
    raise FileNotFoundError("no C library in /proc/self/maps")


def _stand_in(rocm: str, sdk: str) -> str:
    """A script that hands the variables of our table of options to the program."""
    from wavewright.capture.rocprofv3.options import options_in, version_of

    table = {
        name: [option.kind.value, option.variables, option.joint, option.implies]
        for name, option in options_in(version_of(rocm)).items()
    }
    return _SCRIPT.replace("@TABLE@", json.dumps(table)).replace("@SDK@", sdk).replace("@ROCM@", rocm)


_SCRIPT = '''#!/usr/bin/env python3
"""Stands for rocprofv3: hands variables to a program, by a table of options."""
import json
import os
import sys

TABLE = json.loads(r"""@TABLE@""")
TRUE = ("1", "y", "yes", "t", "true", "on")
FALSE = ("0", "n", "no", "f", "false", "off")


def refuse(text, status):
    sys.stderr.write(text + "\\n")
    sys.exit(status)


def main():
    words = sys.argv[1:]
    ours, program = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    if "--version" in ours and "--version" in TABLE:
        print("         version: @SDK@\\n    rocm_version: @ROCM@")
        return
    if not ours or "--help" in ours or "-h" in ours:
        print("usage: rocprofv3 [options] -- program\\n")
        for name in TABLE:
            print("  " + name)
        return
    variables = {}
    place = 0
    while place < len(ours):
        name, equals, given = ours[place].partition("=")
        place += 1
        if name not in TABLE:
            refuse("usage: rocprofv3 [options]\\nrocprofv3: error: unrecognized arguments: " + name, 2)
        values = [given] if equals else []
        while not equals and place < len(ours) and not (ours[place].startswith("-") and ours[place] in TABLE):
            kind = TABLE[name][0]
            if kind == "nothing" or (kind not in ("words", "words or none", "some of") and values):
                break
            if kind == "yes or no" and ours[place].lower() not in TRUE + FALSE:
                break
            values.append(ours[place])
            place += 1
        switch(name, values, variables)
    if not program:
        refuse("[rocprofv3] Fatal error: No application provided", 1)
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    library = os.path.join(root, "lib", "rocprofiler-sdk", "librocprofiler-sdk-tool.so")
    preload = [part for part in os.environ.get("LD_PRELOAD", "").split(":") if part]
    os.environ["LD_PRELOAD"] = ":".join([library] + preload)
    os.environ.update(variables)
    os.execvp(program[0], program)


def switch(name, values, variables):
    kind, holds, joint, implies = TABLE[name]
    if kind == "yes or no" and values and values[0].lower() in FALSE:
        return
    for each in implies:
        if each in TABLE:
            switch(each, [], variables)
    if kind in ("number", "integer"):
        values = [str(int(value, 0)) for value in values]
    text = joint.join(values)
    for variable, form in holds.items():
        if form == "{content}":
            with open(text) as stream:
                variables[variable] = stream.read()
        else:
            filled = form.replace("{upper}", text.upper()).replace("{folder}", text).replace("{}", text)
            variables[variable] = filled


main()
'''

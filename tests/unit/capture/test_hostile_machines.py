"""Doctor on hostile machines: programs, files and variables of any kind end in an answer, soon, and tell no secret."""

from __future__ import annotations

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from synth.machines import MadeMachine, healthy_machine, rocprofv3_stand_in
from tests.cli.in_process import call
from wavewright.capture.doctor import RULES, examine
from wavewright.cli import doctor

SECRET = "PLANTED_SECRET_12345"  # noqa: S105 - what no answer may contain
COMMANDS = "\x1b[2J\x1b]0;title\x07\x9b31m\b\r\N{RIGHT-TO-LEFT OVERRIDE}\N{LEFT-TO-RIGHT ISOLATE}\x7f"
PROGRAMS = ("rocprofv3", "rocprofv3-avail", "rocminfo", "rocm-smi", "amd-smi", "python3", "hipcc")
SYSTEM_PATH = "/usr/bin:/bin"
MEMORY_BYTES = 3 << 30  #: Of addresses, of which the program asks for half at its start.
PROCESSOR_SECONDS = 60  #: Hundred times what an answer takes.
FORMS: tuple[tuple[str, ...], ...] = ((), ("--all",), ("--json",))


def _check(status: int, out: str, err: str) -> None:
    """An answer in text or JSON that no terminal obeys, that tells no secret and is no error of ours."""
    assert status in (0, 5), err
    assert "Traceback" not in out + err and "bug in wavewright" not in out + err
    assert SECRET not in out + err
    bad = {letter for letter in out + err if not letter.isprintable()} - {"\n"}
    assert not bad, bad
    if out.startswith("{"):
        answer = json.loads(out)
        assert [check["name"] for check in answer["checks"]] == [rule.name for rule in RULES]
        assert SECRET not in json.dumps(answer)
    else:
        assert out.startswith("captures can")


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))


def _doctor(folder: Path, variables: Mapping[bytes, bytes], *options: str) -> str:
    """The program in a process of its own, in `folder`, with these variables only; what it answers."""
    words = [sys.executable, "-m", "wavewright", "doctor", *options]
    environment = {b"PYTHONSAFEPATH": b"1", **variables}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, check=False, preexec_fn=_limits, timeout=600
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    _check(done.returncode, out, err)
    return out


def _of_path(*folders: str | Path) -> dict[bytes, bytes]:
    return {b"PATH": os.fsencode(":".join(map(str, folders)))}


def _script(path: Path, text: str, mode: int = 0o755) -> None:
    path.write_text(text)
    path.chmod(mode)


def _fifo(path: Path) -> None:
    os.mkfifo(path, 0o755)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as each:
        each.bind(str(path))
    path.chmod(0o755)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _printing(printed: str) -> Callable[[Path], None]:
    """A program that prints a text of Python, whatever it is asked."""
    return lambda path: _script(path, f"#!{sys.executable}\nimport os, sys\n{printed}\n")


_FLOOD = "for _ in range(1 << 10): os.write({}, b'x\\n' * (1 << 19))"
#: Name -> what makes a program of that kind at a path.
KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": _fifo,
    "socket": _socket,
    "folder": lambda path: path.mkdir(mode=0o755),
    "link to itself": _loop,
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "without the right": lambda path: _script(path, "#!/bin/sh\nexit 0\n", 0o644),
    "empty": lambda path: _script(path, ""),
    "garbage": lambda path: _script(path, "\x7fELF\x02\x01\x01 nonsense"),
    "unknown interpreter": lambda path: _script(path, f"#!/nowhere/{COMMANDS!r}\n"),
    "1 GiB of output": _printing(_FLOOD.format(1)),
    "1 GiB of errors": _printing(_FLOOD.format(2) + "\nsys.exit(3)"),
    "commands for a terminal": _printing(
        f"print('version: 1.1.0' + {COMMANDS!r} + '\\nrocm_version: 7.2.0' + {COMMANDS!r})\n"
        f"print('  --att ' + {COMMANDS!r}, '  --pmc', '  --x' + {COMMANDS!r}, sep='\\n')"
    ),
    "errors for a terminal": _printing(f"sys.exit('last' + {COMMANDS!r})"),
    "no text": _printing("os.write(1, bytes(range(256)) * 100); os.write(2, b'\\xff\\xfe'); sys.exit(1)"),
    "long numbers": _printing("print('version:', '9' * 10000, '\\nrocm_version:', '-' + '9' * 10000, '\\n  --att')"),
    "signal": _printing("os.kill(os.getpid(), 9)"),
    "child that stays": _printing("os.fork() or __import__('time').sleep(120)\nprint('version: 1\\n  --att')"),
    "secrets": _printing(f"sys.exit('cannot log in: HF_TOKEN={SECRET} https://me:{SECRET}@host')"),
}


@pytest.mark.some_cases(3)
@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=[pytest.mark.slow] if kind.startswith("1 GiB") else []) for kind in KINDS
])  # fmt: skip
def test_programs(tmp_path: Path, kind: str) -> None:
    programs = tmp_path / "rocm/bin"
    programs.mkdir(parents=True)
    programs.chmod(0o777)  # a folder in which anybody may put programs
    for name in PROGRAMS:
        KINDS[kind](programs / name)
    out = _doctor(tmp_path, _of_path(programs, SYSTEM_PATH), "--json")
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    is_program = (programs / "rocprofv3").is_file() and os.access(programs / "rocprofv3", os.X_OK)
    assert ("rocprofv3 on PATH" in checks["rocm"]["finding"]) == is_program
    if is_program:
        _doctor(tmp_path, _of_path(programs, SYSTEM_PATH))


@pytest.mark.slow  # half a minute for each question that has no answer
def test_program_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    _printing("__import__('signal').signal(15, 1)\nwhile True: __import__('time').sleep(9)")(tmp_path / "bin/rocprofv3")
    begin = time.monotonic()
    out = _doctor(tmp_path, _of_path(tmp_path / "bin", SYSTEM_PATH))
    assert "--version: no end after 30 s" in " ".join(out.split())
    assert time.monotonic() - begin < 300


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("path", [".", "", ":", ".:", ":/usr/bin", "./:..", "here", "./here:/usr/bin"])
def test_programs_and_modules_of_this_folder_do_not_run(tmp_path: Path, path: str) -> None:
    """A folder of somebody else's captures: nothing in it is run or imported, though PATH says so and ROCm is here."""
    work = tmp_path / "work"
    (work / "here").mkdir(parents=True)
    planted = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
    for name in (*PROGRAMS, "env", "sh", "ldd"):
        _script(work / name, planted)
        _script(work / "here" / name, planted)
    for name in ("yaml", "ctypes", "json", "sitecustomize"):
        (work / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    root = tmp_path / "rocm"
    (root / "bin").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "lib/librocprof-trace-decoder.so").write_bytes(b"")
    _script(root / "bin/rocprofv3", rocprofv3_stand_in("7.2.0", "1.1.0"))
    variables = {**_of_path(path, SYSTEM_PATH), b"ROCM_PATH": os.fsencode(root)}
    checks = {check["name"]: check for check in json.loads(_doctor(work, variables, "--json"))["checks"]}
    assert checks["rocprofv3"]["finding"] == "bin/rocprofv3, version 1.1.0"
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "imported").exists()


def test_gpus_are_not_asked_one_by_one_when_there_is_no_answer(tmp_path: Path) -> None:
    machine = healthy_machine(tmp_path, gpu_count=9)
    machine.write("/opt/rocm/bin/rocprofv3-avail", "\x7fELF nonsense", is_program=True)
    (check,) = (check for check in examine(machine, asks_gpu=True) if check.name == "available")
    assert check.finding == "GPU 0: cannot be started: Exec format error"


def test_path_of_many_folders(tmp_path: Path) -> None:
    """As long as a variable can be."""
    folders = ":".join(["/usr/lib/.", *(f"/usr/lib/{'.' if i % 2 else ''}/" + "/" * (i % 9) for i in range(9_000))])
    variables = {name: folders.encode()[:130_000] for name in (b"PATH", b"LD_PRELOAD", b"ROCPROF_ATT_LIBRARY_PATH")}
    _doctor(tmp_path, variables, "--json")


@pytest.mark.some_cases(1)
@pytest.mark.parametrize("value", [
    b"\xff\xfe/\xe2\x80\xae",
    COMMANDS.encode(),
    b"/" + b"a/" * 60_000,
    b"9" * 120_000,
    b"-1," * 40_000,
    b"https://me:" + SECRET.encode() + b"@host/",
    b"--token=" + SECRET.encode(),
], ids=["no-text", "commands", "folders", "digits", "numbers", "address", "option"])  # fmt: skip
def test_variables(tmp_path: Path, value: bytes) -> None:
    names = (
        *("HOME", "USER", "TERM", "LANG", "VIRTUAL_ENV", "ROCM_PATH", "HIP_PATH", "LD_LIBRARY_PATH", "ROCPROF_X"),
        *("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "HSA_CU_MASK", "AMD_LOG_LEVEL", "ROCPROFILER_METRICS_PATH"),
        *("SLURM_JOB_ID", "SLURM_JOB_GPUS", "container"),
    )
    variables = {name.encode(): value[: 1_900_000 // len(names)] for name in names}
    topology = tmp_path / "nodes/1"
    topology.mkdir(parents=True)
    (topology / "properties").write_text("simd_count 4\nsimd_per_cu 4\narray_count 1\n")
    variables |= {b"ROCPROFILER_KFD_TOPOLOGY": os.fsencode(topology.parent), b"PATH": SYSTEM_PATH.encode()}
    for options in FORMS[1:]:
        _doctor(tmp_path, variables, *options)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[MadeMachine], None]:
    """Let the verb look at a made machine."""

    def on_machine(machine: MadeMachine) -> None:
        monkeypatch.setattr(doctor, "Machine", lambda: machine)

    return on_machine


On = Callable[[MadeMachine], None]


def _answered(machine: MadeMachine, on: On, *more: str) -> list[str]:
    on(machine)
    outputs = []
    for options in FORMS[::2]:
        done = call("doctor", *options, *more)
        _check(done.status, done.stdout, done.stderr)
        outputs.append(done.stdout)
    return outputs


def test_secrets_in_variables_and_programs(tmp_path: Path, on: On) -> None:
    """Names that say what they hold, and forms that do."""
    machine = healthy_machine(tmp_path)
    failing = f"#!/bin/sh\necho 'login --api-key {SECRET} failed: Authorization: Bearer {SECRET}' >&2\nexit 7\n"
    machine.write("/opt/rocm/bin/rocprofv3", failing, is_program=True)
    machine.write("/opt/rocm/bin/rocprofv3-avail", failing, is_program=True)
    variables = dict.fromkeys(
        ("API_KEY", "HF_TOKEN", "ROCPROF_TOKEN", "RPDT_API_KEY", "ROCPROF_PASSWORD", "KOKKOS_SECRET", "AWS_SECRET"),
        SECRET,
    )
    address = f"https://me:{SECRET}@host/x"
    variables |= dict.fromkeys(("ROCM_PATH", "LD_PRELOAD", "HSA_TOOLS_LIB", "ROCPROF_URL", "HSA_CU_MASK"), address)
    texts = _answered(machine.changed(**variables), on, "--gpu")
    assert all("ROCPROF_TOKEN" in text for text in texts)  # that it is there is told


def _replaced_by_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _replaced_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _replaced_by_zeros(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def _content(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


#: Name -> what is done to every file of a machine that is not a program.
FILES: dict[str, Callable[[Path], object]] = {
    "pipes": _replaced_by_fifo,
    "folders": _replaced_by_folder,
    "zeros without end": _replaced_by_zeros,
    "1 TiB": _huge,
    "4 MiB of digits": _content(b"7" * (4 << 20)),
    "4 MiB of lines": _content(b"simd_count 9\nCapEff: \nMemAvailable: 1\nPRETTY_NAME=a\nx:x:1:" * 70_000),
    "4 MiB of commands": _content(COMMANDS.encode() * 300_000),
    "10,000 digits": _content(b"simd_count " + b"9" * 10_000 + b"\n"),
    "negative": _content(b"-1\nsimd_count -5\nsimd_per_cu -1\narray_count -9\n"),
    "large": _content(b"simd_count 99999999999999999999\nsimd_per_cu 1\narray_count 4\nwave_front_size 64\n"),
    "no text": _content(bytes(range(128, 256)) * 200),
    "nested": _content(b"[" * 1_000_000),
}


@pytest.mark.some_cases(2)
@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=[pytest.mark.slow] if kind.startswith("4 MiB") else []) for kind in FILES
])  # fmt: skip
def test_files(tmp_path: Path, kind: str, on: On) -> None:
    """All files, and all but those that say which GPUs there are and how ROCm answers."""
    for number, prefixes in enumerate(((), ("topology", "module", "kfd", "renderD", "vendor", "class", "etc/group"))):
        folder = tmp_path / str(number)
        machine = healthy_machine(folder)
        for path in sorted(folder.rglob("*")):
            is_plain = path.is_file() and not path.is_symlink() and not os.access(path, os.X_OK)
            if is_plain and not any(word in str(path.relative_to(folder)) for word in prefixes):
                FILES[kind](path)
        _answered(machine, on)


def test_links_of_folders(tmp_path: Path, on: On) -> None:
    """Every folder of /sys, /proc and /opt is a link to itself or to the root."""
    for number, target in enumerate(("self", "/")):
        folder = tmp_path / str(number)
        machine = healthy_machine(folder)
        for path in sorted(folder.glob("*/*")):
            if path.is_dir() and not path.is_symlink():
                path.rename(path.with_name("away"))
                path.symlink_to(path.name if target == "self" else target)
                machine.remove(f"/{path.parent.name}/away")
        _answered(machine, on)


def test_names_of_groups_are_words_of_commands(tmp_path: Path, on: On) -> None:
    """What is shown for copying into a shell does not run what the machine says."""
    machine = healthy_machine(tmp_path)
    name = "x$(touch ran); echo 'a"
    machine.write("/etc/group", f"root:x:0:\n{name}:x:109:user\n")
    outsider = machine.in_groups(1000)
    on(outsider)
    checks = json.loads(call("doctor", "--json").stdout)["checks"]
    commands = [command for check in checks for command in check["commands"]]
    assert any("usermod" in command or "newgrp" in command for command in commands)
    for command in commands:
        words = f"sudo() {{ :; }}; newgrp() {{ :; }}; {command}"
        subprocess.run(["sh", "-c", words], cwd=tmp_path, capture_output=True, check=False)
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_thousands_of_nodes(tmp_path: Path, on: On) -> None:
    machine = healthy_machine(tmp_path, gpu_count=1)
    node = (tmp_path / "sys/class/kfd/kfd/topology/nodes/1/properties").read_text()
    for number in range(2, 3_000):
        machine.write(f"/sys/class/kfd/kfd/topology/nodes/{number}/properties", node)
    begin = time.process_time()
    _answered(machine, on)
    assert time.process_time() - begin < PROCESSOR_SECONDS

"""Captures and files that are bytes in memory, and profiles of tinygrad, of which no code may run."""

from __future__ import annotations

import mmap
import pickle
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import wavewright
from synth import Scenario, Workload, compiled, synthesize, write_capture, write_rocpd
from wavewright.errors import NotATraceError, UsageError
from wavewright.model.run import Run
from wavewright.model.trace import ThreadTrace
from wavewright.readers.files.capture import TraceFile, named_code_object
from wavewright.readers.files.kinds import Kind, sniff


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("capture")
    write_capture(synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),), shader_engines=2)), folder)
    return folder


def trace_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.att"))


def equal(one: Any, other: ThreadTrace) -> bool:
    return bool(one.instructions.equals(other.instructions) and one.waves.equals(other.waves) and other.waves.height)


def test_buffers_in_memory_are_decoded_like_files(capture: Path) -> None:
    expected = wavewright.decode(capture)
    named = {file.name: file.read_bytes() for file in capture.iterdir()}
    assert equal(wavewright.decode(named), expected)
    code = [str(file) for file in capture.glob("*.out")]
    buffers = [file.read_bytes() for file in trace_files(capture)]
    assert equal(wavewright.decode([memoryview(each) for each in buffers], code), expected)
    with trace_files(capture)[0].open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        one = wavewright.decode(mapped, code)
        assert equal(wavewright.open(mapped, code_objects=code), one)
    assert equal(one, wavewright.decode(trace_files(capture)[0], code))


def test_a_mapping_without_a_trace(capture: Path) -> None:
    with pytest.raises(NotATraceError, match="only code objects"):
        wavewright.decode({"x.out": b"\x7fELF"})


def test_other_bytes_are_opened_by_what_they_are(tmp_path: Path) -> None:
    write_rocpd(tmp_path / "run.db", Workload(dispatches=20))
    run = wavewright.open((tmp_path / "run.db").read_bytes())
    assert isinstance(run, Run)
    assert run.dispatches.height == 20
    with pytest.raises(NotATraceError, match=r"^memory: "):
        wavewright.open(b"nothing of the kind")


@dataclass(frozen=True)
class ProfileProgramEvent:
    device: str
    name: str
    lib: bytes
    base: int | None
    tag: int


@dataclass(frozen=True)
class ProfileSQTTEvent:
    device: str
    kern: int
    se: int
    blob: bytes
    itrace: bool
    exec_tag: int


@pytest.fixture
def as_tinygrad(monkeypatch: pytest.MonkeyPatch) -> None:
    """The classes above are called as tinygrad calls its own while they are pickled."""
    module = types.ModuleType("tinygrad.device")
    for cls in (ProfileProgramEvent, ProfileSQTTEvent):
        monkeypatch.setattr(cls, "__module__", "tinygrad.device")
        setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, "tinygrad", types.ModuleType("tinygrad"))
    monkeypatch.setitem(sys.modules, "tinygrad.device", module)


@pytest.mark.usefixtures("as_tinygrad")
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_profile_of_tinygrad(protocol: int, capture: Path, tmp_path: Path) -> None:
    code = next(iter(capture.glob("*.out"))).read_bytes()
    events: list[Any] = [ProfileProgramEvent("AMD", "saxpy", code, None, 7)]
    events += [
        ProfileSQTTEvent("AMD", 7, se, file.read_bytes(), itrace=True, exec_tag=3)
        for se, file in enumerate(trace_files(capture))
    ]
    path = tmp_path / "profile.pkl"
    path.write_bytes(pickle.dumps(events, protocol=protocol))
    assert sniff(path) is Kind.RAW_CAPTURE
    files = wavewright.decode({file.name: file.read_bytes() for file in trace_files(capture)} | {"program_0.co": code})
    trace = wavewright.open(path)
    assert isinstance(trace, ThreadTrace)
    assert trace.shader_engines["se"].to_list() == [0, 1]
    assert equal(trace, files)


class Runs:
    """Writes a file when it is unpickled."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return exec, (f"import pathlib; pathlib.Path({str(self.target)!r}).write_text('ran')",)


@pytest.mark.usefixtures("as_tinygrad")
def test_no_code_of_a_pickle_runs(tmp_path: Path) -> None:
    target = tmp_path / "proof"
    hostile = pickle.dumps([ProfileSQTTEvent("AMD", 1, 0, b"", itrace=True, exec_tag=1), Runs(target)])
    pickle.loads(hostile)  # noqa: S301 - made above
    assert target.read_text() == "ran"  # it does run where it is unpickled
    target.unlink()
    path = tmp_path / "profile.pkl"
    path.write_bytes(hostile)
    with pytest.raises(NotATraceError, match=r"builtins.*exec.*which no file of tinygrad has"):
        wavewright.open(path)
    assert not target.exists()


HOSTILE = {
    "deep": b"\x80\x04" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "laughs": b"\x80\x04)" + b"2\x86" * 60 + b"}" + b"0" + b".",
    "a key of shared tuples": b"\x80\x04})" + b"2\x86" * 60 + b"Ns.",
    "a far memo": b"\x80\x04Nr\xff\xff\xff\x7f.",
    "a long text": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f" + b"x.",
    "an extension": b"\x80\x04\x82\x01.",
    "a persistent id": b"\x80\x04NQ.",
    "nothing on the stack": b"\x80\x04aaaa.",
    "no end": b"\x80\x04]",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles(name: str, tmp_path: Path) -> None:
    path = tmp_path / "profile.pkl"
    path.write_bytes(b"\x80\x04\x8c\x08tinygrad0" + HOSTILE[name][2:])
    with pytest.raises(NotATraceError):
        wavewright.open(path)


def test_names_with_numbers_of_thousands_of_digits() -> None:
    """Python refuses to make integers of them."""
    digits = "1" * 5_000
    assert TraceFile.named(Path(f"se{digits}.att")).se is None
    for name in (f"kernel.co:{digits}", f"kernel.co@{digits}", f"code_object_id_{digits}.out"):
        with pytest.raises(UsageError, match="a number does not fit 64 bits"):
            named_code_object(name)

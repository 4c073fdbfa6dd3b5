"""Which GPU a job gets."""

from __future__ import annotations

import shutil
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from synth.rooted_machine import RootedMachine
from tests.unit.capture.gpus.test_locks import gpu
from wavewright.capture.gpus import choice
from wavewright.capture.gpus.choice import choose_gpu, meant_gpus, reserved
from wavewright.capture.machines.machine import Machine
from wavewright.capture.machines.runner import inherited_descriptors
from wavewright.errors import BusyError, MissingToolError, UsageError

GPUS = tuple(replace(gpu(index), memory_used_bytes=(index + 5) % 8, unique_id=f"GPU-{index:x}a") for index in range(8))
CPX = tuple(replace(gpu(index), pci=f"0000:{index // 4:02x}:00.0") for index in range(8))


def indices(word: str) -> list[int]:
    return [gpu.index for gpu in meant_gpus(word, GPUS)]


def test_words() -> None:
    assert indices("auto") == indices("any") == indices("all") == indices("0-7") == list(range(8))
    assert (
        indices("3") == indices("GPU-3a") == indices("gpu-3A") == indices("0000:03:00.0") == indices("03:00.0") == [3]
    )
    assert indices("5,1-2,1") == [5, 1, 2]
    assert [gpu.index for gpu in meant_gpus("0000:01:00.0", CPX)] == [4, 5, 6, 7]


@pytest.mark.parametrize("word", ["8", "6-8", "", "GPU-", "x", "-1", "0000:09:00.0", "1,,2", "9" * 400, "٣"])
def test_words_without_a_gpu(word: str) -> None:
    with pytest.raises(UsageError, match="there is no GPU") as refusal:
        meant_gpus(word, GPUS)
    assert "GPU-0a" in refusal.value.advice


def test_freest_first() -> None:
    assert [gpu.index for gpu in choose_gpu("auto", GPUS, {}, {})] == [3, 4, 5, 6, 7, 0, 1, 2]
    users = {GPUS[3].key: ["process 7 (python)"]}
    locks = {GPUS[4].key: "process 8"}
    assert [gpu.index for gpu in choose_gpu("auto", GPUS, users, locks)] == [5, 6, 7, 0, 1, 2]
    assert [gpu.index for gpu in choose_gpu("3,4,5", GPUS, users, locks, is_shared=True)] == [5, 3, 4]
    with pytest.raises(BusyError, match=r"GPU 3 is used by process 7 \(python\); GPU 4 is locked by process 8") as busy:
        choose_gpu("3-4", GPUS, users, locks)
    assert busy.value.exit_code == 75


_NODE = """simd_count 1216
simd_per_cu 4
array_count 32
simd_arrays_per_engine 1
wave_front_size 64
gfx_target_version 90402
location_id {location}
unique_id {unique_id}
"""


def made_machine(root: Path, *, partitions: int = 1) -> Machine:
    """A machine with the eight GPUs, or partitions of fewer devices, in the driver's files."""
    for index in range(8):
        node = root / f"sys/class/kfd/kfd/topology/nodes/{index + 2}"
        (node / "mem_banks/0").mkdir(parents=True)
        location = (index // partitions + 1) << 8
        (node / "properties").write_text(_NODE.format(location=location, unique_id=index + 1))
        (node / "gpu_id").write_text(str(100 + index))
        (node / "mem_banks/0/used_memory").write_text(str((index + 5) % 8))
    return RootedMachine(str(root), {"WAVEWRIGHT_LOCK_DIR": str(root / "locks")})


def use(root: Path, index: int) -> Path:
    """A foreign process with a queue on a GPU, as the driver lists it."""
    queues = root / "sys/class/kfd/kfd/proc/4711/queues/0"
    queues.mkdir(parents=True)
    (queues / "gpuid").write_text(f"{100 + index}\n")
    (root / "proc/4711").mkdir(parents=True, exist_ok=True)
    (root / "proc/4711/comm").write_text("python\x1b[2J\n")
    return queues.parents[1]


def test_reserved_gpus_are_given_once(tmp_path: Path) -> None:
    """16 threads, each with descriptors of its own, on 8 GPUs: never two on one; all are free afterwards."""
    machine = made_machine(tmp_path)
    inside: Counter[int] = Counter()
    most: Counter[int] = Counter()
    lock = threading.Lock()

    def work() -> None:
        for _ in range(5):
            with reserved(
                "auto", machine, wait_seconds=60, pause=lambda seconds: time.sleep(min(seconds, 0.005))
            ) as gpu:
                with lock:
                    inside[gpu.index] += 1
                    most[gpu.index] = max(most[gpu.index], inside[gpu.index])
                threading.Event().wait(0.002)
                with lock:
                    inside[gpu.index] -= 1

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(most.values()) == {1}
    assert not inherited_descriptors


def test_wait_is_over(tmp_path: Path) -> None:
    machine = made_machine(tmp_path)
    pauses: list[float] = []
    sentences: list[str] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        time.sleep(0.05)

    with reserved("2", machine) as first:
        assert first.index == 2
        with (
            pytest.raises(BusyError, match="GPU 2 is locked by process"),
            reserved("2", machine, wait_seconds=0.2, say=sentences.append, pause=pause),
        ):
            pytest.fail("given twice")
        assert len(pauses) > 1
        assert len(sentences) == 1
        with reserved("2", machine, is_shared=True) as shared, reserved("any", machine) as unchecked:
            assert (shared.index, unchecked.index, len(inherited_descriptors)) == (2, 3, 1)


def test_a_machine_without_gpus(tmp_path: Path) -> None:
    with (
        pytest.raises(MissingToolError, match="no GPU that the driver shows"),
        reserved("auto", RootedMachine(str(tmp_path))),
    ):
        pytest.fail("there is none")


def test_foreign_queues_that_appear_after_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look counts: somebody came between."""
    machine = made_machine(tmp_path)
    real_lock = choice.try_lock

    def lock_and_come(path: Path, **more: Any) -> Any:
        if not (tmp_path / "proc").exists():
            use(tmp_path, 3)
        return real_lock(path, **more)

    monkeypatch.setattr(choice, "try_lock", lock_and_come)
    with reserved("auto", machine) as gpu:
        assert gpu.index == 4


def test_devices_are_not_shared_by_partitions(tmp_path: Path) -> None:
    machine = made_machine(tmp_path, partitions=4)
    with reserved("auto", machine) as first, reserved("auto", machine) as second:
        assert {first.pci, second.pci} == {"0000:01:00.0", "0000:02:00.0"}
        with pytest.raises(BusyError, match="GPU 0 is locked by"), reserved("auto", machine):
            pytest.fail("given twice")


def test_queues_of_the_driver_must_vanish(tmp_path: Path) -> None:
    """A GPU counts as used as long as the driver lists a queue on it, whoever's process that was."""
    machine = made_machine(tmp_path)
    queues = use(tmp_path, 3)
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 3:
            shutil.rmtree(queues)

    with (
        pytest.raises(BusyError, match=r"GPU 3 is used by process 4711 \(python\[2J\)"),
        reserved("3", machine),
    ):
        pytest.fail("somebody uses it")
    with reserved("auto", machine) as other:
        assert other.index == 4
    with reserved("3", machine, wait_seconds=60, pause=pause) as gpu:
        assert gpu.index == 3
    assert pauses == 3

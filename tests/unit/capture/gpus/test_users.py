"""Processes with queues on a GPU, as the driver lists them."""

from __future__ import annotations

from pathlib import Path

from synth.rooted_machine import RootedMachine
from wavewright.capture.gpus.topology import Gpu, GpuUser, busy_percent, users_of


def _gpu(index: int, gpu_id: int, card: str = "") -> Gpu:
    return Gpu(
        index=index, node=index + 1, gpu_id=gpu_id, target="gfx942", cu_count=304, se_count=32, simds_per_cu=4,
        waves_per_simd=8, wave_size=64, card=card,
    )  # fmt: skip


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_users_by_queues(tmp_path: Path) -> None:
    processes = tmp_path / "sys/class/kfd/kfd/proc"
    for queue, gpu_id in (("0", "100"), ("1", "100"), ("2", "200"), ("3", "300")):
        _write(processes / f"4711/queues/{queue}/gpuid", f"{gpu_id}\n")
    _write(processes / "4711/vram_100", "1048576\n")
    _write(tmp_path / "proc/4711/comm", "python3\x1b[2J\n")
    _write(processes / "12/queues/0/gpuid", "100\n")  # of the host: not in this /proc
    _write(processes / "13/vram_100", "4096\n")  # has memory, but no queue
    _write(processes / "hostile/queues/0/gpuid", "100\n")
    _write(processes / "14/queues/0/gpuid", "-100\n")
    _write(processes / "15/queues/0/gpuid", "\0" * 100)
    gpus = (_gpu(0, 100), _gpu(1, 200), _gpu(2, 0))
    assert users_of(RootedMachine(str(tmp_path)), gpus) == {
        gpus[0].key: (GpuUser(12, "", None), GpuUser(4711, "python3[2J", 1048576)),
        gpus[1].key: (GpuUser(4711, "python3[2J", None),),
        gpus[2].key: (),
    }


def test_how_busy_a_gpu_is(tmp_path: Path) -> None:
    _write(tmp_path / "card/gpu_busy_percent", "37\n")
    machine = RootedMachine(str(tmp_path))
    assert busy_percent(machine, _gpu(0, 1, "/card")) == 37
    assert busy_percent(machine, _gpu(0, 1)) is None
    _write(tmp_path / "card/gpu_busy_percent", "9000")
    assert busy_percent(machine, _gpu(0, 1, "/card")) is None


def test_a_machine_without_a_driver_has_no_users(tmp_path: Path) -> None:
    assert users_of(RootedMachine(str(tmp_path)), (_gpu(0, 100),)) == {"gpu-1": ()}

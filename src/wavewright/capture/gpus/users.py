"""Who uses the GPUs now: processes with queues, as the driver lists them in sysfs.

Source: rocm-smi-lib, rocm_smi_kfd.cc: `proc/<pid>/queues/<queue>/gpuid`, `proc/<pid>/vram_<gpuid>`. In a container the
numbers of processes are those of the host: one that does not exist here is a user all the same.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavewright.capture.gpus.gpu import Gpu
    from wavewright.capture.machines.machine import Machine

_PROCESSES = "/sys/class/kfd/kfd/proc"
_NAME_LENGTH = 40


@dataclass(frozen=True)
class GpuUser:
    """A process that has queues on a GPU."""

    pid: int  #: As the host counts.
    name: str  #: Of its program; empty = unknown, as for processes outside of this container.
    queue_count: int
    memory_bytes: int | None  #: Of the GPU; None = the driver does not tell.


def users_of(machine: Machine, gpus: Sequence[Gpu]) -> dict[str, tuple[GpuUser, ...]]:
    """The users of each GPU by its key, in the order of process ids; GPUs without the driver's number have none."""
    by_gpu_id: dict[int, list[GpuUser]] = {gpu.gpu_id: [] for gpu in gpus if gpu.gpu_id}
    for pid in sorted(int(name) for name in machine.names(_PROCESSES) if _is_number(name)) if by_gpu_id else ():
        folder = f"{_PROCESSES}/{pid}"
        queues = machine.names(f"{folder}/queues")
        queue_counts = Counter(_number(machine.text(f"{folder}/queues/{queue}/gpuid")) for queue in queues)
        for gpu_id, queue_count in queue_counts.items():
            if gpu_id in by_gpu_id:
                memory_bytes = _number(machine.text(f"{folder}/vram_{gpu_id}"))
                by_gpu_id[gpu_id].append(GpuUser(pid, _name(machine, pid), queue_count, memory_bytes))
    return {gpu.key: tuple(by_gpu_id.get(gpu.gpu_id, ())) for gpu in gpus}


def busy_percent(machine: Machine, gpu: Gpu) -> int | None:
    """How busy a GPU is now, by anybody, graphics included; None = the driver does not tell."""
    value = _number(machine.text(f"{gpu.card}/gpu_busy_percent")) if gpu.card else None
    return value if value is not None and value <= 100 else None


def _name(machine: Machine, pid: int) -> str:
    name = machine.text(f"/proc/{pid}/comm") or ""
    return "".join(letter for letter in name if letter.isprintable())[:_NAME_LENGTH]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and _is_number(text) else None

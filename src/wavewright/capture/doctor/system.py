"""Checks of the system around the GPU: operating system, container, batch system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.sight import printable

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight


def operating_system(sight: Sight) -> Answer:
    """Linux, and which."""
    identity = sight.machine.identity
    if identity.system != "Linux":
        remedy = "capture on a Linux machine and read the data here: doctor --host USER@MACHINE looks at one"
        return unhealthy(f"{printable(identity.system) or 'unknown'}, not Linux", remedy)
    lines = (sight.machine.text("/etc/os-release") or "").splitlines()
    names = [line.partition("=")[2].strip("\"'") for line in lines if line.startswith("PRETTY_NAME=")]
    name = printable(names[0], 60) if names else "Linux"
    return Answer(f"{name}, kernel {printable(identity.kernel, 60)}, {printable(identity.processor, 20)}")


def windows_subsystem(sight: Sight) -> Answer:
    """Linux inside Windows has no /dev/kfd."""
    if not sight.is_wsl:
        return Answer("no")
    return unhealthy(
        "this is Linux inside Windows: /dev/dxg instead of /dev/kfd",
        "traces and counters need a very recent ROCm here, PC sampling does not work: use Linux itself for captures",
    )


def hardware(sight: Sight) -> Answer:
    """Whether an AMD GPU is here at all."""
    if sight.machine.identity.system != "Linux":
        return not_checked("only Linux tells")
    if sight.is_wsl:
        return Answer("a GPU of Windows")
    if sight.has_gpu:
        count = len(sight.pci_gpus)
        return Answer(f"{count} on the PCI bus" if count else "the driver is there; the PCI bus cannot be seen")
    return unhealthy(
        "none here: not on the PCI bus, and there is no /dev/kfd",
        "nothing can be captured here, but everything else of wavewright works: reading, analysing and showing data "
        "needs no GPU and no ROCm. To look at a machine that has a GPU:",
        "wavewright doctor --host USER@MACHINE",
    )

"""Checks of the system around the GPU: operating system, container, batch system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.sight import printable
from wavewright.capture.rocprofv3.refusals import RANK_VARIABLES

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


def container(sight: Sight) -> Answer:
    """Which kind, if any."""
    if not sight.container:
        return Answer("none")
    return Answer(sight.container)


def slurm(sight: Sight) -> Answer:
    """The job of a batch system in which this runs."""
    job = sight.variables.get("SLURM_JOB_ID")
    if not job:
        return Answer("no job of Slurm")
    gpus = sight.variables.get("SLURM_JOB_GPUS") or sight.variables.get("SLURM_STEP_GPUS") or "none named"
    return Answer(f"job {printable(job, 20)}, GPUs: {printable(gpus, 60)}")


def mpi_rank(sight: Sight) -> Answer:
    """The rank of this process."""
    for rank, size in RANK_VARIABLES:
        if sight.variables.get(rank, "").isdigit() and sight.variables.get(size, "").isdigit():
            values = (sight.variables[rank][:9], sight.variables[size][:9])
            hint = "names of output files need %rank%, or ranks overwrite each other's files"
            return Answer(f"rank {values[0]} of {values[1]} ({rank})", remedy=hint)
    return Answer("not a rank of MPI")


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

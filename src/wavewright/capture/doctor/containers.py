"""Lines that start a container with what a capture needs, with the numbers of groups of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

#: Flags of Docker and Podman for profiling in general. Source: ROCm's documentation.
_ALWAYS = ("--security-opt", "seccomp=unconfined", "--ipc=host")


def start_line(sight: Sight, *flags: str) -> str:
    """A line that starts such a container again with these flags; for a shell of the host."""
    if sight.container == "Apptainer":
        return "apptainer exec --rocm --bind /dev/kfd,/dev/dri IMAGE COMMAND"
    program = "podman" if sight.container == "Podman" else "docker"
    return " ".join((f"{program} run", *flags, "IMAGE COMMAND"))


def device_flags(sight: Sight) -> tuple[str, ...]:
    """Flags that give a container the GPUs: devices, and groups by number, because names differ in containers."""
    flags = ["--device /dev/kfd", "--device /dev/dri"]
    gids = device_gids(sight)
    if gids:
        flags += [f"--group-add {gid}" for gid in gids]
    else:  # what the host's shell puts in
        flags += [f'--group-add "$(getent group {name} | cut -d: -f3)"' for name in ("render", "video")]
    return (*flags, " ".join(_ALWAYS))


def device_gids(sight: Sight) -> tuple[int, ...]:
    """Numbers of the groups that own the devices of GPUs, as far as they can be seen."""
    paths = ["/dev/kfd", *(f"/dev/dri/{name}" for name in sight.machine.names("/dev/dri") if name.startswith("render"))]
    owners = {facts.gid for path in paths if (facts := sight.machine.facts(path)) and facts.kind == "device"}
    return tuple(sorted(owners - {0}))


def is_run_by_flags(sight: Sight) -> bool:
    """Whether this is a container whose rights are flags of the command that starts it."""
    return sight.container in ("Docker", "Podman", "containerd")

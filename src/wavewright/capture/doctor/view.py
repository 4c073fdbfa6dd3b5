"""The machine as the checks see it: each part is looked at once, when the first check asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from wavewright.base.secrets import masked
from wavewright.capture.doctor.check import Outcome
from wavewright.capture.gpus.topology import Gpu, GpuUser, Node, gpus_of, nodes_of, users_of
from wavewright.capture.machines.machine import Machine, group_names
from wavewright.capture.rocprofv3 import installation as rocm
from wavewright.capture.rocprofv3.options import version_of
from wavewright.capture.rocprofv3.releases import Installation

_AMD = "0x1002"  #: AMD's number as a vendor on the PCI bus.
_GPU_CLASSES = ("0x03", "0x12")  #: PCI classes of displays and of processing accelerators.
#: Flags of Docker and Podman for profiling in general. Source: ROCm's documentation.
_ALWAYS = "--security-opt seccomp=unconfined --ipc=host"
_NAME_LENGTH = 120
_LOOK_FACTOR = 8  #: So many times the shown letters are looked at: white space goes away.


@dataclass(eq=False)
class MachineView:
    """One look at a machine."""

    machine: Machine
    output: str = ""  #: Absolute folder on it, into which captures would go; empty = the home folder.
    asks_gpu: bool = False  #: Whether rocprofv3-avail may open the GPUs.
    #: Runs a program on a GPU, end to end (`tiny_program.tried`); None = nothing is run.
    trial: Callable[[MachineView], Outcome] | None = None

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables of the machine."""
        return self.machine.variables

    @cached_property
    def container(self) -> str:
        """The kind of container that this is in, as Docker; empty = none."""
        if self.machine.facts("/.dockerenv"):
            return "Docker"
        if self.machine.facts("/run/.containerenv"):
            return "Podman"
        if any(self.variables.get(name) for name in ("APPTAINER_NAME", "SINGULARITY_NAME")):
            return "Apptainer"
        groups = self.machine.text("/proc/1/cgroup") or ""
        if self.variables.get("KUBERNETES_SERVICE_HOST") or "kubepods" in groups:
            return "Kubernetes"
        kinds = (("docker", "Docker"), ("libpod", "Podman"), ("containerd", "containerd"), ("/lxc", "LXC"))
        for word, kind in kinds:
            if word in groups:
                return kind
        word = self.variables.get("container", "")
        return printable(word) if word else ""

    @cached_property
    def is_wsl(self) -> bool:
        """True for Linux inside Windows, where GPUs have no KFD."""
        return self.machine.facts("/dev/dxg") is not None and self.machine.facts("/dev/kfd") is None

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Nodes of the topology that may be read."""
        return nodes_of(self.machine)

    @cached_property
    def gpus(self) -> tuple[Gpu, ...]:
        """GPUs of the topology."""
        return gpus_of(self.machine)

    @cached_property
    def pci_gpus(self) -> tuple[str, ...]:
        """Addresses of AMD's GPUs on the bus, whether a driver knows them or not."""
        folder = "/sys/bus/pci/devices"
        return tuple(
            name
            for name in self.machine.names(folder)
            if self.machine.text(f"{folder}/{name}/vendor") == _AMD
            and (self.machine.text(f"{folder}/{name}/class") or "").startswith(_GPU_CLASSES)
        )

    @cached_property
    def is_module_loaded(self) -> bool:
        """True when amdgpu is loaded; a part of the kernel itself has no state."""
        if self.machine.facts("/sys/module/amdgpu") is None:
            return False
        return self.machine.text("/sys/module/amdgpu/initstate") in (None, "live")

    @cached_property
    def has_gpu(self) -> bool:
        """True when anything says that an AMD GPU is here."""
        if self.gpus or self.pci_gpus or self.is_wsl or self.machine.facts("/dev/kfd"):
            return True
        return self.is_module_loaded and self.container != ""

    @cached_property
    def users(self) -> dict[str, tuple[GpuUser, ...]]:
        """Processes with queues, by the key of the GPU."""
        return users_of(self.machine, self.gpus)

    @cached_property
    def roots(self) -> tuple[rocm.Root, ...]:
        """Every ROCm, that which is used first."""
        return rocm.roots_of(self.machine)

    @cached_property
    def root(self) -> str:
        """The ROCm that is used: the first with a rocprofv3, else the first; empty = there is none."""
        with_profiler = (root.path for root in self.roots if rocm.script_of(self.machine, root.path))
        return next(with_profiler, self.roots[0].path if self.roots else "")

    @cached_property
    def script(self) -> rocm.Script | None:
        """The answers of its rocprofv3; None = there is none."""
        path = rocm.script_of(self.machine, self.root) if self.root else None
        return rocm.asked(self.machine, path) if path else None

    @cached_property
    def installation(self) -> Installation | None:
        """The rocprofv3 that a capture would use; None = none that answers."""
        if self.script is None or self.script.problem:
            return None
        return rocm.installation_of(self.machine, self.script, self.root)

    @cached_property
    def version(self) -> tuple[int, ...]:
        """The release of ROCm; empty = unknown."""
        release = self.installation.rocm_version if self.installation else rocm.release_of_root(self.machine, self.root)
        return version_of(release)

    @cached_property
    def group_names(self) -> dict[int, str]:
        """Names of groups by number."""
        return {**group_names(self.machine.text("/etc/group") or ""), **self.machine.identity.group_names}

    @property
    def is_run_by_flags(self) -> bool:
        """True in a container whose rights are flags of the command that starts it."""
        return self.container in ("Docker", "Podman", "containerd")

    def start_line(self, *flags: str) -> str:
        """A line that starts such a container again with these flags; for a shell of the host."""
        if self.container == "Apptainer":
            return "apptainer exec --rocm --bind /dev/kfd,/dev/dri IMAGE COMMAND"
        program = "podman" if self.container == "Podman" else "docker"
        return " ".join((f"{program} run", *flags, "IMAGE COMMAND"))

    def device_line(self, *more: str) -> str:
        """A line that starts a container with the GPUs: their devices, and groups by number, as names differ there."""
        paths = ["/dev/kfd", *(f"/dev/dri/{name}" for name in self.machine.names("/dev/dri") if name[:6] == "render")]
        owners = {facts.gid for path in paths if (facts := self.machine.facts(path)) and facts.kind == "device"}
        groups = [f"--group-add {gid}" for gid in sorted(owners - {0})]  # else what the host's shell puts in
        groups = groups or [f'--group-add "$(getent group {name} | cut -d: -f3)"' for name in ("render", "video")]
        return self.start_line("--device /dev/kfd", "--device /dev/dri", *groups, _ALWAYS, *more)

    def capabilities(self) -> int | None:
        """Bits of the effective capabilities; None = unknown."""
        match = re.search(r"(?m)^CapEff:\s*([0-9a-fA-F]{1,16})$", self.machine.text("/proc/self/status") or "")
        return int(match[1], 16) if match else None

    def number(self, path: str) -> int | None:
        """The number that a file holds; None = there is none."""
        text = self.machine.text(path) or ""
        return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None


def printable(text: str, length: int = _NAME_LENGTH) -> str:
    """A text of a machine in one line, without what could command a terminal, without secrets, shortened.

    >>> printable("a  b\\x1b[2J TOKEN=x"), printable("abcdef", 4)
    ('a b [2J TOKEN=***', 'abc…')
    """
    head = text[: _LOOK_FACTOR * length]  # files may hold megabytes
    line = masked(" ".join("".join(letter if letter.isprintable() else " " for letter in head).split()))
    return line if len(line) <= length else f"{line[: length - 1]}…"


def assignment(name: str, value: str, length: int) -> str:
    """A variable with its value, of which `length` letters are shown; a name may say that it is a secret.

    >>> assignment("ROCPROF_X", "12345", 4), assignment("ROCPROF_TOKEN", "1", 4)
    ('ROCPROF_X=123…', 'ROCPROF_TOKEN=***')
    """
    return printable(f"{name}={value}", len(name) + 1 + length)

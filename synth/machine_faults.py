"""Faults of machines: each spoils one thing of a healthy machine as it happens in reality, and names what must be said.

What a fault implies is planted with it: a driver that is not loaded has no devices and no topology.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from synth.machines import RENDER, USER, Device, MadeMachine, healthy_machine, write_rocm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_NODES = "/sys/class/kfd/kfd/topology/nodes"
_CARD = "/sys/devices/pci0000:00/0000:05:00.0"
_ROOT = "/opt/rocm-7.2.0"


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong, and the check that must report it."""

    name: str
    check: str
    status: str  #: warning, error, or hint: the status is ok, and something could be better.
    words: str  #: A part of what must be said about it.
    plant: Callable[[MadeMachine], MadeMachine | None]  #: None = the machine was changed in place.
    model: str = "MI300X"
    rocm: str = "7.2.0"

    def machine(self, folder: Path) -> MadeMachine:
        """A machine with this fault, and no other."""
        machine = healthy_machine(folder, model=self.model, rocm=self.rocm)
        return self.plant(machine) or machine


def _driver_is_not_loaded(machine: MadeMachine) -> None:
    machine.remove("/sys/module/amdgpu")
    machine.remove("/sys/class/kfd")
    for path in ("/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"):
        machine.remove(path)


def _driver_did_not_start(machine: MadeMachine) -> None:
    _driver_is_not_loaded(machine)
    machine.write("/sys/module/amdgpu/initstate", "coming\n")


def _secure_boot(machine: MadeMachine) -> None:
    machine.write("/sys/firmware/efi/efivars/SecureBoot-8be4df61", b"\6\0\0\0\1")
    _driver_is_not_loaded(machine)


def _docker(machine: MadeMachine) -> None:
    machine.write("/.dockerenv", "")


def _no_devices_in_docker(machine: MadeMachine) -> None:
    _docker(machine)
    for path in ("/dev/kfd", "/dev/dri"):
        machine.remove(path)


def _no_group_in_docker(machine: MadeMachine) -> MadeMachine:
    _docker(machine)
    return machine.in_groups(USER)


def _no_group_at_all(machine: MadeMachine) -> MadeMachine:
    machine.write("/etc/group", "root:x:0:\nvideo:x:44:\nrender:x:109:\nuser:x:1000:\n")
    return machine.in_groups(USER)


def _group_without_a_name(machine: MadeMachine) -> MadeMachine:
    machine.write("/etc/group", "root:x:0:\nuser:x:1000:\n")
    return replace(machine, who=replace(machine.who, gids=(USER,), group_names={USER: "user"}))


def _cgroup(machine: MadeMachine) -> None:
    _docker(machine)
    machine.devices["/dev/kfd"] = Device(refusal="EPERM")


def _selinux(machine: MadeMachine) -> None:
    machine.write("/run/.containerenv", "")
    machine.write("/sys/fs/selinux/enforce", "1")
    machine.devices["/dev/kfd"] = Device(refusal="EACCES")


def _hidden_nodes(machine: MadeMachine) -> None:
    for node in (1, 2):
        machine.write(f"{_NODES}/{node}/properties", "")


def _property(machine: MadeMachine, name: str, value: int) -> None:
    for node in (1, 2):
        path = machine.folder / f"{_NODES}/{node}/properties".lstrip("/")
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(f"{name} {value}" if line.split()[0] == name else line for line in lines))


def _old_driver(machine: MadeMachine) -> None:
    for node in (1, 2):
        path = machine.folder / f"{_NODES}/{node}/properties".lstrip("/")
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("\n".join(line for line in lines if not line.startswith("gfx_target_version")))


def _render_node_is_missing(machine: MadeMachine) -> None:
    machine.remove("/dev/dri/renderD129")


def _user(machine: MadeMachine) -> None:
    machine.write("/sys/class/kfd/kfd/proc/4711/queues/0/gpuid", "1000\n")
    machine.write("/sys/class/kfd/kfd/proc/4711/vram_1000", "8000000000\n")
    machine.write("/proc/4711/comm", "train.py\n")


def _no_rocm(machine: MadeMachine) -> None:
    machine.remove("/opt")


def _no_rocprofv3(machine: MadeMachine) -> None:
    machine.remove(f"{_ROOT}/bin/rocprofv3")


def _broken_rocprofv3(machine: MadeMachine) -> None:
    machine.write(f"{_ROOT}/bin/rocprofv3", "#!/bin/sh\necho 'No module named x' >&2\nexit 1\n", is_program=True)


def _old_rocm(machine: MadeMachine) -> None:
    machine.write(f"{_ROOT}/.info/version", "6.1.3\n")


def _mixed_rocm(machine: MadeMachine) -> None:
    machine.write(f"{_ROOT}/.info/version", "7.1.0-20\n")


def _other_root(machine: MadeMachine) -> MadeMachine:
    write_rocm(machine, "/opt/rocm-6.4.0", "6.4.0")
    return machine.changed(ROCM_PATH="/opt/rocm-6.4.0")


def _several_roots(machine: MadeMachine) -> None:
    write_rocm(machine, "/opt/rocm-6.4.0", "6.4.0")


def _no_decoder(machine: MadeMachine) -> None:
    for name in ("librocprof-trace-decoder.so", "librocprof-trace-decoder.so.0.1.6"):
        machine.remove(f"{_ROOT}/lib/{name}")


def _decoder_without_plain_name(machine: MadeMachine) -> None:
    machine.remove(f"{_ROOT}/lib/librocprof-trace-decoder.so")


def _library_of_another_root(machine: MadeMachine, name: str) -> MadeMachine:
    machine.write(f"/opt/old/lib/{name}", "")
    return machine.changed(LD_LIBRARY_PATH="/opt/old/lib:/home/user/lib")


def _metrics_path(machine: MadeMachine) -> MadeMachine:
    return machine.changed(ROCPROFILER_METRICS_PATH="/home/user/metrics")


def _torch(machine: MadeMachine) -> MadeMachine:
    machine.write("/venv/lib/python3.12/site-packages/torch/version.py", "hip: str | None = '6.4.43482-0'\n")
    return machine.changed(VIRTUAL_ENV="/venv")


def _no_right_to_count_in_docker(machine: MadeMachine) -> None:
    _docker(machine)
    machine.write("/proc/sys/kernel/perf_event_paranoid", "4\n")


def _room(machine: MadeMachine, folder: str, size: int) -> None:
    machine.rooms[folder] = size


def _wsl(machine: MadeMachine) -> None:
    _driver_is_not_loaded(machine)
    machine.write("/dev/dxg", "")


FAULTS: tuple[Fault, ...] = (
    Fault("driver not loaded", "module", "error", "amdgpu is not loaded", _driver_is_not_loaded),
    Fault("driver does not start", "module", "error", "'coming'", _driver_did_not_start),
    Fault("windows", "wsl", "warning", "/dev/dxg", _wsl),
    Fault("no devices in a container", "kfd", "error", "--device /dev/kfd --device /dev/dri", _no_devices_in_docker),
    Fault("no kfd", "kfd", "error", "dmesg", lambda m: m.remove("/dev/kfd")),
    Fault("kfd is a file", "kfd", "error", "a file, not a character device", lambda m: m.devices.clear()),
    Fault("not in the group", "groups", "error", 'sudo usermod -aG render "$USER"', _no_group_at_all),
    Fault("session older than the group", "groups", "error", "newgrp render", lambda m: m.in_groups(USER)),
    Fault("not in the group of a container", "groups", "error", f"--group-add {RENDER}", _no_group_in_docker),
    Fault("group without a name", "groups", "error", f"sudo groupadd -g {RENDER}", _group_without_a_name),
    Fault("device cgroup", "kfd-access", "error", "EPERM", _cgroup),
    Fault("selinux", "selinux", "error", "label=disable", _selinux),
    Fault(
        "driver in a bad state",
        "kfd-access",
        "error",
        "ENOMEM",
        lambda m: m.devices.update({"/dev/kfd": Device(refusal="ENOMEM")}),
    ),
    Fault(
        "rights of the device",
        "kfd-access",
        "error",
        "mode 0600",
        lambda m: m.devices.update({"/dev/kfd": Device(mode=0o600)}),
    ),
    Fault(
        "render node missing",
        "render-nodes",
        "error",
        "/dev/dri/renderD129 (GPU 1) is missing",
        _render_node_is_missing,
    ),
    Fault(
        "render node refused",
        "render-nodes",
        "error",
        "renderD129 cannot be opened",
        lambda m: m.devices.update({"/dev/dri/renderD129": Device(refusal="EPERM")}),
    ),
    Fault("nodes hidden", "gpus", "error", "2 nodes of the topology are hidden", _hidden_nodes),
    Fault("no topology", "gpus", "error", "no topology", lambda m: m.remove("/sys/class/kfd/kfd/topology")),
    Fault("negative count", "gpus", "error", "array_count is -3", lambda m: _property(m, "array_count", -3)),
    Fault("old driver", "architecture", "warning", "does not tell the target", _old_driver),
    Fault("no thread traces", "architecture", "warning", "gfx908", lambda m: _property(m, "gfx_target_version", 90008)),
    Fault(
        "newer than the release",
        "architecture",
        "warning",
        "from ROCm 7.2 on",
        lambda m: _property(m, "gfx_target_version", 110501),
        model="RX 7900 XTX",
        rocm="7.1.0",
    ),
    Fault(
        "unsteady clock of a Radeon",
        "performance-level",
        "warning",
        "sudo amd-smi set --gpu 0000:05:00.0 --perf-level STABLE_STD",
        lambda m: m.write(f"{_CARD}/power_dpm_force_performance_level", "auto\n"),
        model="RX 7900 XTX",
    ),
    Fault(
        "lowest clock",
        "performance-level",
        "warning",
        "lowest",
        lambda m: m.write(f"{_CARD}/power_dpm_force_performance_level", "low\n"),
    ),
    Fault(
        "lowered power cap",
        "power-cap",
        "warning",
        "500 of 750 W",
        lambda m: m.write(f"{_CARD}/hwmon/hwmon3/power1_cap", "500000000\n"),
    ),
    Fault("somebody computes", "users", "warning", "process 4711 train.py, 8.00 GB", _user),
    Fault("somebody draws", "users", "warning", "80 % busy", lambda m: m.write(f"{_CARD}/gpu_busy_percent", "80\n")),
    Fault("no ROCm", "rocm", "error", "there is no ROCm", _no_rocm),
    Fault("another ROCM_PATH", "rocm", "warning", "ROCM_PATH is /opt/rocm-6.4.0", _other_root),
    Fault("several ROCm", "rocm", "hint", "2 installations", _several_roots),
    Fault("no rocprofv3", "rocprofv3", "error", "bin/rocprofv3 is missing", _no_rocprofv3),
    Fault("rocprofv3 fails", "rocprofv3", "error", "No module named x", _broken_rocprofv3),
    Fault("old ROCm", "rocm-version", "error", "6.1.3: too old", _old_rocm),
    Fault("mixed ROCm", "rocm-version", "warning", "its rocprofv3 of 7.2.0", _mixed_rocm),
    Fault(
        "incomplete package",
        "tool-libraries",
        "error",
        "librocprofiler-sdk-tool.so",
        lambda m: m.remove(f"{_ROOT}/lib/rocprofiler-sdk/librocprofiler-sdk-tool.so"),
    ),
    Fault("no decoder", "decoder", "hint", "releases", _no_decoder),
    Fault("decoder without its plain name", "decoder", "hint", "sudo ln -s", _decoder_without_plain_name),
    Fault(
        "no aqlprofile",
        "aqlprofile",
        "warning",
        "hsa-amd-aqlprofile",
        lambda m: m.remove(f"{_ROOT}/lib/libhsa-amd-aqlprofile64.so.1"),
    ),
    Fault(
        "aqlprofile of another ROCm",
        "aqlprofile",
        "warning",
        "export LD_LIBRARY_PATH=/home/user/lib",
        lambda m: _library_of_another_root(m, "libhsa-amd-aqlprofile64.so.1"),
    ),
    Fault(
        "two copies of comgr",
        "comgr",
        "warning",
        "two copies",
        lambda m: _library_of_another_root(m, "libamd_comgr.so.2"),
    ),
    Fault("no comgr", "comgr", "warning", "is missing", lambda m: m.remove(f"{_ROOT}/lib/libamd_comgr.so.3")),
    Fault(
        "no counter definitions",
        "counter-definitions",
        "warning",
        "has no config.yaml",
        lambda m: m.remove(f"{_ROOT}/share/rocprofiler-sdk"),
    ),
    Fault("definitions elsewhere", "counter-definitions", "warning", "unset ROCPROFILER_METRICS_PATH", _metrics_path),
    Fault(
        "leftover", "leftovers", "warning", "unset HSA_TOOLS_LIB", lambda m: m.changed(HSA_TOOLS_LIB="/x/libtool.so")
    ),
    Fault(
        "leftover of rocprofv3",
        "leftovers",
        "warning",
        "unset ROCPROF_OUTPUT_FORMAT",
        lambda m: m.changed(ROCPROF_OUTPUT_FORMAT="csv"),
    ),
    Fault(
        "preloaded tool",
        "leftovers",
        "warning",
        "unset LD_PRELOAD",
        lambda m: m.changed(LD_PRELOAD="/x/librpd_tracer.so"),
    ),
    Fault(
        "another ROCm of PyTorch", "torch", "warning", "PyTorch is built for ROCm 6.4, rocprofv3 is of 7.2.0", _torch
    ),
    Fault(
        "no right to count",
        "counting-right",
        "warning",
        "sudo sysctl kernel.perf_event_paranoid=2",
        lambda m: m.write("/proc/sys/kernel/perf_event_paranoid", "4\n"),
    ),
    Fault(
        "no right to count in a container",
        "counting-right",
        "warning",
        "--cap-add PERFMON",
        _no_right_to_count_in_docker,
    ),
    Fault("full disk", "disk", "error", "10.00 MB free", lambda m: _room(m, "/home/user", 10_000_000)),
    Fault("little room", "disk", "warning", "2.00 GB free", lambda m: _room(m, "/home/user", 2_000_000_000)),
)
#: Faults of which two checks speak, because the second explains the first.
SECURE_BOOT = Fault("Secure Boot", "secure-boot", "hint", "must be signed", _secure_boot)

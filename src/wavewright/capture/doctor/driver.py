"""Checks of the driver and of the device files through which it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavewright.base.shown import quoted
from wavewright.base.words import counted
from wavewright.capture.doctor.check import Answer, not_checked, unhealthy
from wavewright.capture.doctor.containers import device_flags, is_run_by_flags, start_line
from wavewright.capture.doctor.sight import printable

if TYPE_CHECKING:
    from wavewright.capture.doctor.sight import Sight

KFD = "/dev/kfd"
_READ_WRITE = 0o6
_MEANINGS = {
    "EACCES": "permission denied",
    "EPERM": "not permitted",
    "EINVAL": "invalid argument",
    "ENOMEM": "cannot allocate memory",
    "ENODEV": "no such device",
    "ENXIO": "no such device",
    "EIO": "input or output error",
    "EBUSY": "busy",
    "ENOENT": "no such file",
}
_DMESG = "sudo dmesg | grep -iE 'amdgpu|kfd' | tail -30"


def module(sight: Sight) -> Answer:
    """Whether amdgpu is loaded."""
    if sight.is_wsl:
        return not_checked("Linux inside Windows uses the driver of Windows")
    if sight.is_module_loaded or sight.gpus:
        has_state = sight.machine.text("/sys/module/amdgpu/initstate") == "live"
        return Answer(
            "amdgpu is loaded" if has_state else "amdgpu works; it is a part of the kernel, or /sys is hidden"
        )
    place = " on the host" if sight.container else ""
    state = sight.machine.text("/sys/module/amdgpu/initstate")
    if state:
        return unhealthy(
            f"amdgpu is in the state {printable(state, 20)!r}, not live",
            "its messages tell why it does not start",
            _DMESG,
        )
    remedy = f"load it{place}; if that fails, its messages tell why: a missing package, Secure Boot, an unknown GPU"
    return unhealthy("amdgpu is not loaded", remedy, "sudo modprobe amdgpu", _DMESG)


def kfd(sight: Sight) -> Answer:
    """/dev/kfd is there."""
    if sight.is_wsl:
        return not_checked("Linux inside Windows has no /dev/kfd")
    facts = sight.machine.facts(KFD)
    if facts and facts.kind == "device":
        return Answer(f"character device, group {_group(sight, facts.gid)}, mode {facts.mode:04o}")
    what = "missing" if facts is None else f"a {facts.kind}, not a character device"
    if sight.container == "Kubernetes":
        remedy = "ask for a GPU in the pod, with AMD's device plugin in the cluster: resources: limits: amd.com/gpu: 1"
        return unhealthy(what, remedy, "kubectl describe node | grep amd.com/gpu")
    if sight.container:
        return unhealthy(
            what, "start the container with the devices of the GPUs", start_line(sight, *device_flags(sight))
        )
    remedy = "the driver did not set up computing: its messages tell why (GPU not supported, kernel without HSA_AMD)"
    return unhealthy(what, remedy, _DMESG)


def groups(sight: Sight) -> Answer:
    """Member of the groups that own the devices."""
    identity = sight.machine.identity
    gids: dict[int, list[str]] = {}
    for path in _devices(sight):
        facts = sight.machine.facts(path)
        is_groups = (
            facts is not None and facts.mode >> 3 & _READ_WRITE == _READ_WRITE and facts.gid not in identity.gids
        )
        if facts and facts.kind == "device" and is_groups and sight.machine.refusal(path) == "EACCES":
            gids.setdefault(facts.gid, []).append(path)
    if not gids:
        return Answer("this process may use the devices")
    owners = "; ".join(f"{', '.join(paths)}: group {_group(sight, gid)}" for gid, paths in gids.items())
    what = f"this process (user {identity.uid}) is not in the group that owns {owners}"
    if is_run_by_flags(sight):
        remedy = "give the groups by number when the container is started, because names differ in containers"
        return unhealthy(what, remedy, start_line(sight, *(f"--group-add {gid}" for gid in gids)))
    names = [sight.group_names.get(gid, "") for gid in gids]
    user = sight.variables.get("USER") or sight.variables.get("LOGNAME") or ""
    if user and all(user in _members(sight, name) for name in names):
        remedy = "you have been added, but this session is older: log in again, or try it in a new shell of the group"
        return unhealthy(what, remedy, f"newgrp {quoted(names[0])}")
    become = 'sudo usermod -aG {} "$USER"'
    if not all(names):
        remedy = (
            f"the group has no name here: give one to number {', '.join(map(str, gids))}, become a member, log in again"
        )
        commands = [f"sudo groupadd -g {gid} gpu{gid}" for gid, name in zip(gids, names, strict=True) if not name]
        names = [name or f"gpu{gid}" for gid, name in zip(gids, names, strict=True)]
        return unhealthy(what, remedy, *commands, become.format(quoted(",".join(names))))
    return unhealthy(what, "become a member, then log in again", become.format(quoted(",".join(names))))


def selinux(sight: Sight) -> Answer:
    """SELinux keeps containers from devices whatever their groups."""
    enforce = sight.machine.text("/sys/fs/selinux/enforce")
    if enforce != "1":
        return Answer("off" if enforce is None else "permissive")
    if not sight.container or sight.machine.refusal(KFD) != "EACCES":
        return Answer("enforcing; devices can be opened" if not sight.machine.refusal(KFD) else "enforcing")
    return unhealthy(
        f"enforcing, and {KFD} is refused in this container although the group fits",
        "allow devices in containers (on the host, once), or start the container without labels",
        "sudo setsebool -P container_use_devices=true container_use_dri_devices=true",
        start_line(sight, *device_flags(sight), "--security-opt label=disable"),
    )


def kfd_access(sight: Sight) -> Answer:
    """/dev/kfd can be opened."""
    refusal = sight.machine.refusal(KFD)
    if not refusal:
        return Answer("can be opened for reading and writing")
    return _refused(sight, KFD, refusal)


def render_nodes(sight: Sight) -> Answer:
    """Every GPU has its render node, and it can be opened."""
    missing = [gpu for gpu in sight.gpus if gpu.render_node and sight.machine.facts(gpu.render_node) is None]
    if missing:
        which = ", ".join(f"{gpu.render_node} (GPU {gpu.index})" for gpu in missing[:4])
        more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
        what = f"{which}{more} {'are' if len(missing) > 1 else 'is'} missing: such a GPU cannot be used"
        if sight.container:
            line = start_line(sight, *device_flags(sight))
            return unhealthy(what, "start the container with all devices of the GPUs", line)
        return unhealthy(what, "the driver's messages tell why", _DMESG)
    for gpu in sight.gpus:
        refusal = sight.machine.refusal(gpu.render_node) if gpu.render_node else ""
        if refusal:
            return _refused(sight, gpu.render_node, refusal)
    return Answer(f"{counted(len(sight.gpus), 'render nodes')} can be opened")


def _refused(sight: Sight, path: str, refusal: str) -> Answer:
    what = f"{path} cannot be opened: {_MEANINGS.get(refusal, refusal)} ({refusal})"
    if refusal == "EACCES":
        facts = sight.machine.facts(path)
        mode = f"mode {facts.mode:04o}, " if facts else ""
        remedy = f"{mode}so that its group may not use it: the udev rules of ROCm are missing"
        rule = "70-amdgpu.rules"
        line = f"""echo 'KERNEL=="kfd|renderD*", GROUP="render", MODE="0660"' | sudo tee /etc/udev/rules.d/{rule}"""
        return unhealthy(what, remedy, line, "sudo udevadm control --reload-rules && sudo udevadm trigger")
    if refusal == "EPERM":
        remedy = "a device cgroup forbids it: the container, pod or job must be given the device"
        command = start_line(sight, *device_flags(sight)) if sight.container else "srun --gres=gpu:1 COMMAND"
        return unhealthy(what, remedy, command)
    return unhealthy(what, "the driver is in a bad state, or does not support a GPU: its messages tell", _DMESG)


def _devices(sight: Sight) -> list[str]:
    return [KFD, *dict.fromkeys(gpu.render_node for gpu in sight.gpus if gpu.render_node)]


def _group(sight: Sight, gid: int) -> str:
    name = sight.group_names.get(gid)
    return f"{printable(name, 40)} ({gid})" if name else str(gid)


def _members(sight: Sight, group: str) -> list[str]:
    for line in (sight.machine.text("/etc/group") or "").splitlines():
        fields = line.split(":")
        if len(fields) == 4 and group and fields[0] == group:
            return fields[3].split(",")
    return []

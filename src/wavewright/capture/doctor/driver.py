"""Checks of the driver and of the device files through which it is used."""

from __future__ import annotations

import errno
import os
from typing import Any

from wavewright.base.shown import quoted
from wavewright.base.words import counted, some_of
from wavewright.capture.doctor.check import Outcome, bad, ok, skipped
from wavewright.capture.doctor.view import MachineView, printable

KFD = "/dev/kfd"
_READ_WRITE = 0o6


def module(view: MachineView) -> Outcome:
    """Look whether amdgpu is loaded."""
    state = view.machine.text("/sys/module/amdgpu/initstate")
    if view.is_wsl:
        return skipped("wsl")
    if view.is_module_loaded or view.gpus:
        return ok("loaded" if state == "live" else "works")
    if state:
        return bad("other state", state=printable(state, 20))
    return bad("not loaded", place=" on the host" if view.container else "")


def kfd(view: MachineView) -> Outcome:
    """Look for /dev/kfd."""
    if view.is_wsl:
        return skipped("wsl")
    facts = view.machine.facts(KFD)
    if facts and facts.kind == "device":
        return ok("there", group=_group(view, facts.gid), mode=f"{facts.mode:04o}")
    what = "missing" if facts is None else f"a {facts.kind}, not a character device"
    if view.container == "Kubernetes":
        return bad("kubernetes", what=what)
    if view.container:
        return bad("container", view.device_line(), what=what)
    return bad("missing", what=what)


def groups(view: MachineView) -> Outcome:
    """Look whether this process is in the groups that own the devices."""
    identity = view.machine.identity
    owners: dict[int, list[str]] = {}
    for path in (KFD, *dict.fromkeys(gpu.render_node for gpu in view.gpus if gpu.render_node)):
        facts = view.machine.facts(path)
        if facts is None or facts.kind != "device" or facts.gid in identity.gids:
            continue
        if facts.mode >> 3 & _READ_WRITE == _READ_WRITE and view.machine.refusal(path) == "EACCES":
            owners.setdefault(facts.gid, []).append(path)
    if not owners:
        return ok("member")
    listed = "; ".join(f"{', '.join(paths)}: group {_group(view, gid)}" for gid, paths in owners.items())
    values: dict[str, Any] = {"uid": identity.uid, "owners": listed}
    if view.is_run_by_flags:
        return bad("container", view.start_line(*(f"--group-add {gid}" for gid in owners)), **values)
    names = [view.group_names.get(gid, "") for gid in owners]
    user = view.variables.get("USER") or view.variables.get("LOGNAME") or ""
    rows = [line.split(":") for line in (view.machine.text("/etc/group") or "").splitlines()]
    groups_of_user = {row[0] for row in rows if len(row) == 4 and user in row[3].split(",")}
    if user and groups_of_user.issuperset(names):
        return bad("old session", **values, name=quoted(names[0]))
    new_names = [name or f"gpu{gid}" for gid, name in zip(owners, names, strict=True)]
    become = f'sudo usermod -aG {quoted(",".join(new_names))} "$USER"'
    if all(names):
        return bad("not a member", become, **values)
    lines = [f"sudo groupadd -g {gid} gpu{gid}" for gid, name in zip(owners, names, strict=True) if not name]
    return bad("without a name", *lines, become, **values, gids=", ".join(map(str, owners)))


def selinux(view: MachineView) -> Outcome:
    """Look whether SELinux keeps a container from devices whatever their groups."""
    enforce = view.machine.text("/sys/fs/selinux/enforce")
    if enforce != "1":
        return ok("off" if enforce is None else "permissive")
    refusal = view.machine.refusal(KFD)
    if view.container and refusal == "EACCES":
        return bad("refused", view.device_line("--security-opt label=disable"))
    return ok("enforcing" if refusal else "opened")


def kfd_access(view: MachineView) -> Outcome:
    """Open /dev/kfd."""
    refusal = view.machine.refusal(KFD)
    return _refused(view, KFD, refusal) if refusal else ok("opened")


def render_nodes(view: MachineView) -> Outcome:
    """Open the render node of every GPU."""
    missing = [gpu for gpu in view.gpus if gpu.render_node and view.machine.facts(gpu.render_node) is None]
    if missing:
        which = some_of(missing, 4, lambda gpu: f"{gpu.render_node} (GPU {gpu.index})")
        values: dict[str, Any] = {"which": which, "verb": "are" if len(missing) > 1 else "is"}
        return bad("missing in container", view.device_line(), **values) if view.container else bad("missing", **values)
    for gpu in view.gpus:
        refusal = view.machine.refusal(gpu.render_node) if gpu.render_node else ""
        if refusal:
            return _refused(view, gpu.render_node, refusal)
    return ok("opened", nodes=counted(len(view.gpus), "render nodes"))


def _refused(view: MachineView, path: str, refusal: str) -> Outcome:
    """The case of a device that cannot be opened; two checks have the same words for it."""
    values: dict[str, Any] = {"path": path, "meaning": os.strerror(getattr(errno, refusal)).lower(), "refusal": refusal}
    if refusal == "EACCES":
        facts = view.machine.facts(path)
        return bad("EACCES", **values, mode=f"mode {facts.mode:04o}, " if facts else "")
    if refusal == "EPERM":
        return bad("EPERM", view.device_line() if view.container else "srun --gres=gpu:1 COMMAND", **values)
    return bad("other", **values)


def _group(view: MachineView, gid: int) -> str:
    name = view.group_names.get(gid)
    return f"{printable(name, 40)} ({gid})" if name else str(gid)

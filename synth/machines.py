"""Makes machines with AMD GPUs as folders of files: sysfs, devices, ROCm with a stand-in for rocprofv3.

A machine is healthy as it is made: `wavewright doctor` has nothing to say about it. Tests then spoil one thing.
Nothing here is copied from a machine; the forms of files are those of the Linux kernel and of ROCm.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from synth.rooted_machine import RootedMachine
from wavewright.capture.machines.machine import FileFacts, Identity
from wavewright.capture.rocprofv3.options import options_in
from wavewright.capture.rocprofv3.releases import release_of

if TYPE_CHECKING:
    from pathlib import Path

RENDER, VIDEO = 109, 44  #: Groups that own the devices.
USER = 1000
_ROOM_BYTES = 1 << 40
_READ_WRITE = 0o6


@dataclass(frozen=True, kw_only=True)
class GpuModel:
    """GPUs of one product as the driver describes them."""

    product: str
    target_version: int
    device_id: int
    simd_count: int
    simds_per_cu: int = 4
    array_count: int = 32
    arrays_per_engine: int = 1
    xcc_count: int = 1
    waves_per_simd: int = 8
    wave_size: int = 64
    memory_bytes: int = 64 << 30
    clock_mhz: int = 2100
    firmware: int = 177
    partition: str = ""
    performance_level: str = "auto"


MODELS = {
    "MI300X": GpuModel(
        product="AMD Instinct MI300X OAM",
        target_version=90402,
        device_id=0x74A1,
        simd_count=1216,
        xcc_count=8,
        memory_bytes=192 << 30,
        partition="SPX",
    ),
    "MI210": GpuModel(
        product="AMD Instinct MI210",
        target_version=90010,
        device_id=0x740F,
        simd_count=416,
        array_count=8,
        clock_mhz=1700,
        firmware=92,
    ),
    "RX 7900 XTX": GpuModel(
        product="",
        target_version=110000,
        device_id=0x744C,
        simd_count=192,
        simds_per_cu=2,
        array_count=12,
        arrays_per_engine=2,
        waves_per_simd=16,
        wave_size=32,
        memory_bytes=24 << 30,
        clock_mhz=2500,
        performance_level="profile_standard",
    ),
}


@dataclass(frozen=True)
class Device:
    """A device file, which an ordinary user cannot make: its rights, and how opening it ends otherwise."""

    gid: int = RENDER
    mode: int = 0o660
    refusal: str = ""  #: Name of an error that the driver or the kernel gives; empty = as the rights say.


@dataclass
class MadeMachine(RootedMachine):
    """A machine made of files below `folder`, with devices and disks that files cannot be."""

    folder: Path
    environment: dict[str, str]
    who: Identity
    devices: dict[str, Device] = field(default_factory=dict)
    rooms: dict[str, int] = field(default_factory=dict)  #: Free bytes by folder; the longest that fits counts.

    def __post_init__(self) -> None:
        super().__init__(str(self.folder), self.environment, self.who)

    def changed(self, **environment: str) -> MadeMachine:
        """The same machine with more variables."""
        return replace(self, environment={**self.environment, **environment})

    def in_groups(self, *gids: int) -> MadeMachine:
        """The same machine for a process in these groups."""
        return replace(self, who=replace(self.who, gids=gids))

    def write(self, path: str, text: str | bytes, *, is_program: bool = False) -> None:
        """Put a file onto the machine."""
        place = self.folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        if is_program:
            place.chmod(0o755)

    def remove(self, path: str) -> None:
        """Take a file, link, device or folder away."""
        self.devices.pop(path, None)
        place = self.folder / path.lstrip("/")
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def facts(self, path: str) -> FileFacts | None:
        """Devices are devices."""
        facts = super().facts(path)
        device = self.devices.get(self.real_path(path))
        if facts is None or device is None:
            is_users = facts is not None and self.real_path(path).startswith("/home/user")
            return replace(facts, uid=USER) if facts is not None and is_users else facts
        return replace(facts, kind="device", mode=device.mode, uid=0, gid=device.gid, size_bytes=0)

    def refusal(self, path: str) -> str:
        """As the rights of a device say, or what was planted."""
        device = self.devices.get(self.real_path(path))
        if device is None:
            return super().refusal(path)
        if device.refusal or self.identity.uid == 0:
            return device.refusal
        shift = 3 if device.gid in self.identity.gids else 0
        return "" if device.mode >> shift & _READ_WRITE == _READ_WRITE else "EACCES"

    def free_bytes(self, path: str) -> int | None:
        """The planted number of free bytes."""
        fitting = [folder for folder in self.rooms if path == folder or path.startswith(folder.rstrip("/") + "/")]
        return self.rooms[max(fitting, key=len)] if fitting else _ROOM_BYTES


def healthy_machine(folder: Path, *, model: str = "MI300X", gpu_count: int = 2, rocm: str = "7.2.0") -> MadeMachine:
    """A machine on which every kind of capture would work."""
    machine = MadeMachine(
        folder,
        environment={"PATH": "/opt/rocm/bin:/usr/local/bin:/usr/bin:/bin", "HOME": "/home/user", "USER": "user"},
        who=Identity(
            hostname="made",
            system="Linux",
            kernel="6.8.0-60-generic",
            processor="x86_64",
            uid=USER,
            gids=(USER, VIDEO, RENDER),
            group_names={USER: "user", VIDEO: "video", RENDER: "render"},
        ),
    )
    _write_system(machine)
    for index in range(gpu_count):
        _write_gpu(machine, MODELS[model], index)
    write_rocm(machine, f"/opt/rocm-{rocm}", rocm)
    (folder / "opt/rocm").symlink_to(f"rocm-{rocm}")
    return machine


def _write_system(machine: MadeMachine) -> None:
    texts = {
        "/etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.2 LTS"\n',
        "/etc/group": f"root:x:0:\nvideo:x:{VIDEO}:user\nrender:x:{RENDER}:user\nuser:x:{USER}:\n",
        "/proc/1/cgroup": "0::/init.scope\n",
        "/proc/cmdline": "BOOT_IMAGE=/vmlinuz ro quiet iommu=pt\n",
        "/proc/meminfo": "MemTotal:  2113464320 kB\nMemFree:   1900000000 kB\nMemAvailable: 2000000000 kB\n",
        "/proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\nMax core file size        0   unlimited  bytes\n"
        "Max open files            1048576   1048576  files\n",
        "/proc/self/mounts": "/dev/sda1 / ext4 rw,relatime 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n",
        "/proc/self/status": "Name:\tpython3\nCapEff:\t0000000000000000\n",
        "/proc/sys/kernel/numa_balancing": "0\n",
        "/proc/sys/kernel/perf_event_paranoid": "2\n",
        "/proc/sys/kernel/yama/ptrace_scope": "0\n",
        "/sys/module/amdgpu/initstate": "live\n",
        "/sys/module/amdgpu/version": "6.14.14\n",
        "/sys/class/kfd/kfd/topology/nodes/0/properties": "cpu_cores_count 64\nsimd_count 0\n",
        "/sys/class/kfd/kfd/topology/nodes/0/gpu_id": "0\n",
        "/dev/kfd": "",
    }
    for path, text in texts.items():
        machine.write(path, text)
    for path in ("dev/shm", "home/user", "sys/class/kfd/kfd/proc"):
        (machine.folder / path).mkdir(parents=True)
    machine.devices["/dev/kfd"] = Device()
    python = '#!/bin/sh\ncase "$*" in *CDLL*) shift 3; echo "$@";; *yaml*) exit 0;; esac\n'
    machine.write("/usr/bin/python3", python, is_program=True)


def node_properties(model: GpuModel, index: int) -> dict[str, int]:
    """The lines of a node's `properties`."""
    return {
        "cpu_cores_count": 0,
        "simd_count": model.simd_count,
        "max_waves_per_simd": model.waves_per_simd,
        "lds_size_in_kb": 64,
        "wave_front_size": model.wave_size,
        "array_count": model.array_count,
        "simd_arrays_per_engine": model.arrays_per_engine,
        "simd_per_cu": model.simds_per_cu,
        "gfx_target_version": model.target_version,
        "vendor_id": 4098,
        "device_id": model.device_id,
        "location_id": (5 + 16 * index) << 8,
        "domain": 0,
        "drm_render_minor": 128 + index,
        "max_engine_clk_fcompute": model.clock_mhz,
        "fw_version": model.firmware,
        "unique_id": 0x1000_0000_0000_0000 + index,
        "num_xcc": model.xcc_count,
    }


def _write_gpu(machine: MadeMachine, model: GpuModel, index: int) -> None:
    node = f"/sys/class/kfd/kfd/topology/nodes/{index + 1}"
    properties = node_properties(model, index)
    machine.write(f"{node}/properties", "".join(f"{name} {value}\n" for name, value in properties.items()))
    machine.write(f"{node}/gpu_id", f"{1000 + index}\n")
    machine.write(f"{node}/name", "ip discovery\n")
    machine.write(f"{node}/mem_banks/0/properties", f"heap_type 1\nsize_in_bytes {model.memory_bytes}\n")
    machine.write(f"{node}/mem_banks/0/used_memory", "300000000\n")
    device = f"/sys/devices/pci0000:00/0000:{5 + 16 * index:02x}:00.0"
    clocks = f"0: 132Mhz *\n1: {model.clock_mhz}Mhz\n"
    texts = {
        "vendor": "0x1002",
        "class": "0x120000",
        "power_dpm_force_performance_level": model.performance_level,
        "pp_dpm_sclk": clocks,
        "gpu_busy_percent": "0",
        "mem_info_vram_used": "300000000",
        "hwmon/hwmon3/power1_cap": "750000000",
        "hwmon/hwmon3/power1_cap_default": "750000000",
        f"drm/card{index + 1}/dev": "226:1",
        f"drm/renderD{128 + index}/dev": "226:128",
    }
    if model.product:
        texts["product_name"] = model.product
    if model.partition:
        texts["current_compute_partition"] = model.partition
    for name, text in texts.items():
        machine.write(f"{device}/{name}", f"{text}\n")
    links = (
        f"sys/bus/pci/devices/{device.rpartition('/')[2]}",
        f"sys/class/drm/card{index + 1}/device",
        f"sys/class/drm/renderD{128 + index}/device",
    )
    for link in links:
        place = machine.folder / link
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(device)
    render = f"/dev/dri/renderD{128 + index}"
    machine.write(render, "")
    machine.devices[render] = Device()


def write_rocm(machine: MadeMachine, root: str, rocm: str) -> None:
    """Put a ROCm onto the machine, with a stand-in for rocprofv3 that answers --version and --help."""
    release = release_of(rocm)
    libraries = (
        "librocprofiler-sdk.so",
        "librocprofiler-sdk-roctx.so",
        "rocprofiler-sdk/librocprofiler-sdk-tool.so",
        "rocprofiler-sdk/librocprofiler-sdk-tool-kokkosp.so",
        "rocprofiler-sdk/librocprofv3-list-avail.so",
        "libhsa-runtime64.so.1",
        "libhsa-amd-aqlprofile64.so.1",
        "libamd_comgr.so.3",
        "librocprof-trace-decoder.so.0.1.6",
    )
    for name in libraries:
        machine.write(f"{root}/lib/{name}", "")
    (machine.folder / root.lstrip("/") / "lib/librocprof-trace-decoder.so").symlink_to(
        "librocprof-trace-decoder.so.0.1.6"
    )
    machine.write(f"{root}/share/rocprofiler-sdk/config.yaml", "rocprofiler-sdk:\n")
    machine.write(f"{root}/.info/version", f"{rocm}-43\n")
    machine.write(f"{root}/bin/rocprofv3", rocprofv3_stand_in(rocm, release.sdk), is_program=True)


def rocprofv3_stand_in(rocm: str, sdk: str) -> str:
    """A script with the options of a release, in the form of AMD's; --version as ROCm 7.0 and later have it."""
    version = release_of(rocm).version
    options = (name for name, option in options_in(version).items() if not option.is_hidden and name.startswith("--"))
    lines = [f"  {name} [X]  what it does" for name in options]
    help_text = "\n".join(("usage: rocprofv3 [-h]", "", "options:", *lines, ""))
    versions = f"{'version':>20}: {sdk}\n{'rocm_version':>20}: {rocm}\n"
    return (
        f"#!/usr/bin/env python3\nimport sys\nprint({versions!r} if sys.argv[1:] == ['--version'] else {help_text!r})\n"
    )

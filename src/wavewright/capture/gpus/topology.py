"""The GPUs of a machine and their users, as the driver (KFD) describes them in sysfs.

Source: rocprofiler-sdk 1.3.2, platform/gnulinux/agent.cpp: where nodes are looked for, and which are skipped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wavewright.base.bounds import integer_of
from wavewright.capture.machines.machine import Machine
from wavewright.facts.gpus import Arch
from wavewright.facts.loader import packaged

#: Variables that name a folder of nodes, in the order in which rocprofiler-sdk looks at them.
TOPOLOGY_VARIABLES = ("ROCPROFILER_KFD_TOPOLOGY", "AMD_KFD_TOPOLOGY", "HSA_MODEL_TOPOLOGY")
_FOLDERS = ("/sys/devices/virtual/kfd/kfd/topology/nodes", "/sys/class/kfd/kfd/topology/nodes")
_LINE = re.compile(r"(?m)^(\w{1,60}) (-?\d{1,20})[ \t]*$")
_COUNT_MAX = 1 << 16  #: Of SIMDs, arrays, waves: larger values are damage.
_MEMORY_MAX = 1 << 50  #: Bytes of memory: larger values are damage.
_PROCESSES, _NAME_LENGTH = "/sys/class/kfd/kfd/proc", 40  #: Where users are listed; letters of their names.
_FIRMWARE_BITS = 0x3FF  #: The version proper; the bits above are a feature number.

_PRODUCTS = packaged("products.toml", __package__)


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU node of the driver's topology (KFD); in a partitioned product each partition is one."""

    index: int  #: Place among the GPUs in the order of nodes: what ROCR_VISIBLE_DEVICES and --att-gpu-index count.
    node: int
    gpu_id: int  #: The driver's number, which names it in lists of processes; 0 = unknown.
    target: str  #: As gfx942; empty where an old driver does not tell it.
    product: str = ""  #: Empty = unknown.
    pci: str = ""  #: As 0000:63:00.0; partitions of one product share it.
    unique_id: str = ""  #: As GPU-1a2b3c, for ROCR_VISIBLE_DEVICES; empty = the driver gives none.
    cu_count: int
    se_count: int  #: Shader engines of all XCCs.
    xcc_count: int = 1
    simds_per_cu: int
    waves_per_simd: int
    wave_size: int
    memory_bytes: int | None = None
    memory_used_bytes: int | None = None
    clock_mhz_max: int | None = None
    render_node: str = ""  #: As /dev/dri/renderD128.
    card: str = ""  #: As /sys/class/drm/card1/device; empty = not found.
    partition: str = ""  #: Compute partition: SPX, CPX, ...; empty = not partitioned or unknown.
    firmware: int | None = None  #: Version of the compute microcode (MEC).

    @property
    def key(self) -> str:
        """The name in lists: unique id, else PCI address and node."""
        return self.unique_id or f"{self.pci or 'gpu'}-{self.node}"

    @property
    def device(self) -> str:
        """The name in lock files: partitions of one device share clocks and memory, and so its lock."""
        return self.pci or self.key


@dataclass(frozen=True)
class Node:
    """One node of the topology: processors of the host or one GPU (or partition of one)."""

    number: int
    folder: str
    properties: Mapping[str, int]
    problem: str = ""  #: What cannot be right in its figures; empty = nothing.

    @property
    def is_gpu(self) -> bool:
        """True when it has SIMDs."""
        return self.count("simd_count") > 0

    def count(self, name: str) -> int:
        """A small count; 0 when it is missing or cannot be right."""
        value = self.properties.get(name, 0)
        return value if 0 <= value <= _COUNT_MAX else 0


def topology_folder(machine: Machine) -> str:
    """The folder of nodes that rocprofiler-sdk would read; empty = there is none."""
    variables = [machine.variables.get(name, "") for name in TOPOLOGY_VARIABLES]
    for folder in (*variables, *_FOLDERS):
        facts = machine.facts(folder) if folder.startswith("/") else None
        if facts and facts.kind == "folder":
            return folder.rstrip("/")
    return ""


def nodes_of(machine: Machine) -> tuple[Node, ...]:
    """All nodes in the order of their numbers; those whose file is empty or may not be read are left out."""
    folder = topology_folder(machine)
    if not folder:
        return ()
    nodes = []
    for number in _numbers(machine.names(folder), below=1_000_000):
        text = machine.text(f"{folder}/{number}/properties")
        if text:
            properties = properties_of(text)
            nodes.append(Node(number, f"{folder}/{number}", properties, _problem(properties)))
    return tuple(nodes)


def properties_of(text: str) -> dict[str, int]:
    """The values of a file of lines `name value`; lines of another form are left out."""
    return {name: int(value) for name, value in _LINE.findall(text)}


def target_of(version: int) -> str:
    """The name of a target from the driver's `gfx_target_version`; empty when it cannot be one."""
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{step:x}" if 0 < major < 100 and minor < 16 and step < 16 else ""


def gpus_of(machine: Machine) -> tuple[Gpu, ...]:
    """The GPUs of a machine in the order of nodes; several partitions of one product are several."""
    nodes = [node for node in nodes_of(machine) if node.is_gpu]
    addresses = _addresses(nodes)
    unique_ids = Counter(node.properties.get("unique_id", 0) for node in nodes)
    return tuple(
        _gpu(machine, index, node, addresses[index], has_own_id=unique_ids[node.properties.get("unique_id", 0)] == 1)
        for index, node in enumerate(nodes)
    )


def _problem(properties: Mapping[str, int]) -> str:
    """The first figure of a node that cannot be right; empty = all can."""
    counts = ("simd_count", "simd_per_cu", "array_count", "simd_arrays_per_engine", "num_xcc", "max_waves_per_simd")
    wrong = [name for name in counts if not 0 <= properties.get(name, 0) <= _COUNT_MAX]
    if properties.get("simd_count", 0) > 0:  # a GPU has some of each
        positive_counts = ("simd_per_cu", "array_count", "simd_arrays_per_engine", "wave_front_size")
        wrong += [name for name in positive_counts if properties.get(name, 0) <= 0]
    return f"{wrong[0]} is {properties.get(wrong[0], 'missing')}" if wrong else ""


def _gpu(machine: Machine, index: int, node: Node, pci: str, *, has_own_id: bool) -> Gpu:
    properties = node.properties
    target = target_of(properties.get("gfx_target_version", 0))
    simds_per_cu = node.count("simd_per_cu")
    cu_count = node.count("simd_count") // simds_per_cu if simds_per_cu else 0
    xcc_count = node.count("num_xcc") or 1
    minor = properties.get("drm_render_minor", 0)
    card = _card(machine, pci, minor)
    unique_id = properties.get("unique_id", 0)
    partition = (machine.text(f"{card}/current_compute_partition") or "") if card else ""
    bank = properties_of(machine.text(f"{node.folder}/mem_banks/0/properties") or "")
    sizes = (bank.get("size_in_bytes", 0), properties.get("local_mem_size", 0))
    return Gpu(
        index=index,
        node=node.number,
        gpu_id=integer_of(machine.text(f"{node.folder}/gpu_id"), below=1 << 32) or 0,
        target=target,
        product=_product(machine, card, properties.get("device_id", 0), target, cu_count),
        pci=pci,
        # Partitions of one product may share an id, which then selects none of them (seen on an MI308X in CPX).
        unique_id=f"GPU-{unique_id:016x}" if has_own_id and 0 < unique_id < 1 << 64 else "",
        cu_count=cu_count,
        se_count=node.count("array_count") // (node.count("simd_arrays_per_engine") or 1),
        xcc_count=xcc_count,
        simds_per_cu=simds_per_cu,
        waves_per_simd=node.count("max_waves_per_simd"),
        wave_size=node.count("wave_front_size"),
        memory_bytes=next((size for size in sizes if 0 < size <= _MEMORY_MAX), None),
        memory_used_bytes=integer_of(machine.text(f"{node.folder}/mem_banks/0/used_memory"), below=_MEMORY_MAX),
        clock_mhz_max=node.count("max_engine_clk_fcompute") or None,
        render_node=f"/dev/dri/renderD{minor}" if 0 < minor <= _COUNT_MAX else "",
        card=card,
        partition=partition if re.fullmatch(r"[A-Z]{3,5}", partition) else "",
        firmware=properties["fw_version"] & _FIRMWARE_BITS if properties.get("fw_version", -1) >= 0 else None,
    )


def _numbers(names: Iterable[str], below: int) -> list[int]:
    """The names that are numbers, in their order."""
    return sorted(number for name in names if (number := integer_of(name, below=below)) is not None)


def _addresses(nodes: Sequence[Node]) -> list[str]:
    """PCI addresses of nodes; empty = unknown.

    Drivers put the number of a partition into the function of the address or into its highest four bits; the GPU
    itself is the function that the first partition has.
    """
    firsts: dict[tuple[int, int, int], int] = {}
    addresses = []
    for node in nodes:
        location = node.properties.get("location_id", -1)
        domain = node.properties.get("domain", 0)
        if location <= 0 or not 0 <= domain < 1 << 32:
            addresses.append("")
            continue
        bus, device, function = location >> 8 & 0xFF, location >> 3 & 0x1F, location & 7
        function = firsts.setdefault((domain, bus, device), function)
        addresses.append(f"{domain:04x}:{bus:02x}:{device:02x}.{function}")
    return addresses


def _card(machine: Machine, pci: str, minor: int) -> str:
    """The folder of the sensors and settings of a GPU, by its address, else by its render node."""
    folders = [f"/sys/bus/pci/devices/{pci}/drm"] if pci else []
    if minor > 0:
        folders.append(f"/sys/class/drm/renderD{minor}/device/drm")
    for folder in folders:
        for name in machine.names(folder):
            if re.fullmatch(r"card\d{1,4}", name):
                return f"/sys/class/drm/{name}/device"
    return ""


def _product(machine: Machine, card: str, device: int, target: str, cu_count: int) -> str:
    """The name of the product: what the board says, else its PCI device, else the only product with as many CUs."""
    from wavewright.facts.gpus import TARGETS, of

    board = (machine.text(f"{card}/product_name") or "") if card else ""
    arch = of(target) if target in TARGETS else None
    if board:
        return _plain_product(board, arch)
    if product := _PRODUCTS.get(f"{device:04x}"):
        return str(product)
    # Counts of CUs tell accelerators apart; a workstation card has those of a gaming card with another name.
    products = arch.products if arch and target.startswith("gfx9") else ()
    alike = [product.name for product in products if product.cu_count == cu_count]
    return alike[0] if len(alike) == 1 else ""


def _plain_product(board: str, arch: Arch | None) -> str:
    """The name of a product as our facts spell it, else what the board says, printable and shortened.

    >>> from wavewright.facts.gpus import of
    >>> _plain_product("AMD Instinct MI300X OAM", of("gfx942")), _plain_product("AMD Radeon PRO W7900", of("gfx1100"))
    ('MI300X', 'AMD Radeon PRO W7900')
    """
    words = {word.lower() for word in re.findall(r"\w+", board)}
    longest_first = sorted(arch.products if arch else (), key=lambda product: -len(product.name))
    for product in longest_first:
        if set(product.name.lower().split()) <= words:
            return product.name
    return "".join(letter for letter in board if letter.isprintable())[:60]


# --- users: processes with queues. In a container their numbers are those of the host: one that does not exist here is
# a user all the same. Source: rocm-smi-lib, rocm_smi_kfd.cc: proc/<pid>/queues/<queue>/gpuid, proc/<pid>/vram_<gpuid>.


@dataclass(frozen=True)
class GpuUser:
    """A process that has queues on a GPU."""

    pid: int  #: As the host counts.
    name: str  #: Of its program; empty = unknown, as for processes outside of this container.
    memory_bytes: int | None  #: Of the GPU; None = the driver does not tell.

    def __str__(self) -> str:
        return f"process {self.pid}" + (f" ({self.name})" if self.name else "")


def users_of(machine: Machine, gpus: Sequence[Gpu]) -> dict[str, tuple[GpuUser, ...]]:
    """The users of each GPU by its key, in the order of process ids; GPUs without the driver's number have none."""
    by_gpu_id: dict[int, list[GpuUser]] = {gpu.gpu_id: [] for gpu in gpus if gpu.gpu_id}
    pids = _numbers(machine.names(_PROCESSES), below=1 << 32)
    for pid in pids if by_gpu_id else ():
        folder, queues = f"{_PROCESSES}/{pid}", f"{_PROCESSES}/{pid}/queues"
        gpu_ids = {integer_of(machine.text(f"{queues}/{name}/gpuid")) for name in machine.names(queues)}
        for gpu_id in by_gpu_id.keys() & gpu_ids:
            memory_bytes = integer_of(machine.text(f"{folder}/vram_{gpu_id}"))
            name = "".join(filter(str.isprintable, machine.text(f"/proc/{pid}/comm") or ""))[:_NAME_LENGTH]
            by_gpu_id[gpu_id].append(GpuUser(pid, name, memory_bytes))
    return {gpu.key: tuple(by_gpu_id.get(gpu.gpu_id, ())) for gpu in gpus}


def busy_percent(machine: Machine, gpu: Gpu) -> int | None:
    """The share of time in which a GPU works now, for anybody, graphics included; None = the driver does not tell."""
    return integer_of(machine.text(f"{gpu.card}/gpu_busy_percent"), below=101) if gpu.card else None

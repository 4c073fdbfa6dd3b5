"""One GPU of a machine, as the driver describes it."""

from __future__ import annotations

from dataclasses import dataclass


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
        """What names it in lists: unique id, else PCI address and node."""
        return self.unique_id or f"{self.pci or 'gpu'}-{self.node}"

    @property
    def device(self) -> str:
        """What names it in lock files: partitions of one device share clocks and memory, and so its lock."""
        return self.pci or self.key

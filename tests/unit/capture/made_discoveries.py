"""Files of a discovery as rocprofv3 writes them, made by hand."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

_COLUMNS = (
    *("Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name"),
    *("Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size", "Scratch_Size", "VGPR_Count"),
    *("Accum_VGPR_Count", "SGPR_Count", "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"),
    *("Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"),
)
_AGENT = {
    "Node_Id": 1,
    "Logical_Node_Id": 1,
    "Agent_Type": "GPU",
    "Cpu_Cores_Count": 0,
    "Simd_Count": 1216,
    "Max_Waves_Per_Simd": 8,
    "Lds_Size_In_Kb": 64,
    "Wave_Front_Size": 64,
    "Num_Xcc": 8,
    "Cu_Count": 304,
    "Simd_Per_Cu": 4,
    "Gfx_Target_Version": 90402,
    "Name": "gfx942",
    "Vendor_Name": "AMD",
    "Product_Name": "AMD Instinct MI300X",
    "Model_Name": "",
    "Device_Id": 29857,
}


@dataclass(frozen=True)
class Launched:
    """One dispatch."""

    name: str
    kernel_id: int = 1
    duration_ns: int = 1000
    workgroups: int = 608
    workgroup: int = 256


def write_discovery(folder: Path, launches: list[Launched], *, pid: int = 100) -> Path:
    """The files of one process below a folder, in a folder of its own as `-o %pid%/discover` makes it."""
    place = folder / str(pid)
    place.mkdir(parents=True)
    with (place / "discover_kernel_trace.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        out.writerow(_COLUMNS)
        for number, each in enumerate(launches, 1):
            start = 1_000_000 + number * 100_000
            out.writerow(
                [
                    *("KERNEL_DISPATCH", "Agent 1", 1, 0, pid, number, each.kernel_id, each.name, number),
                    *(start, start + each.duration_ns, 8192, 0, 64, 0, 32, each.workgroup, 1, 1),
                    *(each.workgroups * each.workgroup, 1, 1),
                ]
            )
    with (place / "discover_agent_info.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        out.writerow(_AGENT)
        out.writerow(_AGENT.values())
    return place

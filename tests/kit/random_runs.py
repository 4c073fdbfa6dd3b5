"""Runs that nobody designed: ranks, streams, names, calls, copies, steps and clocks as a seed draws them."""

from __future__ import annotations

import random

from tests.kit.made_runs import Row, source
from wavewright.model.run import MemorySource, Run

_KERNELS = (
    "gemm_bf16_kernel",
    "void at::native::vectorized_elementwise_kernel<4, AddFunctor>(int)",
    "ncclDevKernel_AllReduce_Sum_f32(ncclDevComm*)",
    "flash_attn_fwd",
    "__amd_rocclr_copyBuffer",
    "layernorm",
    None,
)
_COPIES = ("CopyHostToDevice", "CopyDeviceToHost", "CopyDeviceToDevice", "MEMORY_COPY_HOST_TO_DEVICE")
#: Property -> how often a run has it.
_PROPERTIES = {"calls": 0.75, "links": 0.8, "copies": 0.6, "steps": 0.5, "no length": 0.2, "overlapping steps": 0.3}
_PROPERTIES |= {"pauses": 0.2, "grids": 0.6, "two GPUs": 0.3, "no streams": 0.15, "apart": 0.3, "shared GPU": 0.2}


def random_run(seed: int) -> Run:
    """A run of one to five ranks that depends on the seed only."""
    draw = random.Random(seed)
    has = {name for name, share in _PROPERTIES.items() if draw.random() < share}
    begin = draw.choice([0, 10**6, 1_700_000_000_000_000_000])
    return Run([_rank(draw, has, rank, begin) for rank in range(draw.choice([1, 1, 1, 2, 3, 5]))])


def _rank(draw: random.Random, has: set[str], rank: int, begin: int) -> MemorySource:
    now = step_begin = begin + (draw.choice([30_000, 10**9, 10**12]) if rank and "apart" in has else 0)
    count, scale = draw.choice([1, 3, 10, 40, 200]), draw.choice([100, 3_000, 30_000, 500_000])
    call_ns, pause_ns = draw.choice([2_000, 6_000, 20_000]), draw.choice([500, 5_000, 50_000])
    per_step = max(1, count // draw.choice([1, 2, 4, 8]))
    tables: dict[str, list[Row]] = {"dispatches": [], "copies": [], "regions": []}
    free: dict[tuple[int, int | None], int] = {}
    for number in range(count):
        if number and number % per_step == 0:
            late = 5_000 if "overlapping steps" in has else 0
            marker = {"name": f"step#{number // per_step}", "domain": "MARKER"}
            tables["regions"].append(marker | {"start_ns": step_begin, "end_ns": now + late})
            step_begin, done = now, max(now, *free.values()) + 5_000
            wait = {"name": "hipDeviceSynchronize", "domain": "HIP", "start_ns": now, "end_ns": done}
            tables["regions"].append(wait)
            now = done + (draw.choice([10**8, 10**10]) if "pauses" in has and draw.random() < 0.5 else 0)
        gpu = draw.choice([1, 2]) if "two GPUs" in has else 1
        stream = None if "no streams" in has else draw.choice([0, 0, 0, 1])
        length = 0 if "no length" in has and draw.random() < 0.3 else 1 + int(draw.expovariate(1 / scale))
        start = max(now + call_ns // 2, free.get((gpu, stream), 0)) + draw.choice([0, 100, 2_000])
        work = {"start_ns": start, "end_ns": start + length, "stream": stream}
        work |= {"correlation": number + 1} if "links" in has else {}
        is_copy = "copies" in has and draw.random() < 0.2
        if is_copy:
            size = draw.choice([0, 4, 1 << 20, 1 << 30, None])
            more = {"name": draw.choice(_COPIES), "size_bytes": size, "dst_agent": gpu, "src_agent": 0}
        else:
            more = {"name": draw.choice(_KERNELS), "agent": gpu, "dispatch_id": number}
            more |= {"grid_x": draw.choice([1, 64, 65_536]), "workgroup_x": 64} if "grids" in has else {}
        tables["copies" if is_copy else "dispatches"].append(work | more)
        call = {"name": "hipMemcpyAsync" if is_copy else "hipLaunchKernel", "domain": "HIP", "correlation": number + 1}
        tables["regions"].append(call | {"start_ns": now, "end_ns": now + call_ns})
        free[gpu, stream] = start + length
        now += call_ns + int(draw.expovariate(1 / pause_ns))
    shown = {domain for domain, name in (("HIP", "calls"), ("MARKER", "steps")) if name in has}
    tables["regions"] = [row for row in tables["regions"] if row["domain"] in shown]
    host = "node" if "shared GPU" in has else f"node{rank}"
    filled = {name: rows for name, rows in tables.items() if rows}
    return source(f"rank{rank}.db", host=host, pid=rank, gpus=2, **filled)

"""Real captures of every kind below ../shared/data, and copies of them that tests may damage."""

from __future__ import annotations

import shutil
from pathlib import Path

#: Verbs by kind of capture: `info`, then the one whose answer holds most of what was read.
TRACE = ("info", "hotspots", "diagnose", "stalls", "occupancy", "waits", "coverage")
RUN = ("info", "summary", "top", "diagnose", "gaps", "busy", "ranks", "path", "memory", "overlap")
COUNTERS = ("info", "counters", "l2", "closure", "roofline", "diagnose", "memory-chart")
CODE = ("disassemble", "info")

#: Input below ../shared/data -> patterns of its files that are changed (none: it is a file), and verbs.
INPUTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "att-mi300x-bmm/c10/raw": (("*.att", "*.out", "*.db"), TRACE),
    "att-mi300x-bmm/c10/ui_output_agent_11915_dispatch_1": (("*.json",), TRACE),
    "../golden/gfx1100/profile_plus_run_0": (("*.att", "*.elf", "*.json", "*.tsv"), TRACE),
    "../golden/gfx1200/profile_plus_run_0": (("*.att", "*.elf", "*.json", "*.tsv"), TRACE),
    "att-mi300x-bmm/c10/raw/163_results.db": ((), RUN),
    "rpd/matmul_result.rpd": ((), RUN),
    "rpd/matmul_result.json": ((), RUN),
    "kineto-amd/torch_compile_triton.json.gz": ((), RUN),
    "kineto-amd/sglang_Qwen3-8B_decode.json.gz": ((), RUN),
    "rocprofv3-mi350x-flydsl/vec_add": (("*",), RUN),
    "gfx1151-rocprofv3-llama": (("*.csv",), (*RUN, *COUNTERS)),
    "rocprofv3-json-mi350x": (("*.gz",), RUN),
    "rocprofv3-doc-samples": (("*.csv",), (*RUN, *COUNTERS)),
    "rocprofv1-mi300a-hiptrace": (("*",), RUN),
    "rocprofv1-mi200-stencils/seismic_a": (("*",), (*RUN, *COUNTERS)),
    "xplane-mi300x": (("*.pb",), RUN),
    "pmc-rocprofcompute-vcopy/MI200": (("*.csv",), COUNTERS),
    "pmc-rocprofcompute-vcopy/MI350": (("*",), COUNTERS),
    "pmc-rocprofcompute-vcopy/MI300X_A1_rocpd": (("*",), COUNTERS),
    "rocprofcompute-analysisdb/rocprof_compute_3kernels.db": ((), COUNTERS),
    "gfx1201-counters-pcsampling/pcs_control/o_10000": (("*.csv",), ("info", "hotspots", "diagnose")),
    "codeobj/gfx942/triton_poi_fused_relu_0.hsaco": ((), CODE),
    "codeobj/gfx942/unified_memory.co": ((), CODE),
    "codeobj/gfx1030/gpuReadWrite_kernels.hsaco": ((), CODE),
}


def copied(data: Path, name: str, folder: Path) -> tuple[Path, list[Path]]:
    """A copy of an input in a folder, and those of its files that may be changed."""
    patterns, _ = INPUTS[name]
    source, copy = data / name, folder / Path(name).name
    if not patterns:
        return copy, [Path(shutil.copyfile(source, copy))]
    # Contents only: what is shared may be read-only.
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.golden.json.gz"), copy_function=shutil.copyfile)
    for below in (copy, *copy.rglob("*")):
        below.chmod(below.stat().st_mode | 0o600)
    return copy, sorted({file for each in patterns for file in copy.rglob(each) if file.is_file()})

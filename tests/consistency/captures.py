"""Every capture below ../shared that questions can be asked about, by kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

#: Kind -> patterns below ../shared.
PATTERNS = {
    "run": (
        "data/rpd/*.rpd*",
        "data/rpd/*.json",
        "data/kineto-*/**/*.json.gz",
        "data/rocprofv3-json-mi350x/*.gz",
        "data/rocprofv3-mi350x-flydsl/*",
        "data/gfx1151-rocprofv3-llama",
        "data/rocprofv1-*",
        "data/rocprofv1-mi200-stencils/*",
        "data/xplane-mi300x/*.pb",
        "data/att-mi300x-bmm/*/raw/*_results.db",
    ),
    "trace": (
        "data/att-mi300x-bmm/*/raw",
        "data/att-mi300x-bmm/*/ui_output_*",
        "data/uiout-mi350x-flydsl/*/*/ui_output_*",
        "golden/gfx1*/profile_*",
        "golden/gfx950/profile_*",
    ),
    "counters": (
        "data/pmc-mi300x-bmm",
        "data/pmc-rocprofcompute-vcopy/*",
        "data/gfx1201-counters-pcsampling/gl2c_*",
        "data/gfx1151-rocprofv3-llama",
        "data/rocprofv1-mi200-stencils/*",
        "data/rocprofcompute-analysisdb/*.db",
        "golden/compute/inputs/*/*",
    ),
}
#: The quick sample: a capture of every format and mechanism that is small.
QUICK = (
    "run:data/rpd/matmul_result.rpd",
    "run:data/kineto-amd/gaunernst_bert-small-uncased__1016001.json.gz",
    "run:data/kineto-multirank-2of4/merged_ranks01.json.gz",
    "run:data/gfx1151-rocprofv3-llama",
    "run:data/att-mi300x-bmm/c08/raw/45_results.db",
    "trace:data/att-mi300x-bmm/c08/raw",
    "trace:data/uiout-mi350x-flydsl/layernorm/big/ui_output_agent_22257_dispatch_23",
    "trace:golden/gfx1200/profile_gemm_run_0",
    "counters:data/pmc-mi300x-bmm",
    "counters:data/pmc-rocprofcompute-vcopy/MI200",
    "counters:data/gfx1201-counters-pcsampling/gl2c_714_profstd",
)


class Capture(NamedTuple):
    """A capture at a place below ../shared."""

    kind: str
    place: str
    reading: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """Kind and place, as QUICK names it."""
        return f"{self.kind}:{self.place}"

    @property
    def is_quick(self) -> bool:
        """True if every test run looks at it."""
        return self.name in QUICK


def captures(shared: Path) -> list[Capture]:
    """Those that are there; none where ../shared is absent."""
    found = {
        Capture(kind, path.relative_to(shared).as_posix())
        for kind, patterns in PATTERNS.items()
        for pattern in patterns
        for path in shared.glob(pattern)
        if "expected" not in path.as_posix() and "perf_csvs" not in path.as_posix()
    }
    return sorted(found)

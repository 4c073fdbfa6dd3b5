"""The views are declared soundly, and their page is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from wavewright.analysis.run.contents.views import VIEWS

ROOT = Path(__file__).resolve().parents[4]


def test_the_documented_views_are_the_declared_ones() -> None:
    script = ROOT / "tools" / "make_view_docs.py"
    assert subprocess.run([sys.executable, script, "--check"], check=False).returncode == 0


def test_every_column_says_what_it_means() -> None:
    for view in VIEWS.values():
        assert len(set(view.names)) == len(view.names)
        for column in view.columns:
            assert column.type in {"BIGINT", "DOUBLE", "VARCHAR"}
            assert column.meaning
            assert column.sql


def test_views_of_amd_and_of_rpd_are_all_here() -> None:
    names = """
        code_objects kernel_symbols processes threads regions region_args samples sample_regions regions_and_samples
        kernels pmc_info pmc_events events_args stream_args memory_copies memory_allocations scratch_memory
        counters_collection top_kernels busy top markers
        kernel_summary kernel_summary_region memory_copy_summary memory_allocation_summary
        api op kernel copy copyop ktop
    """
    assert set(VIEWS) == set(names.split())

"""The listing of real decoded directories, against what their files say."""

from __future__ import annotations

import json
import tarfile
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import wavewright
from wavewright.analysis.trace.listing import isa_listing
from wavewright.analysis.trace.listing.source_lines import source_listing

FLASH = Path("data/uiout-mi350x-flydsl/flash_attn_func/big/ui_output_agent_38430_dispatch_44.tar.xz")


@pytest.fixture(scope="module")
def flash(shared: Path) -> wavewright.ThreadTrace:
    return wavewright.open(shared / FLASH)


def stored_arrows(archive: Path) -> Counter[tuple[int, int]]:
    """(line of the wait, line of the producer) -> how often, from the wave files themselves."""
    pairs: Counter[tuple[int, int]] = Counter()
    with tarfile.open(archive) as files:
        for member in files:
            if "_wv" in member.name:
                stream = files.extractfile(member)
                assert stream
                for wait, producers in json.load(stream)["wave"]["waitcnt"] or []:
                    pairs.update((wait, producer) for producer, _ in producers)
    return pairs


def test_the_hottest_wait_of_flash_attention_and_its_producers(flash: wavewright.ThreadTrace) -> None:
    listing = isa_listing(flash)
    hottest = listing.rows.sort("stall_cycles_total", descending=True).row(0, named=True)
    assert (hottest["address"], hottest["text"]) == (11448, "s_waitcnt vmcnt(0)")
    assert (hottest["hit_count"], hottest["stall_cycles_total"]) == (248, 142_908)
    arrows = listing.arrows.filter(pl.col("wait_row") == hottest["row"])
    producers = listing.rows.filter(pl.col("row").is_in(arrows["producer_row"].implode()))
    assert [hex(address) for address in producers["address"]] == ["0x2c38", "0x2c60", "0x2c88", "0x2cb0"]
    assert set(producers["class"]) == {"vmem_lds_load"}
    assert arrows["count"].to_list() == [248] * 4
    assert set(arrows["counter"]) == {"vmcnt"}


@pytest.mark.slow
def test_arrows_are_those_of_the_wave_files(shared: Path, flash: wavewright.ThreadTrace) -> None:
    listing = isa_listing(flash)
    found = Counter({(wait, producer): count for wait, producer, _, count in listing.arrows.iter_rows()})
    # Line 0 of code.json is the kernel's name: rows are counted without it.
    stored = Counter(
        {(wait - 1, producer - 1): count for (wait, producer), count in stored_arrows(shared / FLASH).items()}
    )
    assert found == stored


def test_branches_of_the_first_wave(flash: wavewright.ThreadTrace) -> None:
    """8 rows branch, two of them back to row 471 (line 472 of code.json minus its heading)."""
    branches = isa_listing(flash, wave=0).branches
    assert branches["from_row"].n_unique() == 8
    back = branches.filter(pl.col("to_row") < pl.col("from_row"))
    assert back.filter(pl.col("to_row") == 470)["from_row"].n_unique() == 2


def test_the_line_that_swallows_the_kernel(flash: wavewright.ThreadTrace) -> None:
    listing = source_listing(flash)
    lines = listing.lines.filter(pl.col("file").str.ends_with("/flash_attn_func.py"), pl.col("row_count") > 0)
    rows = dict(lines["line", "row_count"].iter_rows())
    assert (rows[257], rows[283]) == (1895, 130)
    assert listing.files["row_count"].sum() == 2069
    assert listing.unmapped_row_count == 0

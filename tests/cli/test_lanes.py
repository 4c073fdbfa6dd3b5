"""The verb lanes: tables, one instruction, pictures, and what it refuses."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.in_process import call

#: Sizes and strides of the batched matrix multiplication of capture c04.
SIZES = ("0x0=128", "0x4=512", "0x8=128", "0xc=128", "0x28=16384,128,1", "0x34=65536,512,1", "0x40=65536,512,1")
ARGUMENTS = [word for size in SIZES for word in ("--arg", size)]


@pytest.fixture(scope="module")
def gemm(shared):
    return [shared / "data" / "att-mi300x-bmm" / "c04" / "raw", "--dispatch", "3"]


def answer_of(*arguments):
    done = call("lanes", *arguments, "--json")
    assert done.status == 0, done.stderr
    return json.loads(done.stdout)


def per_wave(answer, name):
    return sum(row[name] or 0 for row in answer["rows"]["rows"]) / answer["wave_count"]


def test_counters_of_a_gemm(gemm):
    """896 conflict cycles and 1280 busy cycles of LDS, 1024 accesses of L1: what the hardware counted per wave."""
    answer = answer_of(*gemm)
    assert per_wave(answer, "extra_cycles_total") == 896
    assert per_wave(answer, "extra_cycles_total") + per_wave(answer, "ideal_cycles_total") == 1280
    assert per_wave(answer_of(*gemm, *ARGUMENTS), "segment_count_total") == 1024


@pytest.mark.slow
def test_text_fits_the_screen(run, gemm):
    for columns in ("80", "120"):
        done = run("lanes", *gemm, *ARGUMENTS, "--fix", environment={"COLUMNS": columns})
        assert done.returncode == 0 and max(map(len, done.stdout.splitlines())) <= int(columns)
        words = " ".join(done.stdout.split())
        assert "1,280 cycles per wave, 896 of them extra" in words and "pad rows of 32 dwords by 4 dwords" in words
        assert re.search(
            r"1,024 segments per wave, .* row \d+ alone 64 instead of 16 an execution, \d+ % of all;", words
        )
        assert "assumed: pointer arguments are multiples of 256 bytes" in words


def test_one_instruction_and_its_picture(gemm, tmp_path):
    rows = answer_of(*gemm)["rows"]["rows"]
    row = next(row["row"] for row in rows if row["text"].startswith("ds_read2_b64"))
    file = tmp_path / "lanes.svg"
    answer = answer_of(*gemm, "--row", row, "-o", file)
    assert [group["count"] for group in answer["groups"]["rows"]] == [4] * 8
    assert [group["fixed_count"] for group in answer["groups"]["rows"]] == [2] * 8
    panels, lanes, dwords = 2 * 2, 64, 2  # two accesses, now and in the proposed layout
    assert file.read_text().count("<title>lane ") == panels * lanes * dwords
    assert call("lanes", *gemm, "--row", row).stdout.count("phases") == 2


def test_lanes_by_segments(gemm, tmp_path):
    rows = answer_of(*gemm, *ARGUMENTS)["rows"]["rows"]
    row = next(row for row in rows if row["text"].startswith("global_load_dwordx4"))
    assert row["segment_count_total"] == 4 * row["least_segment_count_total"]
    file = tmp_path / "lanes.svg"
    done = call("lanes", *gemm, *ARGUMENTS, "--row", row["row"], "-o", file)
    assert done.status == 0 and "64 segments of 64 bytes, 16 segments at least" in " ".join(done.stdout.split())
    assert file.read_text().count("segment ") >= 64


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--arg", "0x0=99999999999"), "is not an integer of 4 bytes"),
        (("--arg", "0x1000=1"), "outside of the 80 bytes"),
        (("--workgroup", "0"), "is impossible"),
        (("--workgroup", "1,2,3,4"), "is not a size"),
        (("--grid", "many"), "is not a size"),
        (("--target", "gfx90a"), "the trace is of gfx942"),
        (("--target", "gfx7"), "no facts about"),
        (("-o", "x.svg"), "none is chosen"),
        (("--row", "1", "--fix"), "--row shows one instruction"),
        (("--row", "999999"), "there is no row"),
    ],
)
def test_what_does_not_fit_is_refused(gemm, arguments, words):
    done = call("lanes", *gemm, *arguments)
    assert done.status == 2 and words in done.stderr and "Traceback" not in done.stderr


def test_files_with_nonsense_are_refused(capture, tmp_path):
    nonsense = tmp_path / "nonsense"
    nonsense.write_text("nothing = {")
    for arguments in (("--rules", nonsense), ("--omniprobe", nonsense), ("--kerncap", tmp_path)):
        done = call("lanes", capture, *arguments)
        assert done.status in (2, 3) and str(arguments[1]) in done.stderr, arguments


def test_a_recording_cut_short_is_refused(capture, tmp_path):
    dispatch = {"mangled_name": "saxpy", "grid": [256, 1, 1], "block": [256, 1, 1], "kernarg_size": 280}
    (tmp_path / "dispatch.json").write_text(json.dumps(dispatch))
    (tmp_path / "kernarg.bin").write_bytes(bytes(100))
    done = call("lanes", capture, "--kerncap", tmp_path)
    assert done.status != 0 and "is cut short: 100 bytes" in done.stderr


def test_phases_of_the_user_count(gemm, tmp_path):
    """64 reads per wave: four phases of 4 cycles have 12 extra ones, one phase with 8 dwords in a bank has 7."""
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '[phases]\nwhole = ["0-63"]\n[[lds]]\ntargets = ["gfx942"]\noperations = ["read"]\nwidth = "b64"\nbanks = 32\n'
        'phases = "whole"\nconfidence = "hypothesis"\nevidence = "made up"\nsource = "a test"\n'
    )
    ours, theirs = (answer_of(*gemm, *more) for more in ((), ("--rules", rules)))
    assert per_wave(ours, "extra_cycles_total") - per_wave(theirs, "extra_cycles_total") == 64 * (12 - 7)


def test_columns_of_other_verbs(gemm):
    units = json.loads(call("hotspots", *gemm, "--lanes", "--json").stdout)["units"]["rows"]
    assert sum(unit["extra_lds_cycles_total"] for unit in units) == 8 * 896
    assert "extra LDS" in call("hotspots", *gemm, "--lanes").stdout
    rows = json.loads(call("source", *gemm, "--isa", "--lanes", "--json").stdout)["rows"]["rows"]
    assert sum(row["extra_lds_cycles_total"] for row in rows) == 8 * 896
    assert "not to kernels" in call("hotspots", *gemm, "--lanes", "--by", "kernel").stderr


def test_floors_of_the_slow_version(shared):
    """The L1 needs 82 % of the span: no reordering gains more than 1.22 times."""
    sizes = ("0x0=128", "0x4=512", "0x8=128", "0xc=128", "0x28=16384,128,1", "0x34=65536,512,1", "0x40=65536,512,1")
    slow = [shared / "data" / "att-mi300x-bmm" / "c03" / "raw", "--dispatch", "3"]
    done = call("lanes", *slow, "--floors", "--json", *(word for size in sizes for word in ("--arg", size)))
    assert done.status == 0, done.stderr
    answer = json.loads(done.stdout)
    (l1,) = (row for row in answer["pipes"]["rows"] if row["pipe"] == "L1")
    assert (l1["floor_cycles_total"], answer["span_cycles_total"]) == (123_648, 150_540)
    assert round(answer["span_cycles_total"] / answer["largest"]["cycles"], 2) == 1.22


def test_floors_stand_alone(gemm):
    done = call("lanes", *gemm, "--floors", "--fix")
    assert done.status == 2
    assert "of its own" in done.stderr

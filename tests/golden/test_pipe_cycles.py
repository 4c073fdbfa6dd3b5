"""Declared pipe cycles against LLVM's schedule models, and against the shortest intervals in real traces."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import wavewright
from tests.conftest import SHARED
from tests.kit.judges import llvm_program
from wavewright.analysis.trace.pipes import declared_cycles, matrix_rows, pipe_cycles_of_rows
from wavewright.analysis.trace.pipes.utilization import utilization
from wavewright.facts import gpus
from wavewright.model.trace import ThreadTrace

pytestmark = pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="../shared/data is not here")
MI350X, MI300X = SHARED / "data" / "uiout-mi350x-flydsl", SHARED / "data" / "att-mi300x-bmm"
GRANULE = 4  # cycles between two times that a trace of gfx9 can tell apart


@cache
def matrix_texts() -> dict[str, dict[str, list[str]]]:
    """Target -> mnemonic -> instructions, from the vectors that LLVM's disassembler made."""
    texts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in (SHARED / "data" / "isa" / "vectors.tsv").read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and re.match(r"v_s?(mfma|wmma)(?!_ld_scale)", fields[4]):
            texts[fields[0]][fields[4].split()[0]].append(fields[4])
    return texts


def of_texts(target: str, texts: list[str]) -> list[int | None]:
    return pl.DataFrame({"text": texts}).select(declared_cycles(gpus.of(target))).to_series().to_list()


@pytest.mark.parametrize("target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201", "gfx1250"])
def test_every_matrix_instruction_has_its_cycles(target: str) -> None:
    names = sorted(matrix_texts()[target])
    assert names
    missing = [name for name, cycles in zip(names, of_texts(target, names), strict=True) if cycles is None]
    assert missing == []


def by_schedule_model(target: str, texts: list[str]) -> dict[str, float]:
    """Mnemonic -> passes that LLVM's schedule model holds the pipe; texts that the assembler rejects are left out."""
    command = [llvm_program("llvm-mca"), "-mtriple=amdgcn", f"-mcpu={target}", "--instruction-tables", "-"]
    while True:
        run = subprocess.run(command, input="\n".join(texts), capture_output=True, text=True, check=False)
        bad = {int(number) - 1 for number in re.findall(r"^<stdin>:(\d+):", run.stderr, re.MULTILINE)}
        if not bad:
            break
        texts = [text for number, text in enumerate(texts) if number not in bad]
    rows = re.findall(r"^ +1 +\d+ +(\d+\.\d+) .*?(v_\w+)", run.stdout, re.MULTILINE)
    return {name: float(passes) for passes, name in rows}


@pytest.mark.parametrize(
    ("target", "cycles_per_pass"), [("gfx908", 4), ("gfx90a", 4), ("gfx942", 4), ("gfx950", 4), ("gfx1250", 1)]
)
def test_matrix_cycles_are_those_of_llvm(target: str, cycles_per_pass: int) -> None:
    by_name = matrix_texts()[target]
    expected = by_schedule_model(target, [text for texts in by_name.values() for text in texts])
    assert len(expected) >= 0.7 * len(by_name)
    # The model knows neither formats (the ISA guide does) nor how long this one holds the pipe, only its latency.
    names = [name for name in expected if "f8f6f4" not in name and name != "v_wmma_f32_16x16x4_f32"]
    declared = dict(zip(names, of_texts(target, names), strict=True))
    assert declared == {name: cycles_per_pass * expected[name] for name in names}


def intervals(trace: ThreadTrace) -> pl.DataFrame:
    """Executed matrix instructions with `cycles` to the next one on the SIMD, as pipe_cycles_of_rows declares them."""
    code = trace.code.sort("row").select("row", "mnemonic", "text")
    code = code.with_columns(pipe_cycles_of_rows(trace).alias("declared")).filter(matrix_rows(code))
    waves = trace.waves.filter(pl.col("instruction_count") > 0)
    ends = pl.col("first_instruction") + pl.col("instruction_count")
    places = waves.select("se", "simd", place=pl.int_ranges("first_instruction", ends, dtype=pl.UInt32)).explode(
        "place"
    )
    executed = places.join(trace.instructions.with_row_index("place"), on="place").join(code, on="row")
    issued = executed.with_columns(at=pl.col("time_cycles") + pl.col("stall_cycles")).sort("se", "simd", "at")
    return issued.with_columns(cycles=pl.col("at").shift(-1).over("se", "simd") - pl.col("at")).drop_nulls("cycles")


@pytest.mark.parametrize(
    ("path", "mnemonic", "cycles"),
    [
        (MI300X / "c01" / "ui_output_agent_5600_dispatch_2", "v_mfma_f32_32x32x8_f16", 32),
        (MI300X / "c04" / "ui_output_agent_4375_dispatch_3", "v_mfma_f32_32x32x8_bf16", 32),
        (MI350X / "hgemm_splitk" / "big", "v_mfma_f32_16x16x32_bf16", 16),
        (MI350X / "moe_blockscale" / "big", "v_mfma_scale_f32_16x16x128_f8f6f4", 32),
        (MI350X / "moe_gemm" / "big", "v_mfma_f32_16x16x32_fp8_fp8", 16),
        (MI350X / "flash_attn_func" / "small", "v_mfma_f32_32x32x16_bf16", 32),
    ],
)
def test_no_shorter_interval_is_observed(path: Path, mnemonic: str, cycles: int) -> None:
    """And the declared one occurs: at full rate, matrix instructions follow each other exactly that fast."""
    trace = wavewright.open(path if path.name.startswith("ui_output") else next(iter(sorted(path.iterdir()))))
    assert isinstance(trace, ThreadTrace)
    seen = intervals(trace).filter(pl.col("mnemonic") == mnemonic)
    assert set(seen["declared"]) == {cycles}
    assert seen.filter(pl.col("cycles") < cycles - GRANULE).is_empty()
    assert seen.filter(pl.col("cycles") < cycles).height <= 0.001 * seen.height
    assert seen.filter(pl.col("cycles") == cycles).height >= 0.05 * seen.height


@pytest.mark.parametrize(
    ("target", "kind", "text", "operations"),
    [
        ("gfx908", "mfma_bf16", "v_mfma_f32_32x32x4bf16", 2 * 32 * 32 * 4),
        ("gfx908", "mfma_f16", "v_mfma_f32_16x16x16f16", 2 * 16 * 16 * 16),
        ("gfx90a", "mfma_bf16", "v_mfma_f32_32x32x8bf16_1k", 2 * 32 * 32 * 8),
        ("gfx90a", "mfma_f64", "v_mfma_f64_16x16x4f64", 2 * 16 * 16 * 4),
        ("gfx942", "mfma_f16", "v_mfma_f32_32x32x8_f16", 2 * 32 * 32 * 8),
        ("gfx942", "mfma_f8", "v_mfma_f32_16x16x32_fp8_bf8", 2 * 16 * 16 * 32),
        ("gfx942", "mfma_f64", "v_mfma_f64_16x16x4_f64", 2 * 16 * 16 * 4),
        ("gfx942", "mfma_f32", "v_mfma_f32_32x32x2_f32", 2 * 32 * 32 * 2),
        ("gfx950", "mfma_f16", "v_mfma_f32_32x32x16_f16", 2 * 32 * 32 * 16),
        ("gfx950", "mfma_f8", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[0:7], v[0:7], 0", 2 * 16 * 16 * 128),
        ("gfx950", "mfma_f8", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[0:3], v[0:7], 0 cbsz:4", 2 * 32 * 32 * 64),
        (
            "gfx950",
            "mfma_f6f4",
            "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[0:3], v[0:3], 0 cbsz:4 blgp:4",
            2 * 32 * 32 * 64,
        ),
        ("gfx950", "mfma_i8", "v_mfma_i32_16x16x64_i8", 2 * 16 * 16 * 64),
        ("gfx950", "mfma_f64", "v_mfma_f64_16x16x4_f64", 2 * 16 * 16 * 4),
    ],
)
def test_cycles_give_the_peak_of_the_gpu(target: str, kind: str, text: str, operations: int) -> None:
    facts = gpus.of(target)
    (cycles,) = of_texts(target, [text])
    assert cycles is not None
    assert operations / cycles * facts.simds_per_cu == facts.rates[kind]


def test_utilization_of_a_gemm() -> None:
    """c01: 1,024 instructions of 32 cycles on 4 SIMDs; they issue in 4 cycles each. At full rate in between."""
    trace = wavewright.open(MI300X / "c01" / "ui_output_agent_5600_dispatch_2")
    assert isinstance(trace, ThreadTrace)
    spans = trace.waves.group_by("se", "simd").agg(span=pl.col("end_cycles").max() - pl.col("start_cycles").min())
    answer = utilization(trace, bins=60)
    matrix = answer.pipes.row(by_predicate=pl.col("pipe") == "MATRIX", named=True)
    assert matrix["issue_count"] == 1024
    assert matrix["busy_cycles_total"] == 1024 * 32
    assert matrix["busy_share"] == pytest.approx(1024 * 32 / spans["span"].sum()) == pytest.approx(0.236, abs=0.001)
    assert matrix["issue_share"] < 0.04
    assert matrix["phase_busy_share"] > 0.8
    assert max(answer.over_time.filter(pipe="MATRIX")["busy_share"]) == pytest.approx(1.0)

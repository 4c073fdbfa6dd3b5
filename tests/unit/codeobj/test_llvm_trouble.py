"""LLVM absent, too old, crashing, hanging: what it gave stays, our tables do the rest, and a loss says what happened.

gfx803 is a GPU that the tables do not know, so that LLVM is alone with it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from synth.kernels import kernel_path, listing_path
from tests.unit.codeobj.made_elf import code_only
from wavewright.codeobj.code_object import CodeObject
from wavewright.codeobj.disassemble import disassemble
from wavewright.codeobj.libllvm import disassembler

GOOD, ABORTS, HANGS, EXITS = "000080bf", "efbeadde", "bebafeca", "0df0ad0b"

# A libLLVM that knows one instruction, and three words that end it in different ways.
FAKE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void LLVMGetVersion(unsigned* a, unsigned* b, unsigned* c) { *a = MAJOR; *b = 1; *c = 0; }
void LLVMInitializeAMDGPUTargetInfo(void) {}
void LLVMInitializeAMDGPUTargetMC(void) {}
void LLVMInitializeAMDGPUDisassembler(void) { if (DIES_AT_ONCE) abort(); }
void* LLVMCreateDisasmCPUFeatures(const char* t, const char* cpu, const char* f, void* a, int b, void* c, void* d) {
    return strcmp(cpu, "gfx1100") ? (void*)"context" : 0;
}
size_t LLVMDisasmInstruction(void* x, uint8_t* bytes, uint64_t size, uint64_t pc, char* out, size_t n) {
    uint32_t word;
    memcpy(&word, bytes, 4);
    if (word == 0xdeadbeef) abort();
    if (word == 0xcafebabe) for (;;) sleep(1);
    if (word == 0x0badf00d) exit(1);
    snprintf(out, n, "\tfake   0x%x", word);
    return 4;
}
"""


Fake = Callable[..., str]


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Fake:
    """Path of a fake libLLVM, by its options; each is compiled once."""
    compiler = shutil.which("cc") or shutil.which("clang-22")
    if compiler is None:
        pytest.skip("no C compiler here")

    @cache
    def built(*, major: int = 22, dies_at_once: bool = False) -> str:
        folder = tmp_path_factory.mktemp("llvm")
        source, library = folder / "fake.c", folder / "libLLVM.so"
        source.write_text(FAKE)
        options = [f"-DMAJOR={major}", f"-DDIES_AT_ONCE={int(dies_at_once)}", "-shared", "-fPIC", "-w"]
        subprocess.run([compiler, *options, "-o", str(library), str(source)], check=True)
        return str(library)

    return built


def _code(*words: str, target: str = "gfx803") -> CodeObject:
    data = code_only(b"".join(map(bytes.fromhex, words)), target=target)
    return CodeObject.from_bytes(data, target=target)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disassembler, "_IDLE_S", 4.0)  # a child needs 2 s to start where four suites share two cores


def test_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", str(tmp_path / "libLLVM.so"))
    listing = disassemble(_code(GOOD))
    assert listing.tsv == b""
    assert listing.backend == "none"
    (loss,) = listing.losses
    assert loss.kind == "no_disassembler"
    assert "gfx803" in loss.message
    assert str(tmp_path / "libLLVM.so") in loss.message
    assert "install an LLVM that supports this GPU" in loss.advice


def test_absent_where_the_tables_suffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", str(tmp_path / "libLLVM.so"))
    listing = disassemble(CodeObject.read(kernel_path("saxpy", "gfx942")))
    assert listing.tsv == listing_path("saxpy", "gfx942").read_bytes()
    assert listing.backend == "tables of gfx942"
    (loss,) = listing.losses
    assert loss.kind == "llvm_not_used"
    assert f"{tmp_path / 'libLLVM.so'}, where there is no libLLVM" in loss.message


def test_no_target_means_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    code = CodeObject.from_bytes(code_only(bytes.fromhex(GOOD), target="unknown"))
    listing = disassemble(code)
    assert listing.tsv == b""
    assert "does not say for which GPU" in listing.losses[0].message


def test_not_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "libLLVM-22.so"
    library.write_text("hello")
    monkeypatch.setenv("WAVEWRIGHT_LLVM", str(library))
    (loss,) = disassemble(_code(GOOD)).losses
    assert loss.kind == "no_disassembler"
    assert "libLLVM-22.so" in loss.message


def test_too_old(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake(major=18))
    (loss,) = disassemble(_code(GOOD)).losses
    assert "LLVM 18.1.0 is older than 19" in loss.message


def test_a_target_it_does_not_know(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake())
    listing = disassemble(_code(GOOD, target="gfx1100"))
    assert [row.text for row in listing.rows()] == ["s_nop 0"]
    (loss,) = listing.losses
    assert loss.kind == "llvm_not_used"
    assert "LLVM 22.1.0 does not know gfx1100" in loss.message


def test_dying_before_the_first_word(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake(dies_at_once=True))
    (loss,) = disassemble(_code(GOOD)).losses
    assert loss.kind == "no_disassembler"
    assert "killed by SIGABRT" in loss.message


@pytest.mark.parametrize(("word", "said"), [(ABORTS, "killed by SIGABRT"), (EXITS, "exit status 1")])
def test_dying_in_the_middle_costs_one_word(fake: Fake, monkeypatch: pytest.MonkeyPatch, word: str, said: str) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake())
    listing = disassemble(_code(*[GOOD] * 700, word, *[GOOD] * 300, word, GOOD))
    texts = [row.text for row in listing.rows()]
    data = f".long 0x{bytes.fromhex(word)[::-1].hex()}"
    assert texts == [*["fake 0xbf800000"] * 700, data, *["fake 0xbf800000"] * 300, data, "fake 0xbf800000"]
    assert [loss.kind for loss in listing.losses] == ["disassembly_incomplete"] * 2
    assert f"{0x1000 + 2800:#x} ({said})" in listing.losses[0].message


def test_dying_all_the_time_is_given_up(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake())
    listing = disassemble(_code(GOOD, *[ABORTS] * 100))
    assert 2 <= len(listing.rows()) < 101
    assert any("given up" in loss.message for loss in listing.losses)
    assert any("bytes of code" in loss.message for loss in listing.losses)
    assert len(listing.losses) <= 10


def test_what_it_leaves_the_tables_take(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake())
    listing = disassemble(_code(GOOD, *[ABORTS] * 20, GOOD, target="gfx942"))
    assert listing.backend == "libLLVM 22.1.0 + tables of gfx942"
    assert listing.rows()[0].text == "fake 0xbf800000"
    assert listing.rows()[-1].text == "s_nop 0"
    assert sum(row.size for row in listing.rows()) == 22 * 4
    assert listing.losses[-1].kind == "llvm_not_used"
    assert "given up" in listing.losses[-1].message


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_hanging_library(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEWRIGHT_LLVM", fake())
    listing = disassemble(_code(*[GOOD] * 600, HANGS, GOOD))
    assert [row.text for row in listing.rows()][:600] == ["fake 0xbf800000"] * 600
    assert any("no answer for" in loss.message for loss in listing.losses)

"""LLVM's C disassembler, alone in a process of its own: it may abort on malformed words.

Run as a plain script (`python -I -S child.py`); it imports nothing of wavewright. Standard input: one line of
JSON (library, cpu, flush_rows, chunks = [[address, size, wave64], ...]) and then the bytes of all chunks.
Standard output: `llvm MAJOR.MINOR.PATCH`, rows of `address TAB size TAB text`, and `end`; or one line
`unusable: SENTENCE`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from typing import Any

OLDEST_MAJOR = 19
TRIPLE = b"amdgcn-amd-amdhsa"
_TEXT_BYTES = 1024
_ADDRESS_SPACE_BYTES = 8 << 30
_WORD_BYTES = 4


class UnusableError(Exception):
    """This library cannot disassemble for the target; the sentence says why."""


def load(library: str) -> tuple[ctypes.CDLL, str]:
    """Load libLLVM and make its AMDGPU part ready; the library and its version."""
    try:
        llvm = ctypes.CDLL(library)
        major, minor, patch = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        llvm.LLVMGetVersion(ctypes.byref(major), ctypes.byref(minor), ctypes.byref(patch))
        version = f"{major.value}.{minor.value}.{patch.value}"
        if major.value < OLDEST_MAJOR:
            raise UnusableError(f"LLVM {version} is older than {OLDEST_MAJOR}")
        for part in ("TargetInfo", "TargetMC", "Disassembler"):
            getattr(llvm, f"LLVMInitializeAMDGPU{part}")()
    except (OSError, AttributeError) as error:
        raise UnusableError(str(error)) from error
    create, step = llvm.LLVMCreateDisasmCPUFeatures, llvm.LLVMDisasmInstruction
    create.restype = ctypes.c_void_p
    create.argtypes = [
        *(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p),
        *(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p),
    ]
    step.restype = ctypes.c_size_t
    step.argtypes = [
        *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64),
        *(ctypes.c_char_p, ctypes.c_size_t),
    ]
    return llvm, version


def disassemble(llvm: ctypes.CDLL, version: str, request: dict[str, Any], code: bytes) -> None:
    """Print every row of every chunk; a word that LLVM does not know becomes `.long`, as in llvm-objdump."""
    contexts = {
        wave64: llvm.LLVMCreateDisasmCPUFeatures(TRIPLE, request["cpu"].encode(), features, None, 0, None, None)
        for wave64, features in ((False, b""), (True, b"+wavefrontsize64"))
    }
    if not all(contexts.values()):
        raise UnusableError(f"LLVM {version} does not know {request['cpu']}")
    put(f"llvm {version}\n".encode())
    step = llvm.LLVMDisasmInstruction
    text = ctypes.create_string_buffer(_TEXT_BYTES)
    memory = ctypes.create_string_buffer(code, len(code) + 1)
    base = ctypes.addressof(memory)
    rows: list[bytes] = []
    flush_rows = request["flush_rows"]
    for address, size, wave64 in request["chunks"]:
        context, at = contexts[wave64], 0
        while at + _WORD_BYTES <= size:
            length = step(context, base + at, size - at, address + at, text, _TEXT_BYTES)
            if length:
                words = text.value.partition(b";")[0].split()  # behind the semicolon: remarks about odd operands
                rows.append(b"%d\t%d\t%b\n" % (address + at, length, b" ".join(words)))
            else:
                word = int.from_bytes(ctypes.string_at(base + at, _WORD_BYTES), "little")
                length = _WORD_BYTES
                rows.append(b"%d\t%d\t.long 0x%08x\n" % (address + at, length, word))
            at += length
            if len(rows) >= flush_rows:
                put(b"".join(rows))
                rows.clear()
        base += size
    put(b"".join(rows) + b"end\n")


def put(data: bytes) -> None:
    """Write at once: what has left this process survives its death."""
    while data:
        data = data[os.write(1, data) :]


def limit_resources() -> None:
    """No core files, and no more memory than LLVM can need."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE_BYTES, _ADDRESS_SPACE_BYTES))


def main() -> None:
    """Answer the one request on standard input."""
    limit_resources()
    request = json.loads(sys.stdin.buffer.readline())
    try:
        llvm, version = load(request["library"])
        disassemble(llvm, version, request, sys.stdin.buffer.read())
    except UnusableError as error:
        put(f"unusable: {error}\n".encode())


if __name__ == "__main__":
    main()

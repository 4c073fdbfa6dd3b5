"""Synthetic captures as the folders that rocprofv3 writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from synth.scenario import SyntheticCapture

PROCESS_ID = 4711
AGENT_ID = 1


def write_capture(capture: SyntheticCapture, directory: str | PathLike[str], *, dispatch: int = 1) -> list[Path]:
    """Write a capture's raw buffers and code objects into `directory`, which is made if it is missing.

    Buffers are `<pid>_<agent>_shader_engine_<SE>_<dispatch>.att`, code objects are
    `<pid>_<target>_code_object_id_<id>.out` with their listings, `....isa.tsv`, beside them, so that decoding the
    capture needs no disassembler (a kernel without an ELF file has only the listing). Each file appears whole or
    not at all. Returns the files, code objects first.

    Raises
    ------
    OSError
        The folder or a file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from synth import Scenario, compiled, synthesize
    >>> capture = synthesize(Scenario(kernels=(compiled("saxpy", "gfx942"),)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_capture(capture, folder)]
    ['4711_gfx942_code_object_id_1.out', '4711_gfx942_code_object_id_1.isa.tsv', '4711_1_shader_engine_0_1.att']
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    target = {kernel.listing: kernel.target for kernel in capture.scenario.kernels}
    files = []
    for loaded in capture.code_objects:
        name = f"{PROCESS_ID}_{target[loaded.listing_tsv]}_code_object_id_{loaded.id}"
        if loaded.elf is not None:
            files.append(_write_whole(folder / f"{name}.out", loaded.elf))
        files.append(_write_whole(folder / f"{name}.isa.tsv", loaded.listing_tsv))
    for trace in capture.traces:
        name = f"{PROCESS_ID}_{AGENT_ID}_shader_engine_{trace.shader_engine}_{dispatch}.att"
        files.append(_write_whole(folder / name, trace.data))
    return files


def _write_whole(path: Path, data: bytes) -> Path:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path

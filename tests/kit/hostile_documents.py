"""Traces and runs in which something is damaged, absurd or malicious, as folders and files that a user may open."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from synth.rocpd import write_rocpd_ranks
from synth.workload import Workload
from tests.kit.made_decoded import NAME, decoded_files, edit, write_files

KERNEL = "_ZN4blas5saxpyILj64EEEvfPKfPfj"
NASTY = "</script><!--<img src=x onerror=alert(1)>&\"'\u2028\u2029\u202eltr\x00\x07\x1b[31m\ufffe=cmd()"
"""Ends elements, lines and strings; turns the direction of writing; rings, colours the terminal, is no XML."""
LONG = "very_long_" * 1000
FAR = 1 << 62


@cache
def _scratch() -> Path:
    return Path(mkdtemp(prefix="wavewright-hostile-"))


def _waves(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("se*_wv*.json"))


def _far_times(folder: Path) -> None:
    """One wave is a hundred and forty years after the others."""

    def move(content: Any) -> None:
        wave = content["wave"]
        wave["begin"] += FAR
        wave["end"] += FAR
        for instruction in wave["instructions"]:
            instruction[0] += FAR

    edit(folder, _waves(folder)[0], move)


def _overlapping(folder: Path) -> None:
    """Every instruction begins when the wave does, and lasts a million cycles."""

    def pile(content: Any) -> None:
        for instruction in content["wave"]["instructions"]:
            instruction[0], instruction[3] = content["wave"]["begin"], 1_000_000

    for name in _waves(folder):
        edit(folder, name, pile)


def _rows_out_of_range(folder: Path) -> None:
    def renumber(content: Any) -> None:
        for number, instruction in enumerate(content["wave"]["instructions"]):
            instruction[4] = (1 << 40, -7, 1 << 31, 5)[number % 4]

    for name in _waves(folder):
        edit(folder, name, renumber)


def _much_code(folder: Path) -> None:
    def grow(content: Any) -> None:
        for n in range(100_000):
            place = f"/a/b{n % 500}.hip:{n}"
            content["code"].append(["v_add_f32 v0, v0, v1", 0, n, place, 1, 9000 + 4 * n, 0, 0, 0, 0])

    edit(folder, "code.json", grow)


def _nasty_names(folder: Path) -> None:
    for name in ("code.json", "occupancy.json", "snapshots.json"):
        text = (folder / name).read_text()
        text = text.replace("void blas::saxpy<64u>(float, float const*, float*, unsigned int)", json.dumps(NASTY)[1:-1])
        text = text.replace(KERNEL, json.dumps(NASTY)[1:-1]).replace("saxpy.hip", json.dumps(NASTY)[1:-1])
        (folder / name).write_text(text)


def _long_names(folder: Path) -> None:
    for name in ("code.json", "occupancy.json", "snapshots.json"):
        text = (folder / name).read_text().replace("void blas::saxpy<64u>", f"void {LONG}<64u>")
        (folder / name).write_text(text.replace(KERNEL, LONG).replace("kernels/saxpy", f"kernels/{LONG}"))


def _long_lines(folder: Path) -> None:
    (folder / "source_1_saxpy.hip").write_text("\n".join(["x = " + "1 + " * 250_000] * 4 + ["\u202e\x00\x1b"] * 40))


def _no_waves(folder: Path) -> None:
    for name in _waves(folder):
        (folder / name).unlink()


def _garbled(folder: Path) -> None:
    for name in ("occupancy.json", "realtime.json", "se0_perfcounter.json", "snapshots.json", "wstates1.json"):
        (folder / name).write_bytes(b'{"0":[[1,2,{"\xff":')
    cut = folder / _waves(folder)[0]
    cut.write_bytes(cut.read_bytes()[:500])


def _only_code(folder: Path) -> None:
    for file in folder.iterdir():
        if file.name not in ("code.json", "filenames.json"):
            file.unlink()


def _negative(folder: Path) -> None:
    def turn(content: Any) -> None:
        wave = content["wave"]
        wave["begin"], wave["end"] = wave["end"], wave["begin"]
        for instruction in wave["instructions"]:
            instruction[0], instruction[3] = -instruction[0], -5

    edit(folder, _waves(folder)[0], turn)


DAMAGED_TRACES: dict[str, Callable[[Path], None]] = {
    "far times": _far_times,
    "overlapping": _overlapping,
    "rows out of range": _rows_out_of_range,
    "much code": _much_code,
    "nasty names": _nasty_names,
    "long names": _long_names,
    "long lines": _long_lines,
    "no waves": _no_waves,
    "garbled": _garbled,
    "only code": _only_code,
    "negative": _negative,
}


@cache
def damaged_trace(name: str) -> Path:
    """A decoded directory after that damage."""
    folder = write_files(_scratch() / name.replace(" ", "-") / NAME, decoded_files())
    DAMAGED_TRACES[name](folder)
    return folder


DAMAGED_RUNS: dict[str, tuple[str, ...]] = {
    "negative durations": ("UPDATE {kernel_dispatch} SET end = start - 1000 WHERE id % 3 = 0",
                           "UPDATE {region} SET end = start - 5 WHERE id % 4 = 0"),
    "far times": ("UPDATE {kernel_dispatch} SET start = {far}, end = {far} + 10 WHERE id = 3",
                  "UPDATE {region} SET end = {far} WHERE id = 5"),
    "before time": ("UPDATE {kernel_dispatch} SET start = -{far}, end = -{far} + 10 WHERE id = 3",),
    "no kernels": ("DELETE FROM {kernel_dispatch}",),
    "nothing": ("DELETE FROM {kernel_dispatch}", "DELETE FROM {region}", "DELETE FROM {memory_copy}",
                "DELETE FROM {memory_allocate}", "DELETE FROM {sample}", "DELETE FROM {pmc_event}"),
    "dangling": ("UPDATE {kernel_dispatch} SET kernel_id = 999999, agent_id = 999, queue_id = -4 WHERE id % 2 = 0",
                 "UPDATE {region} SET name_id = 12345, tid = 777 WHERE id % 2 = 0"),
    "texts for numbers": ("UPDATE {kernel_dispatch} SET start = 'soon', end = x'ff00' WHERE id % 2 = 0",),
    "long names": ("UPDATE {info_kernel_symbol} SET kernel_name = '{long}' || id, display_name = '{long}' || id",
                   "UPDATE {string} SET string = '{long}' || id"),
    "no time": ("UPDATE {kernel_dispatch} SET start = 5, end = 5", "UPDATE {region} SET start = 5, end = 5"),
}  # fmt: skip


@cache
def damaged_run(name: str) -> Path:
    """A database after those changes."""
    folder = _scratch() / f"run-{name.replace(' ', '-')}"
    write_rocpd_ranks(folder, Workload(dispatches=40, ranks=1, seed=3))
    (path,) = folder.glob("*.db")
    with closing(sqlite3.connect(path)) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        guid = next(table for table in tables if table.startswith("rocpd_string"))[len("rocpd_string") :]
        names: dict[str, Any] = {
            table[len("rocpd_") : -len(guid)]: f'"{table}"' for table in tables if table.endswith(guid)
        }
        for statement in DAMAGED_RUNS[name]:
            connection.execute(statement.format(**names, far=FAR, long=LONG))
        connection.commit()
    return path


def removed(path: Path) -> None:
    """What a user does to a trace that is open."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()

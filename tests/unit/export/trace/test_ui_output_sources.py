"""Source copies of ui_output directories: only what is referred to, under tame names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.kit.made_traces import CODE, made, one_wave
from tests.kit.ui_directories import frame, read_json
from wavewright.export.trace.ui_output import write_ui_output

if TYPE_CHECKING:
    from pathlib import Path


def test_sources_are_copied_under_tame_names(tmp_path: Path) -> None:
    paths = ["/src/a.py", "/src/../b.h", "/src/a.py/x", "../../up.c", "/not/named.c", "/no/text.c"]
    chains = [f"{path}:1" for path in paths[:4]]
    code = frame("code", CODE | {"inline_chain": [" -> ".join(chains), "/no/text.c:?", *[None] * 4]})
    texts = ["one", "two", "three", "four", "five", None]
    sources = frame("sources", {"file": paths, "text": texts})
    directory = write_ui_output(made([one_wave()], code=code, sources=sources), tmp_path)
    assert read_json(directory / "snapshots.json") == {
        "/": {"src": {"a.py": "source_0_a.py", "..": {"b.h": "source_1_b.h"}}},
        "..": {"..": {"up.c": "source_2_up.c"}},
    }
    copies = {path.name: path.read_text() for path in directory.glob("source_*")}
    assert copies == {"source_0_a.py": "one", "source_1_b.h": "two", "source_2_up.c": "four"}
    assert not any(path.name == "up.c" for path in tmp_path.parent.rglob("*.c"))


def test_a_source_name_fits_into_the_file_system(tmp_path: Path) -> None:
    path = "/src/" + "ä" * 300 + " $(rm).py"
    code = frame("code", CODE | {"inline_chain": [f"{path}:1", *[None] * 5]})
    sources = frame("sources", {"file": [path], "text": ["text"]})
    directory = write_ui_output(made([one_wave()], code=code, sources=sources), tmp_path)
    (copy,) = directory.glob("source_*")
    assert copy.name.endswith("ä___rm_.py")
    assert len(copy.name.encode()) <= 255

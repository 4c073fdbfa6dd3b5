"""filenames.json: the generation of the GPU, the names of the counters, and which files belong to the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from wavewright.model.losses import Loss
from wavewright.readers.files.folder import Folder
from wavewright.readers.trace.ui_output.parts import decoded, engine_number, read_bytes, readable, whole

FILE_NAME = "filenames.json"
_WAVE = re.compile(r"se(\d{1,5})_sm(\d+)_sl(\d+)_wv(\d+)\.json")
_OTHER_SIMD = re.compile(r"other_simd_se(\d{1,5})_(\d+)\.json")
_SHADER_DATA = re.compile(r"shaderdata_(\d{1,5})_(\d+)\.json")
_NEWEST_GFXIP = 12


@dataclass(frozen=True)
class ListedFile:
    """A file of one shader engine."""

    name: str
    se: int


@dataclass
class Manifest:
    """Contents of filenames.json, or of the names in the folder where it does not tell."""

    gfxip: int = 0  #: 9, 10, 11 or 12; 0 = not known.
    counter_names: list[str] = field(default_factory=list)
    waves: list[ListedFile] = field(default_factory=list)
    other_simd: list[ListedFile] = field(default_factory=list)
    shader_data: list[ListedFile] = field(default_factory=list)
    has_thread_trace: bool = True
    has_samples: bool = False
    losses: list[Loss] = field(default_factory=list)


def read_manifest(folder: Folder) -> Manifest:
    """Read filenames.json; files are taken from it, and by the pattern of their names where it lists none."""
    manifest = Manifest()
    document = _document(folder, manifest)
    manifest.gfxip = _generation(document)
    names = document.get("counter_names")
    manifest.counter_names = [readable(str(name)) for name in names] if isinstance(names, list) else []
    manifest.has_thread_trace = document.get("thread_trace") is not False
    manifest.has_samples = document.get("pc_sampling") is True
    manifest.waves = _files(folder, manifest, list(_nested(document.get("wave_filenames"))), _WAVE)
    manifest.other_simd = _files(folder, manifest, list(_flat(document.get("other_simd_filenames"))), _OTHER_SIMD)
    manifest.shader_data = _files(folder, manifest, list(_flat(document.get("shaderdata_filenames"))), _SHADER_DATA)
    if not manifest.gfxip:
        manifest.losses.append(Loss("unknown_generation"))
    return manifest


def _document(folder: Folder, manifest: Manifest) -> dict[str, Any]:
    losses: list[Loss] = []
    content = read_bytes(folder, FILE_NAME, losses)
    document = None if content is None else decoded(content, FILE_NAME, losses)
    if isinstance(document, dict):
        return document
    reason = losses[0].detail if losses and content is not None else "it is missing" if content is None else "no object"
    manifest.losses.append(Loss("no_manifest", detail=reason))
    return {}


def _generation(document: dict[str, Any]) -> int:
    number = whole(document.get("gfxip"))
    if number is None:
        return 9 if document.get("gfxv") == "vega" else 0
    return number if 9 <= number <= _NEWEST_GFXIP else 0


def _nested(entries: object) -> Iterator[ListedFile]:
    """SE -> SIMD -> slot -> id -> [file name, start, end]; what has another form is passed over."""
    for se, simds in _items(entries):
        number = engine_number(se)
        for _, slots in _items(simds):
            for _, waves in _items(slots):
                for _, entry in _items(waves):
                    if number is not None and isinstance(entry, list) and entry and isinstance(entry[0], str):
                        yield ListedFile(entry[0], number)


def _flat(listed: object) -> Iterator[ListedFile]:
    """SE -> [[file name, start, end], ...]."""
    for se, entries in _items(listed):
        number = engine_number(se)
        for entry in entries if isinstance(entries, list) else ():
            if number is not None and isinstance(entry, list) and entry and isinstance(entry[0], str):
                yield ListedFile(entry[0], number)


def _items(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()


def _files(folder: Folder, manifest: Manifest, entries: list[ListedFile], pattern: re.Pattern[str]) -> list[ListedFile]:
    """The listed files that are here; all that look like it when none is listed."""
    here = folder.names()
    once = {file.name: file for file in entries}
    extras = {name: match for name in here if name not in once and (match := pattern.fullmatch(name))}
    if not entries:
        engines = {name: engine_number(match[1]) for name, match in extras.items()}
        files = [ListedFile(name, se) for name, se in sorted(engines.items()) if se is not None]
        if files:
            manifest.losses.append(Loss("unlisted_files", len(files), detail=f"{_example(extras)}: read all the same"))
        return files
    missing_names = [name for name in once if name not in here]
    if missing_names:
        manifest.losses.append(Loss("missing_files", len(missing_names), detail=_example(missing_names)))
    if len(entries) > len(once):
        manifest.losses.append(Loss("duplicate_waves", len(entries) - len(once), detail="listed twice"))
    if extras:
        manifest.losses.append(Loss("unlisted_files", len(extras), detail=f"{_example(extras)}: not read"))
    return [file for name, file in once.items() if name in here]


def _example(names: Any) -> str:
    example = readable(min(names))
    return example if len(names) == 1 else f"{example} and others"

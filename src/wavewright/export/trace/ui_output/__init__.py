"""`ui_output_agent_<agent>_dispatch_<n>`: the directory that AMD's viewer opens (docs/formats/ui_output.md)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from wavewright.errors import UsageError
from wavewright.export.kit.json_text import encode
from wavewright.export.kit.staging import staged
from wavewright.export.trace.ui_output.kernel_ids import KernelIds
from wavewright.export.trace.ui_output.lines import function_starts, listed_lines
from wavewright.export.trace.ui_output.occupancy import occupancy_json
from wavewright.export.trace.ui_output.side_files import ANNOTATIONS, annotations_json, inline_frames
from wavewright.export.trace.ui_output.sources import code_json, costed_lines, source_files, stats_csv
from wavewright.export.trace.ui_output.streams import (
    counter_files,
    counter_names,
    other_simd,
    realtime_files,
    shader_data,
    state_files,
)
from wavewright.export.trace.ui_output.waves import kept_waves, wave_filenames, wave_files
from wavewright.model.findings import Finding
from wavewright.model.trace import ThreadTrace

_VERSIONS = {"3.0": "3.0.0", "3.1": "3.1.0"}
_MANIFEST = "filenames.json"


def write_ui_output(
    trace: ThreadTrace,
    parent_directory: str | os.PathLike[str],
    *,
    force: bool = False,
    schema: str = "3.0",
    kernel_ids: KernelIds | None = None,
    findings: Sequence[Finding[Any]] | None = None,
) -> Path:
    """Write `ui_output_agent_<agent>_dispatch_<n>/` and `stats_<that name>.csv` into `parent_directory`.

    Parameters
    ----------
    force
        Replace an earlier output of the same name.
    schema
        "3.0" is what rocprofv3 of ROCm 7 writes; "3.1" adds columns to occupancy.json, with dispatches and events.
    kernel_ids
        Share one among the dispatches of a capture, written in `decode_order`, to get the kernel numbers of rocprofv3.
    findings
        Of a diagnosis: written as annotations.json, which ROCm WaveScope shows; None = no such file.

    Returns
    -------
    The directory.
    """
    if schema not in _VERSIONS:
        raise UsageError(f"no ui_output schema {schema!r}", advice=f"schemas: {', '.join(_VERSIONS)}")
    source = trace.source
    directory = Path(parent_directory) / f"ui_output_agent_{source.agent or 0}_dispatch_{source.dispatch or 0}"
    statistics = directory.with_name(f"stats_{directory.name}.csv")
    extended = schema == "3.1"
    with staged([directory, statistics], force=force, mark=_MANIFEST) as (directory_twin, statistics_twin):
        listing = listed_lines(trace)
        lines = costed_lines(trace, listing)
        waves = kept_waves(trace)
        files = source_files(trace, listing) | _stream_files(trace, waves, _VERSIONS[schema])
        files |= inline_frames(listing, function_starts(trace.code))
        if findings is not None:
            files[ANNOTATIONS] = annotations_json(findings, listing)
        files["code.json"] = code_json(trace, lines, _VERSIONS[schema])
        files["occupancy.json"] = occupancy_json(trace, kernel_ids or KernelIds(), extended=extended)
        directory_twin.mkdir()
        for name, content in chain(files.items(), wave_files(trace, listing, waves, extended=extended)):
            (directory_twin / name).write_bytes(content)
        statistics_twin.write_bytes(stats_csv(lines))
    return directory


def _stream_files(trace: ThreadTrace, waves: pl.DataFrame, version: str) -> dict[str, bytes]:
    """The optional files, and the manifest that lists them."""
    neighbours, values = other_simd(trace), shader_data(trace)
    gfxip = int(trace.shader_engines["gfxip"].max() or 0)  # type: ignore[arg-type]
    manifest: dict[str, Any] = {
        "version": version,
        "gfxip": gfxip,
        "gfxv": "navi" if gfxip > 9 else "vega",
        "global_begin_time": 0,
        "counter_names": counter_names(trace),
        "wave_filenames": wave_filenames(waves),
    }
    if neighbours.listed:
        manifest["other_simd_filenames"] = neighbours.listed
    if values.listed:
        manifest["shaderdata_filenames"] = values.listed
    files = neighbours.files | values.files | counter_files(trace) | realtime_files(trace) | state_files(trace, waves)
    return files | {_MANIFEST: encode(manifest)}

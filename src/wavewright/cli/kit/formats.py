"""Formats that runs are written in."""

from __future__ import annotations

from typing import Any, NamedTuple

import click

from wavewright.base.plugins import EXPORTERS, plugins


class Format(NamedTuple):
    """A format that runs are written in."""

    writer: str  #: module:function of the package `export`; the function takes a run and a path, and `force`.
    meaning: str


#: Name -> what writes it; imported when it is used.
FORMATS = {
    "arrow": Format("run.tables:write_arrow", "a folder of Arrow IPC files with all tables"),
    "chrome": Format("run.chrome:write_chrome", "a JSON trace for chrome://tracing and Perfetto; .gz = compressed"),
    "csv": Format("run.csv:write_csv", "a folder of rocprofv3's CSV files"),
    "html": Format("page:write_html", "the viewer and all data in one file, of thread traces, too"),
    "json": Format("run.tables:write_run_json", "one JSON file with all tables"),
    "otf2": Format("run.otf2:write_otf2", "an OTF2 archive, for Vampir and Score-P's tools"),
    "parquet": Format("run.tables:write_run_parquet", "a folder of Parquet files with all tables"),
    "pftrace": Format("run.perfetto:write_perfetto", "a trace that ui.perfetto.dev opens"),
    "rocprofv3": Format("run.rocprofv3_json:write_rocprofv3_json", "the JSON file of rocprofv3, NAME_results.json"),
    "rocpd": Format("run.rocpd:write_rocpd", "a ROCpd database, for AMD's tools"),
}


class FormatName(click.Choice):  # type: ignore[type-arg,unused-ignore]  # generic in newer versions of click only
    """One of `FORMATS`, or another name of one."""

    def __init__(self) -> None:
        super().__init__(sorted(FORMATS))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of the format."""
        if value not in FORMATS and value in plugins(EXPORTERS):
            return value
        return super().convert(_ALIASES.get(value, value), param, ctx)


_ALIASES = {"perfetto": "pftrace", "kineto": "chrome"}  #: Names that users try.

#: What stands below the help of `convert`.
FORMATS_HELP = "\n".join(("\b", "Formats:", *(f"  {name:<11} {FORMATS[name].meaning}" for name in sorted(FORMATS))))

"""Stored measurements of many captures: one row per capture and quantity, in a folder that many programs add to."""

from __future__ import annotations

from dataclasses import dataclass

from wavewright.model.schema import packaged_specs

STORE_VERSION = 1
MARK = "wavewright-store.json"  #: The file by which a folder is known as a store.
FORMAT = "wavewright store"

#: Columns that all rows of one capture have in common, then those of one quantity, as in `model.baseline.Quantity`.
STORED = packaged_specs(__package__, "tables/store.toml")["stored"]
#: Columns that are the same in all rows of a capture.
OF_CAPTURE = tuple(STORED.names[: STORED.names.index("subject")])
OF_QUANTITY = tuple(STORED.names[STORED.names.index("subject") :])


@dataclass(frozen=True)
class Labels:
    """Labels that captures get when they are added."""

    series: str = ""
    commit: str = ""
    taken_ns: int | None = None  #: Since 1970; None = the newest change of the input files.
    others: tuple[str, ...] = ()  #: KEY=VALUE.

"""ROCpd databases, which rocprofv3 writes: every version of the schema, one or many runs in a file.

`layout` declares the stored tables, `runs` tells the runs of a file apart, `joins` follows ids from table to table,
`mapping` says where each column of a `Run` is stored, `columns` and `source` make it. Views are ignored.
"""

from __future__ import annotations

from wavewright.model.run import RunSource
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd.source import RocpdSource


def read_rocpd(database: Database, *, show_secrets: bool = False) -> RunSource:
    """The stored tables of a ROCpd database; values of environment variables are `***` unless `show_secrets` is set."""
    return RocpdSource(database, show_secrets=show_secrets)

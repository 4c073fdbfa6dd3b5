"""ROCpd databases, which rocprofv3 writes: every version of the schema, one or many runs in a file.

`layout` declares the stored tables, `runs` tells the runs of a file apart, `lookup`, `joins` and `events` follow ids,
`mapping` says where each column of a `Run` is stored, `columns` and `source` make it.
"""

from __future__ import annotations

from wavewright.model.run import RunSource
from wavewright.readers.files.sqlite import Database
from wavewright.readers.run.rocpd.source import RocpdSource


def read_rocpd(database: Database, *, show_secrets: bool = False) -> RunSource:
    """The tables of a ROCpd database; nothing big is read before it is used.

    Parameters
    ----------
    database
        The file; views in it are ignored, only stored tables are read.
    show_secrets
        Whether the values of environment variables are given; they may hold secrets, and are `***` otherwise.
    """
    return RocpdSource(database, show_secrets=show_secrets)

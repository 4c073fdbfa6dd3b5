"""What the tables of a trace are called when they are stored: shared by those who write and those who read them."""

from __future__ import annotations

__all__ = ["FORMAT", "MANIFEST", "VERSION"]

FORMAT = "wavescope.thread_trace"
VERSION = 1
"""Goes up when a reader of the older version would misread a table."""
MANIFEST = "wavescope.json"
"""File of a Parquet directory that says what is in it."""

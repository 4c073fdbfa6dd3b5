"""Imported once by the fork server of worker processes, so that each worker starts with polars loaded."""

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # the workers share the cores among themselves

import polars as pl  # noqa: F401

from wavewright import _core  # noqa: F401

"""Loaded once by the server that forks our workers, so that each of them starts with polars at hand."""

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # the workers share the cores among themselves

import polars as pl  # noqa: F401

from wavewright import _core  # noqa: F401

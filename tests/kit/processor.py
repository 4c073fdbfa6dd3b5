"""Limits that do not depend on what else the machine does."""

from __future__ import annotations

import os


def processor_s() -> float:
    """Seconds of processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])

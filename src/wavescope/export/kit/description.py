"""What every table export says about itself: format, version and where the trace came from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from wavescope.base.shown import shown
from wavescope.model.stored import FORMAT, VERSION

if TYPE_CHECKING:
    from wavescope.model.trace import ThreadTrace


def describe(trace: ThreadTrace) -> dict[str, Any]:
    """Format, version and source of `trace`, as JSON can hold them."""
    source = asdict(trace.source)
    cleaned = {key: shown(value) if isinstance(value, str) else value for key, value in source.items()}
    return {"format": FORMAT, "version": VERSION, "source": cleaned}

"""What a run is, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wavescope.page.document import Document

__all__ = ["overview_of_run"]


def overview_of_run(document: Document) -> dict[str, Any]:
    """What the run holds (`analysis.profile.contents`).

    Examples
    --------
    >>> overview_of_run(None)  # doctest: +SKIP
    """
    from wavescope.analysis.profile.contents import contents

    return {"kind": "run", "contents": contents(document.run)}

"""Which browser shows the page, and how it is started."""

from __future__ import annotations

import shutil

# The shell without windows of its own takes half the processor time of the whole Chromium.
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def browser_path() -> str | None:
    """The browser of this machine, if there is one."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)

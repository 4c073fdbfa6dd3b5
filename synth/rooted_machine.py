"""A folder that stands for a machine: its files are those below it, links with absolute targets included."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from wavewright.capture.machines.machine import Identity, Machine, group_names

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINKS_MAX = 40  #: As the kernel's: more links in one path are a loop.


class RootedMachine(Machine):
    """Answers about a folder that is taken for `/`; what programs below it do themselves is not confined.

    `variables` is the environment (None = none at all), `identity` the user (None = this process, with names of groups
    from `etc/group`).
    """

    def __init__(self, root: str, variables: Mapping[str, str] | None = None, identity: Identity | None = None) -> None:
        super().__init__(variables or {})
        self._root = os.path.realpath(root)
        self._identity = identity

    @cached_property
    def identity(self) -> Identity:
        """The user that was given, else that of this process."""
        if self._identity:
            return self._identity
        here = Machine(self.variables).identity
        names = group_names(self.text("/etc/group") or "")
        return replace(here, group_names={gid: names[gid] for gid in here.gids if gid in names})

    def real_path(self, path: str) -> str:
        """The path with all links followed."""
        with suppress(OSError, ValueError):
            return self._followed(path)
        return path

    def program(self, name: str) -> str | None:
        """Programs are those below the folder."""
        return super().program(f"/{name.lstrip('/')}" if "/" in name else name)

    def place(self, path: str) -> str:
        """The place of a path below the folder."""
        return self._root + self._followed(path)

    def _followed(self, path: str) -> str:
        """The path with all links followed as if the root were `/`."""
        stack = path.split("/")[::-1]
        parts: list[str] = []
        links = 0
        while stack:
            part = stack.pop()
            if part in ("", "."):
                continue
            if part == "..":
                del parts[-1:]
                continue
            place = "/".join((self._root, *parts, part))
            if Path(place).is_symlink():
                links += 1
                if links > _LINKS_MAX:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                target = str(Path(place).readlink())
                if target.startswith("/"):
                    parts.clear()
                stack.extend(target.split("/")[::-1])
            else:
                parts.append(part)
        return "/" + "/".join(parts)

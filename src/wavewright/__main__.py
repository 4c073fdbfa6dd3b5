"""`python -m wavewright` and the command `wavewright` are the command line."""

import gc

from wavewright.base import stopping

#: New objects between two searches for garbage: the imports of click and polars would trigger dozens of them.
_COLLECT_EVERY = 200_000


def program() -> None:
    """The command line, which can be stopped at any moment, also while it is being imported."""
    stopping.watch()
    gc.set_threshold(_COLLECT_EVERY)
    from wavewright.cli import program as run

    run()


if __name__ == "__main__":  # worker processes import this module under another name
    program()

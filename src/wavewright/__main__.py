"""`python -m wavewright` and the command `wavewright` are the command line."""

from wavewright.base import stopping


def program() -> None:
    """The command line, which can be stopped at any moment, also while it is being imported."""
    stopping.watch()
    from wavewright.cli import program as run

    run()


if __name__ == "__main__":  # worker processes import this module under another name
    program()

"""`python -m wavescope` is the command line."""

from wavescope.cli import program

program()

"""`python -m wavescope` is the command line."""

from wavescope.cli import program

if __name__ == "__main__":  # worker processes import this module under another name
    program()

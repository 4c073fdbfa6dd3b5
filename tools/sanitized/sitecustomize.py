"""Puts the native module that WAVEWRIGHT_SANITIZED_CORE names in the place of the installed one; see run.sh."""

import importlib.util
import os
import sys


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        """The sanitized module, and nothing else."""
        if name != "wavewright._core":
            return None
        return importlib.util.spec_from_file_location(name, os.environ["WAVEWRIGHT_SANITIZED_CORE"])


if "WAVEWRIGHT_SANITIZED_CORE" in os.environ:
    sys.meta_path.insert(0, _Finder)  # in front of the finder of the editable installation

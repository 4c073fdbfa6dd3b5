"""wavescope: decode, analyse and show AMD GPU performance data."""

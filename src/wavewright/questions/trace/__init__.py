"""Questions about thread traces."""

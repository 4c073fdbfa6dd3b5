"""Writers of thread traces in formats of other tools."""

"""Writers of counter captures in formats of other tools."""

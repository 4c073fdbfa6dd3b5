"""Questions about counter captures."""

"""The viewer's local HTTP service: loopback only, a token everywhere; it writes notes, settings, dropped files."""

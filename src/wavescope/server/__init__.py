"""The viewer's local HTTP service: loopback only, a token on every request, no way to write but notes."""

"""Synthetic thread traces: a timing model over real code, and the encoder for its streams."""

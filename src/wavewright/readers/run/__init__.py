"""Application runs: one package or module per format."""

"""Two runs against each other, or against a baseline."""

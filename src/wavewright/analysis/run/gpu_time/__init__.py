"""Time of GPUs: busy, gaps, overlap, timelines."""

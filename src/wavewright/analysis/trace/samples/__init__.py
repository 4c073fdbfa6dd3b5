"""PC samples of a kernel: where its waves were, why they did not issue, and how sure that is."""

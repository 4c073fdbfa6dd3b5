"""What PC samples tell about a kernel: where its waves were, why they did not issue, and how sure that is."""

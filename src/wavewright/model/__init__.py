"""The vocabulary: tables with units, the things that can be opened, what can be lost, and what an answer is."""

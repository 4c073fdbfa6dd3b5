"""Files of a gate: baselines, stores of captures, annotations for GitHub, JUnit."""

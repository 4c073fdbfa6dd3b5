"""Files of a gate: baselines, Markdown and annotations for GitHub, JUnit."""

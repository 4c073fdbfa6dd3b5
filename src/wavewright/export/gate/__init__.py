"""What a gate writes: baselines, Markdown and annotations for GitHub, JUnit, SARIF."""

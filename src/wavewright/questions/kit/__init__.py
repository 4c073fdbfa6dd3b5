"""Parts of declarations: questions, their parameters and their plots."""

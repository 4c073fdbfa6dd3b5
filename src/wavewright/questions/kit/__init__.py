"""What declarations are made of: questions, their parameters and their plots."""

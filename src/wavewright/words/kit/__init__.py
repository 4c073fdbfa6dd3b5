"""Tables, bars, pictures and words that all reports share."""

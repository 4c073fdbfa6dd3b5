"""What all writers share."""

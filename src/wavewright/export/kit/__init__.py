"""What all writers share: staging of outputs, table files, JSON text, pictures, results."""

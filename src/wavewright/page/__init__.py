"""What the viewer's page may ask of documents, as bytes: the same for the local server and the one-file export."""

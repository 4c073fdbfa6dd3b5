"""Questions of the viewer's page about documents, answered as bytes: the same for the local server and the export."""

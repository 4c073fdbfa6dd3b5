"""The server for agents: questions about captures over standard input and output, by the Model Context Protocol."""

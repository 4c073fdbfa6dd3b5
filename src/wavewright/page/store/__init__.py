"""Questions of the page about a store of captures."""

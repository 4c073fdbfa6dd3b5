"""Questions about a store of many captures: how a quantity went on, and what a change came from."""

"""Lane addresses: which instruction conflicts in LDS, and which does not coalesce."""

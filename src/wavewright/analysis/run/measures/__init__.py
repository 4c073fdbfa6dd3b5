"""Sums of times that can be taken of parts and put together: intervals, statistics, buckets."""

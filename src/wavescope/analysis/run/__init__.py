"""Questions about profiles of runs.

A question that can be asked of many files has three functions: `partial_X(profile)` reads one profile and returns a
small picklable partial result, `combine_X(partials)` makes the answer of any number of them, the same whatever the
order of work, and `X(profile)` does both for a profile at hand.
"""

"""Questions about runs.

A question that can be asked of many files has three functions: `partial_X(run)` reads one run and returns a
small picklable partial result, `combine_X(partials)` makes the answer of any number of them, the same whatever the
order of work, and `X(run)` does both for a run at hand.
"""

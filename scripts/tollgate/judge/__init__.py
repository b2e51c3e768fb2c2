"""Facts to a verdict. Pure.

In: what was measured of each execution, and its criteria. Out: PASS, FAIL, INCONCLUSIVE or
INVALID, with every reason.
"""

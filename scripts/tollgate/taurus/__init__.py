"""The modules that taurus.yml names.

In: Taurus's life cycle. Out: calls of the other rooms, in time.
"""

"""A forecast of production.

In: a forecast's CSV file. Out: the load that follows it, and what of it was sent.
"""

"""Base against head.

In: blocks of both sides' samples. Out: ratios with intervals for repeated looks.
"""

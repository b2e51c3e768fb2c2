"""The highest arrival rate at which limits hold.

In: trials of some seconds each. Out: what to send next, and an estimate with its interval.
"""

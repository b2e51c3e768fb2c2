"""Numbers: counts of times, intervals, slopes, boundaries of sequential looks.

In: arrays and counts. Out: estimates with their intervals; no file, no word of a run.
"""

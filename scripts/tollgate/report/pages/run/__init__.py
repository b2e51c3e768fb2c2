"""The page of a run.

In: a run's folder, what was measured and the verdict. Out: its index.html.
"""

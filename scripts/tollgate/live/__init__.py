"""A run that is watched while it measures: what its samples are so far, on a page of this machine.

In: the samples and workers of a run under way, and what was decided of it by now. Out: a page on a
port of the loopback that shows them as they come, and the run's page at the end.
"""

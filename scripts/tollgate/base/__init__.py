"""What every room needs: words for numbers, whole files, paths, signals, disk, clock.

In: nothing of Tollgate. Out: helpers that know nothing of runs, plans or samples.
"""

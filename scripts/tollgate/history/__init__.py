"""What earlier runs found, a small record each, as series with their steps.

In: a judged run; the records of any number of CI jobs; a folder of runs. Out: JSON lines, a file
for each run; series, their steps, and what has risen since the anchor; what the files of each run
in a folder say.
"""

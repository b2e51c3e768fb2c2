"""The page of a folder of runs."""
